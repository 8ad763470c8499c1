"""The machine that the stack runs on: what it has, and what is made ready on it. No ROS, no torch."""
