"""The error of a file that does not hold a launch description."""


class InvalidLaunchFileError(Exception):
    """A launch file without `generate_launch_description`, or of an unknown kind."""
