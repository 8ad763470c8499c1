"""Cameras: sources of images, and the calibration of lenses. No ROS."""
