"""What must hold of every robot file, whatever a person writes into it."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from kc_vla.core.robot import RobotError, load_robot

VALUES = st.one_of(
    st.none(), st.booleans(), st.text(max_size=4), st.floats(-400, 400), st.integers(-400, 400), st.lists(st.booleans())
)
"""Values of a key, most of them wrong."""
_MARGIN = 1.0
"""rad by which a home pose may lie outside limits that a person has narrowed."""
_OF_PYTHON = ("object is not", "object has no", "broadcast", "could not convert", "unhashable", "not supported")
"""Parts of messages that Python or numpy wrote, and not the reader."""


def read_or_refused_in_one_line(file: str) -> None:
    """Read a robot file: it is refused in one line of the reader's own, or its limits and home pose can be an arm's."""
    try:
        robot = load_robot(file)
    except RobotError as error:
        refused = str(error)
        assert "mine.yaml is not understood: " in refused
        assert "\n" not in refused
        assert [part for part in _OF_PYTHON if part in refused] == []
        return
    limits = robot.limits
    assert (limits.lowest < limits.highest).all()
    assert ((limits.lowest - _MARGIN <= robot.rest) & (robot.rest <= limits.highest + _MARGIN)).all()
    for each in (limits.speed, limits.acceleration, limits.jerk):
        assert np.isfinite(each).all()
        assert (each > 0.0).all()
