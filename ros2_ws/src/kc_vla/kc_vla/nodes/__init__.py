"""ROS nodes: thin adapters around the plain objects of the other packages; the only place that imports rclpy."""
