"""What the vendor says of the Piper's joints and gripper; the driver keeps to it and the emulated arm is built so."""

import numpy as np

from kc_vla.arm.interface import JointLimits

JOINTS = 6
LOWEST = np.radians([-150.0, 0.0, -170.0, -100.0, -70.0, -120.0])
HIGHEST = np.radians([150.0, 180.0, 0.0, 100.0, 70.0, 120.0])
"""Ends of the joints' ranges (6,), rad."""
TOP_SPEED = np.full(JOINTS, 3.0)
"""(6,), rad/s."""
SDK_LIMITS = JointLimits(LOWEST, HIGHEST, TOP_SPEED)
"""The arm is asked for its own, and the narrower of both count."""
REST = np.array([0.0, 0.0, 0.0, 0.02, 0.5, 0.0])
"""Angles at which the arm lies by itself (6,), rad."""
MAX_OPENING = 0.07
"""Of the gripper, m."""
