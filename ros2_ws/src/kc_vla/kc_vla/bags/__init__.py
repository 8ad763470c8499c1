"""Bags: written, read, mended, cut, merged and played. Needs no ROS installation."""
