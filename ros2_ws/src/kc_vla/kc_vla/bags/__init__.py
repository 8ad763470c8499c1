"""Write, read, repair, cut, merge and play bags. Needs no ROS installation."""
