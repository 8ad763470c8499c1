"""Calibrations of cameras, read and checked: the YAML that ROS's calibrator writes, and sensor_msgs/CameraInfo."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kc_vla.cameras.errors import CalibrationError
from kc_vla.core.untrusted import parsed_yaml, read_text

_LARGEST = 1e12  # px; no lens comes near, and a larger integer may not fit a float
_COEFFICIENTS = {"plumb_bob": 5, "rational_polynomial": 8, "equidistant": 4}


@dataclass(frozen=True)
class Calibration:
    """What is known of a camera's lens, as in sensor_msgs/CameraInfo. Matrices are row-major.

    Attributes:
        camera_name: as its file says.
        width, height: size of the images it was made with, px.
        distortion_model: "plumb_bob", "rational_polynomial" or "equidistant".
        d: distortion coefficients.
        k: 3x3 intrinsic matrix, px.
        r: 3x3 rectification matrix.
        p: 3x4 projection matrix, px.
    """

    camera_name: str
    width: int
    height: int
    distortion_model: str
    d: tuple[float, ...]
    k: tuple[float, ...]
    r: tuple[float, ...]
    p: tuple[float, ...]

    def check_size(self, width: int, height: int) -> None:
        """Raise `CalibrationError` unless it was made for images of this size."""
        if (width, height) != (self.width, self.height):
            raise CalibrationError(
                f"the calibration of '{self.camera_name}' is for {self.width}x{self.height} px and the images have "
                f"{width}x{height}: set the camera's width and height to it, or calibrate again"
            )


def load_calibration(path: Path) -> Calibration:
    """Read a camera_info YAML file.

    Raises:
        CalibrationError: it is missing, or a field is missing, has a wrong size, or is not a finite number.
    """
    content = read_calibration(path)
    model = content.get("distortion_model")
    if not isinstance(model, str) or model not in _COEFFICIENTS:
        raise CalibrationError(f"{path}: distortion_model is {model!r}, it must be one of {', '.join(_COEFFICIENTS)}")
    calibration = Calibration(
        camera_name=str(content.get("camera_name", path.stem)),
        width=_size(path, content, "image_width"),
        height=_size(path, content, "image_height"),
        distortion_model=model,
        d=_matrix(path, content, "distortion_coefficients", 1, _COEFFICIENTS[model]),
        k=_matrix(path, content, "camera_matrix", 3, 3),
        r=_matrix(path, content, "rectification_matrix", 3, 3),
        p=_matrix(path, content, "projection_matrix", 3, 4),
    )
    if calibration.k[0] <= 0 or calibration.k[4] <= 0:
        raise CalibrationError(f"{path}: camera_matrix has a focal length that is not above 0 px")
    return calibration


def read_calibration(path: Path) -> dict[str, Any]:
    """Return the fields of a calibration file of any kind.

    Raises:
        CalibrationError: it is missing, or holds no fields.
    """
    try:
        content = parsed_yaml(read_text(path))
    except OSError as error:
        raise CalibrationError(
            f"cannot read the calibration {path}: {error.strerror}; `kc-vla calibrate` makes one"
        ) from error
    except ValueError as error:
        raise CalibrationError(f"{path} {error}") from error
    if not isinstance(content, dict):
        raise CalibrationError(f"{path} is no calibration: it has no fields")
    return content


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


def _size(path: Path, content: dict[str, Any], name: str) -> int:
    value = content.get(name)
    if type(value) is not int or not 0 < value <= 65536:
        raise CalibrationError(f"{path}: {name} is {value!r}, it must be a number of px")
    return value


def _matrix(path: Path, content: dict[str, Any], name: str, rows: int, columns: int) -> tuple[float, ...]:
    entry = content.get(name)
    data = entry.get("data") if isinstance(entry, dict) else None
    if not isinstance(data, list) or len(data) != rows * columns:
        raise CalibrationError(f"{path}: {name} must have a list 'data' of {rows}x{columns} numbers")
    numbers = tuple(float(v) if type(v) in (int, float) and abs(v) < _LARGEST else math.nan for v in data)
    if not all(map(math.isfinite, numbers)):
        raise CalibrationError(f"{path}: {name} holds something that is not a finite number")
    return numbers
