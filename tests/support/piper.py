"""The Piper as the tests know it."""

from dataclasses import replace

import numpy as np

from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.core.chain import Chain
from kc_vla.core.robot import load_robot

PIPER = load_robot("piper")
LIMITS, REST = PIPER.limits, PIPER.rest
LOWEST, HIGHEST, TOP_SPEED = LIMITS.lowest, LIMITS.highest, LIMITS.speed
KINEMATICS = Kinematics(PIPER.links)
OLDER = Kinematics(PIPER.links_of("S-V1.5-2"))
"""Of an arm whose firmware is older, and its zero pose another one."""
UNHURRIED = ServoSettings(speed=1.0, stale_after=1.5, stalled_after=3.0)
"""For tests that are not about an arm or a loop that is late: a busy machine makes both so."""
TABLE = np.array(
    [
        [0.0, 0.0, 0.123, 0.0],
        [0.0, -np.pi / 2, 0.0, np.radians(-172.22)],
        [0.28503, 0.0, 0.0, np.radians(-102.78)],
        [-0.02198, np.pi / 2, 0.25075, 0.0],
        [0.0, -np.pi / 2, 0.0, 0.0],
        [0.0, np.pi / 2, 0.091, 0.0],
    ]
)
"""Its links as a modified Denavit-Hartenberg table: a m, alpha rad, d m, offset rad."""


def lengthened(links: Chain, by: float) -> Chain:
    """Return the chain of an arm whose last link is longer by so much, m."""
    return replace(links, end=links.end + by * np.outer(np.arange(4) == 2, np.arange(4) == 3))
