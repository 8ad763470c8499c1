"""Policy backends. No ROS, no torch."""
