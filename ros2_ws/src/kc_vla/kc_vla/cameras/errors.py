"""What can go wrong with a camera. Every message is one line that says what is wrong and what to do."""

from __future__ import annotations


class CameraError(Exception):
    """Any trouble with a camera or its files."""


class SourceMissingError(CameraError):
    """There is no such device, file or folder."""


class SourceEmptyError(CameraError):
    """A folder without images."""


class SourceUndecodableError(CameraError):
    """A file that is no image or video that can be read."""


class SourceBusyError(CameraError):
    """A device that another program holds, or that may not be opened."""


class SourceLostError(CameraError):
    """A source that gave images and does not any more."""


class CalibrationError(CameraError):
    """A calibration file that is missing, malformed, or made for another image size."""
