"""The robot that the bridge shows, from its rig."""

from kc_vla.core.rig import load_rig

RIG = load_rig("panda_sim")
CONTROL_RATE = round(RIG.control_rate)
"""Control steps per second."""
