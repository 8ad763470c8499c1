"""What tests of several pages share."""

from collections.abc import Iterator

import pytest
from browser import browser
from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as found:
        yield found
