"""A policy of the stack served to clients of others, as GR00T's and openpi's servers do. No ROS, no torch."""
