"""Calibration of cameras, of a camera against the arm, of joint offsets and of latencies. No ROS, no torch."""
