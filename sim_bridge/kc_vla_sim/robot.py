"""The robot that the bridge shows."""

from kc_vla.core.robot import load_robot

ROBOT = load_robot("panda_sim")
CONTROL_RATE = round(ROBOT.control_rate)
"""Control steps per second."""
