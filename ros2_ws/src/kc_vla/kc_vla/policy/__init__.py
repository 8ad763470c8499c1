"""Policy backends and chunk blending. No ROS, no torch."""
