"""What the launch files share. Read by ROS's own Python where there is one: nothing here needs more than that has."""
