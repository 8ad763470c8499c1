"""The Piper as the tests know it."""

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.rig import load_rig

PIPER = load_rig("piper")
LIMITS, REST = PIPER.limits, PIPER.rest
LOWEST, HIGHEST, TOP_SPEED = LIMITS.lowest, LIMITS.highest, LIMITS.speed
KINEMATICS = Kinematics(PIPER.links)
OLDER = Kinematics(PIPER.links_of("S-V1.5-2"))
"""Of an arm whose firmware is older, and its zero pose another one."""
