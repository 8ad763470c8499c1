"""Checks of the machine that the stack runs on, and its set-up. No ROS, no torch."""
