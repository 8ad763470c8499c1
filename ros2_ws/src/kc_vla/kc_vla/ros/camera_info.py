"""What is known of a lens, as a message and out of one."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from sensor_msgs.msg import CameraInfo

from kc_vla.cameras.calibration import Calibration, calibration_of
from kc_vla.cameras.errors import CalibrationError
from kc_vla.ros.convert import BadMessageError


def info_message(known: Calibration | None, width: int, height: int, stamp: Time, frame_id: str) -> CameraInfo:
    """Return a calibration as a message; all zeros where there is none, as CameraInfo prescribes."""
    message = CameraInfo(width=width, height=height)
    message.header.stamp, message.header.frame_id = stamp, frame_id
    if known is not None:
        message.distortion_model, message.d = known.distortion_model, list(known.d)
        message.k, message.r, message.p = list(known.k), list(known.r), list(known.p)
    return message


def calibration_in(message: CameraInfo, name: str) -> Calibration | None:
    """Return the calibration in a message, called `name`; None where it says that there is none.

    Raises:
        BadMessageError: it holds something that is not a finite number.
    """
    try:
        return calibration_of(message, name)
    except CalibrationError as error:
        raise BadMessageError(str(error)) from error
