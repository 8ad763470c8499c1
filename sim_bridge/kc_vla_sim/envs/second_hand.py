"""A second hand in the kitchen: it comes from above and puts a thing elsewhere. For one environment."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import sapien
from numpy.typing import ArrayLike, NDArray

from kc_vla_sim.envs.kitchen_bodies import build_fixed
from kc_vla_sim.envs.kitchen_thing import KitchenThing
from kc_vla_sim.envs.tabletop import ROBOT_BASE
from kc_vla_sim.kitchen.bodies import Colour, Part
from kc_vla_sim.kitchen.meshes import ball, box, joined, lathe, pillar

if TYPE_CHECKING:
    from mani_skill.envs.scene import ManiSkillScene

Vector = NDArray[np.float64]
STRIDE = 0.035
"""Fastest move of the hand, m per step."""
HIGH, CARRIED = 0.7, 0.36
"""Heights above the worktop at which it comes and goes, and at which it carries, m."""
_AWAY = sapien.Pose(p=[0, 0, -4])
_REST = 4
"""Steps for which it stays where it takes and releases a thing."""
_MOST_STEPS = 100
"""For a straight way, also to a thing that has fallen off the worktop."""
_FROM_BASE, _AHEAD = 0.3, 0.45
"""It passes the arm's base no nearer than this, or else so far ahead of it, m."""
_SKIN: Colour = (0.75, 0.42, 0.28)
_SLEEVE: Colour = (0.08, 0.1, 0.22)


def _way_round(start: Vector, end: Vector) -> list[Vector]:
    """Return the corners of a way that does not lead through the arm, in the world."""
    base = np.asarray(ROBOT_BASE.p, float)
    way = end - start
    share = np.clip((base - start) @ way / max(float(way @ way), 1e-9), 0, 1)
    if np.linalg.norm(start + share * way - base) > _FROM_BASE:
        return [start, end]
    corners = [base + np.array([_AHEAD, y / 2, 0.0]) for y in (start[1], end[1])]
    return [start, *corners, end]


class SecondHand:
    """A hand that is seen and touches nothing but what it carries."""

    def __init__(self, scene: ManiSkillScene) -> None:
        fingers = [
            box((0.014, 0.014, 0.07)).moved((0.028 * np.cos(angle), 0.028 * np.sin(angle), 0.035))
            for angle in np.radians([20, 70, 110, 160, 270])
        ]
        palm = lathe([(r, 0.6 * z) for r, z in ball(0.046, 6)], segments=10).moved((0, 0, 0.085))
        sleeve = lathe(pillar(0.036, 0.5, 0.1), segments=10)
        parts = [Part(joined([*fingers, palm]), _SKIN), Part(sleeve, _SLEEVE)]
        self._actor = build_fixed(scene, "second_hand", parts, [], _AWAY)
        self._way: deque[tuple[Vector, bool]] = deque()
        self._thing: KitchenThing | None = None
        self._turn = sapien.Pose()
        self._held = False

    @property
    def busy(self) -> bool:
        """Return whether it is on its way."""
        return bool(self._way)

    def carry(self, thing: KitchenThing, position: ArrayLike, yaw: float) -> None:
        """Begin to put a thing elsewhere.

        Args:
            thing: to carry.
            position: of its middle in the end, in the world, m.
            yaw: by which it is turned about the vertical meanwhile, rad.
        """
        above = np.array([0.0, 0.0, 0.3 * thing.body.size[2]])
        start, end = np.asarray(thing.pose.p, float) + above, np.asarray(position, float) + above
        self._thing, self._offset = thing, above
        self._turn = sapien.Pose(q=[np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]) * sapien.Pose(q=thing.pose.q)
        self._way.clear()
        high, low = [np.array([0, 0, HIGH]), np.array([0, 0, CARRIED])]
        flat = np.array([1.0, 1.0, 0.0])
        self._go(start * flat + high, start, False)
        self._go(start, start * flat + low, True)
        for one, other in pairwise(_way_round(start * flat, end * flat)):
            self._go(one + low, other + low, True)
        self._go(end * flat + low, end, True)
        self._go(end, end * flat + high, False)

    def step(self) -> None:
        """Move on by one control step."""
        if not self._way or self._thing is None:
            return
        position, held = self._way.popleft()
        if held:
            self._thing.carry(sapien.Pose(p=position - self._offset, q=self._turn.q))
        elif self._held:
            self._thing.release()
        self._held = held
        self._actor.set_pose(sapien.Pose(p=position) if self._way else _AWAY)

    def _go(self, start: Vector, end: Vector, held: bool) -> None:
        """Add a straight way that begins and ends slowly."""
        steps = min(max(2, round(1.5 * float(np.linalg.norm(end - start)) / STRIDE)), _MOST_STEPS)
        shares = (1 - np.cos(np.linspace(0, np.pi, steps))) / 2
        self._way.extend((start + share * (end - start), held) for share in shares)
        self._way.extend((end, held) for _ in range(_REST))
