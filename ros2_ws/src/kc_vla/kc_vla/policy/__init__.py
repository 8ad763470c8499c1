"""Policy backends, which turn keyframes, observation and instruction into action chunks. No ROS, no torch."""
