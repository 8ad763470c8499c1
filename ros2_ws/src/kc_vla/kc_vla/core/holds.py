"""Why an arm holds that has only not begun: as the controller says it, and reports understand it."""

NO_CHUNK_YET = "no chunk yet"
_NO_JOINT_STATE = "no joint state for "


def no_joint_state(seconds: float) -> str:
    """Return the reason of a hold because no joint state has come for so long."""
    return f"{_NO_JOINT_STATE}{seconds:g} s"


def is_wait(reason: str) -> bool:
    """Return whether the arm would have moved, had everything been there."""
    return reason == NO_CHUNK_YET or reason.startswith(_NO_JOINT_STATE)
