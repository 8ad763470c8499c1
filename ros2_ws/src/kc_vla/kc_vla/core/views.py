"""The cameras of the robot."""

VIEWS = ("third_person", "wrist")
