"""Bags: written, read, repaired, cut, merged and played. Needs no ROS installation."""
