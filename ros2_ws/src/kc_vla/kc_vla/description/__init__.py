"""The description of a robot for viewers: its URDF, and the pose of each link. No ROS."""
