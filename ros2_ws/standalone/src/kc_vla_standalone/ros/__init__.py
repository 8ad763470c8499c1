"""What the verbs need of a running ROS graph. Only these modules and the verbs on a graph import rclpy."""
