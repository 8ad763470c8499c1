"""The library of the nodes: lifecycle, parameters, quality of service, streams. It and `nodes` alone import rclpy."""
