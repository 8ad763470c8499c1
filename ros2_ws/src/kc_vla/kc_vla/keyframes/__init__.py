"""Keyframes: scores, smoothing, proprioceptive rules and the buffer. No ROS, no torch."""
