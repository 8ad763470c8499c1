"""What can be wrong with a calibration."""


class PoorCalibrationError(ValueError):
    """It would do more harm than good; the text says what to do."""
