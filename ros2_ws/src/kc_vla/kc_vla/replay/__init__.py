"""Replay of a bag to the live graph, and comparison of both. No ROS."""
