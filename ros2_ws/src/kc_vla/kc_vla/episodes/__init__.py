"""Recorded episodes: the streams of a bag aligned to its frames, and the annotated keyframes. No ROS."""
