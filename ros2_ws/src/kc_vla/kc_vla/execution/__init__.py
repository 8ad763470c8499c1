"""Chunk execution: which action is next, blending, refusals. No ROS."""
