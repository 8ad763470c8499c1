"""Data sets: LeRobot, and the exchange between bags, data sets and videos. No ROS, no torch."""
