"""Policies on third-party servers: GR00T's and openpi's wires, spoken from outside. No ROS, no torch."""
