"""Keyframes: selectors, their confirmation, rules, events, and the keyframe buffer. No ROS, no torch."""
