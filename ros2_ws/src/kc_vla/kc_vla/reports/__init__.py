"""What is made of a run: summary, contact sheet, video, table. No ROS."""
