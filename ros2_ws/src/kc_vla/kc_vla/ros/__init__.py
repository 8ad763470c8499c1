"""The library of the nodes: lifecycle, parameters, quality of service, streams. Only it and nodes import rclpy."""
