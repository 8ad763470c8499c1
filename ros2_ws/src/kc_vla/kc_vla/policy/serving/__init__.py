"""A policy of the stack served to third-party clients, as GR00T's and openpi's servers do. No ROS, no torch."""
