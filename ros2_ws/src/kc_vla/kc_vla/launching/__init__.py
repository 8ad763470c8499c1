"""Helpers of the launch files. An installed ROS 2 runs them in its own Python, so they need no other packages."""
