"""Cameras: where frames come from, and what is known of their lenses. No ROS."""
