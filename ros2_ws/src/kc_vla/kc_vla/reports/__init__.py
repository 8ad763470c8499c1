"""Reports of episodes and runs: summary, contact sheet, video, table and page. No ROS."""
