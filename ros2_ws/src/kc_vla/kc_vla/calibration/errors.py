"""What can be wrong with a calibration."""

from kc_vla.core.errors import StackError


class PoorCalibrationError(ValueError):
    """It would do more harm than good; the text says what to do."""


class MissingSolverError(StackError):
    """The installed OpenCV lacks what solves it."""
