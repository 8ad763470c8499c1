"""What the suite has no time for, beside what it tries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings


def at_night(*values: Any) -> list[Any]:
    """These values of a parametrized test, a tuple for each where it has several, in the nightly set alone."""
    return [
        pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.nightly) for value in values
    ]


def tried(in_the_suite: int, at_night: int) -> settings:
    """How many examples a property test tries for which those of the profiles are too many, or too few."""
    return settings(max_examples=in_the_suite if settings.get_current_profile_name() == "suite" else at_night)
