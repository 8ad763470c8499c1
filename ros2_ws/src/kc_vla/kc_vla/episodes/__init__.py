"""One recorded episode: what is in its bag, aligned, and the keyframes that people marked. No ROS."""
