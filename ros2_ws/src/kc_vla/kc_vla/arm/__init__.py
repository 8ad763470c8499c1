"""The arm side: chunk execution and limits. No ROS."""
