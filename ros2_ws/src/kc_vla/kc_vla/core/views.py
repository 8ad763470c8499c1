"""The views of a robot: its cameras by name, in the order of its file; the images of the first count the frames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

Views = Mapping[str, NDArray[np.uint8]]
"""What the cameras saw at one moment: images (H, W, 3) uint8 RGB by the names of their views, the first first."""

DEFAULT_VIEWS = ("third_person", "wrist")
"""Views of a robot file that names none, and of recordings from before robot files named them."""
STREAMS = ("oracle", "joints", "tool_pose")
"""What else comes beside the images of a moment; no view is called so."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")


def can_be_view(name: str) -> bool:
    """Return whether a view can be called so: its name is part of topics, of columns of a data set and of paths."""
    return _NAME.fullmatch(name) is not None and name not in STREAMS


def in_usual_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return views in the usual order, each once: the first of most robots first, the others as they come."""
    views = dict.fromkeys(names)
    return tuple(sorted(views, key=lambda view: view != DEFAULT_VIEWS[0]))


def checked_views(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names, if a robot can have views that are called so.

    Raises:
        ValueError: there is none, or one cannot be.
    """
    views = tuple(names)
    if not views:
        raise ValueError("a robot has one view or more, none is named")
    for view in views:
        if not can_be_view(view):
            raise ValueError(
                f"no view can be called '{view}': letters, digits and single underscores make a name, "
                f"and {', '.join(STREAMS)} are taken"
            )
    return views
