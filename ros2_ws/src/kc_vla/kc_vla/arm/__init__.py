"""Arm drivers, limits and the control process, and an emulated arm. No ROS."""
