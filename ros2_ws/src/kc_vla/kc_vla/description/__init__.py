"""The robot as viewers know it: its URDF, and where each of its links is. No ROS."""
