"""Execution of joint trajectories and gripper goals, such as those of MoveIt, as a policy. No ROS."""
