"""ROS nodes, one file each: thin adapters around the plain objects of the other packages."""
