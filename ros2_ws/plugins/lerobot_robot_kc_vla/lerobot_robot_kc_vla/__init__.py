"""LeRobot's view of a robot that the kc_vla stack moves: `lerobot-record --robot.type=kc_vla ...`."""

from lerobot_robot_kc_vla.config_kc_vla import KcVlaConfig
from lerobot_robot_kc_vla.kc_vla import KcVla

__all__ = ["KcVla", "KcVlaConfig"]
