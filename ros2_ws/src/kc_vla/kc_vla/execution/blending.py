"""Hand-over from one chunk to the next (real-time chunking, arXiv 2506.07339, section 3; 2512.05964).

Both chunks plan the same control steps. The first d rows of the new one belong to steps that were executed while it
was computed and are skipped; where both still have a row, the arm fades from the old plan to the new.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kc_vla.core.chunk import Chunk


def blend(old: Chunk | None, new: Chunk, step: int, rows: int) -> Chunk:
    """Return `new` with its rows from `step` on faded in over `rows` control steps from those of `old`.

    Args:
        old: the chunk that the arm follows; None, or one of another kind, gives `new` unchanged.
        new: the chunk that has just arrived.
        step: first control step that is still to be executed.
        rows: length of the fade, control steps; 0 switches at once.

    The weight of the old plan falls in equal parts from the first step that is still to come: rows = 3 gives
    3/4, 2/4, 1/4. A gripper column fades like any other: it is a set-point as well.
    """
    if old is None or rows == 0 or old.names != new.names or old.action_type is not new.action_type:
        return new
    first = max(step, new.start, old.start)
    last = min(first + rows, old.end, new.end)
    if last <= first:
        return new
    weight = 1.0 - np.arange(1, last - first + 1, dtype=np.float32)[:, None] / (rows + 1)
    actions = new.actions.copy()
    mine, theirs = slice(first - new.start, last - new.start), slice(first - old.start, last - old.start)
    # in this form the result stays between the two plans in spite of rounding
    actions[mine] += weight * (old.actions[theirs] - new.actions[mine])
    return replace(new, actions=actions)
