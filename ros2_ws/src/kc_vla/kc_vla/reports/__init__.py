"""What is made of a run: summary, contact sheet, film, table. No ROS."""
