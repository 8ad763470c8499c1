"""Drawing, and videos as MP4. No ROS."""
