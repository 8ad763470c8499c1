"""What the suite has no time for, beside what it tries."""

from __future__ import annotations

from typing import Any

import pytest


def at_night(*values: Any) -> list[Any]:
    """These values of a parametrized test, a tuple for each where it has several, in the nightly set alone."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.nightly) for value in values
    ]
