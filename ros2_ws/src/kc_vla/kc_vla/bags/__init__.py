"""Bags: writing, reading and reporting recorded episodes. Needs no ROS installation."""
