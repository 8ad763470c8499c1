"""A switch of the kitchen in a scene: it is pressed by contact, once for each press. For one environment."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import sapien

from kc_vla_sim.envs.kitchen_bodies import build_fixed, entity_of
from kc_vla_sim.kitchen.furniture import PushSwitch

if TYPE_CHECKING:
    from mani_skill.envs.scene import ManiSkillScene

PRESS_N = 1.0
"""Force against its front that presses a switch, N: more than a touch in passing."""
_RELEASED_STEPS = 4
"""Control steps without that force after which the next press counts."""


class PressedSwitch:
    """A switch in a scene."""

    def __init__(self, scene: ManiSkillScene, name: str, switch: PushSwitch, pose: sapien.Pose) -> None:
        """Add it.

        Args:
            scene: where it is.
            name: of the furniture that it belongs to.
            switch: what it is.
            pose: of the furniture in the world.
        """
        self._entity = entity_of(build_fixed(scene, f"{name}_switch", [], [switch.solid], pose))
        self._inwards = -pose.to_transformation_matrix()[:3, :3] @ np.array(switch.normal)
        self._free = _RELEASED_STEPS

    def begin(self) -> None:
        """Forget earlier presses."""
        self._free = _RELEASED_STEPS

    def pressed(self, contacts: Iterable[Any], fingers: Collection[sapien.Entity], seconds: float) -> bool:
        """Return whether a press begins in a control step.

        Args:
            contacts: of the scene, SAPIEN's.
            fingers: what can press it.
            seconds: that the impulses of the contacts took, s.
        """
        pressing = self._force(contacts, fingers, seconds) >= PRESS_N
        begins = pressing and self._free >= _RELEASED_STEPS
        self._free = 0 if pressing else self._free + 1
        return begins

    def _force(self, contacts: Iterable[Any], fingers: Collection[sapien.Entity], seconds: float) -> float:
        force = 0.0
        for contact in contacts:
            entities = [body.entity for body in contact.bodies]
            if self._entity in entities and any(each in fingers for each in entities):
                impulse = np.sum([point.impulse for point in contact.points], axis=0)
                force += abs(float(impulse @ self._inwards)) / seconds
        return force
