"""Whether a skill is done, as the simulator's truth has it."""

from __future__ import annotations

from collections.abc import Mapping

from kc_vla.planning.skills import Call
from kc_vla_sim.frame import SimulatedFrame

STATE_AFTER: Mapping[str, str] = {
    "OpenObject": "opened",
    "CloseObject": "closed",
    "SwitchOn": "on",
    "SwitchOff": "off",
}
"""The skills that change the state of a piece of furniture, and to what."""


def is_done(call: Call, frame: SimulatedFrame) -> bool:
    """Return whether the furniture of a skill has the state that the skill is for."""
    found = next(each for each in frame.detections if each.object_id == call.arguments[0])
    return STATE_AFTER[call.skill] in {found.state, found.attributes.get("also", "")}
