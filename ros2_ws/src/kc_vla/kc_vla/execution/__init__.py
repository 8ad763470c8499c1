"""Execution of action chunks: choice of the next action, blending, and refusal of bad chunks. No ROS."""
