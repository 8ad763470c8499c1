"""Planned motions of any robot file's arm: inverse kinematics, collisions, paths, set-points and grasps."""
