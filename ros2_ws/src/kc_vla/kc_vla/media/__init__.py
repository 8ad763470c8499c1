"""Drawing, and films as MP4. No ROS."""
