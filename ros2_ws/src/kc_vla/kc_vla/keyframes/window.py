"""Which frames the selector's head sees beside the present one, in one place for learning and for the robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def window_frames(frames: NDArray[np.int64], window: int, stride: int) -> NDArray[np.int64]:
    """Return the frames (N, window), oldest first, that belong to `frames` (N,).

    Before frame 0 there is frame 0 again.
    """
    back = np.arange(window - 1, -1, -1) * stride
    return np.asarray(np.maximum(frames[:, None] - back, 0))
