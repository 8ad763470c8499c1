"""What a sensor_msgs/CameraInfo says of a lens, from a topic or decoded from a bag."""

from __future__ import annotations

import math
from typing import Any

from kc_vla.cameras.calibration import Calibration
from kc_vla.cameras.errors import CalibrationError


def calibration_of(message: Any, name: str) -> Calibration | None:
    """Return the calibration in a message, called `name`; None where it says that there is none.

    Raises:
        CalibrationError: It holds something that is not a finite number.
    """
    if message.k[0] == 0.0:
        return None
    rows = tuple(tuple(map(float, row)) for row in (message.d, message.k, message.r, message.p))
    if not all(math.isfinite(number) for row in rows for number in row):
        raise CalibrationError(f"the calibration on {name} holds something that is not a finite number")
    return Calibration(name, message.width, message.height, message.distortion_model, *rows)
