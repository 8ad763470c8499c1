"""Distractors: things at the rim of the table that have nothing to do with the task.

They stand where they neither hide the task from a camera nor meet the arm, in dull colors and shapes that no task
uses, at other places in every episode. Those of the variant are solid, and nothing moves them. Those that visual
randomization adds are only seen: a solid thing more, though nothing touches it, changes the order in which the physics
engine solves contacts, and with it the seventh digit of a grasp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import sapien
import torch
from mani_skill.utils.structs import Actor, Pose
from numpy.typing import NDArray

from kc_vla_sim.envs.looks import matte

if TYPE_CHECKING:
    from mani_skill.envs.scene import ManiSkillScene
    from sapien.wrapper.actor_builder import ActorBuilder

Places = tuple[tuple[float, float], ...]

PLACES: Places = (
    (0.05, -0.5),
    (-0.1, -0.57),
    (-0.25, -0.62),
    (-0.25, 0.38),
    (-0.41, 0.36),
    (-0.56, 0.31),
    (-0.7, 0.23),
)
"""Where they can stand: x, y in the world, m; far enough apart for two neighbors with all their `STRAY`."""
STRAY = 0.015
"""Off its place by up to this along x and y, m."""
_UPRIGHT = sapien.Pose(q=[np.sqrt(0.5), 0, np.sqrt(0.5), 0])
_WAITING = sapien.Pose(p=[0, 0, -3])


def _can(builder: ActorBuilder) -> None:
    _add(builder, "cylinder", (0.34, 0.35, 0.38), height=0.05, radius=0.028, half_length=0.05)


def _ball(builder: ActorBuilder) -> None:
    _add(builder, "sphere", (0.42, 0.3, 0.08), height=0.035, radius=0.035)


def _book(builder: ActorBuilder) -> None:
    _add(builder, "box", (0.24, 0.16, 0.3), height=0.012, half_size=(0.055, 0.038, 0.012))


def _saucer(builder: ActorBuilder) -> None:
    _add(builder, "cylinder", (0.6, 0.58, 0.54), height=0.008, radius=0.045, half_length=0.008)


def _post(builder: ActorBuilder) -> None:
    _add(builder, "box", (0.12, 0.1, 0.09), height=0.06, half_size=(0.014, 0.03, 0.06))


def _jar(builder: ActorBuilder) -> None:
    _add(builder, "cylinder", (0.26, 0.3, 0.2), height=0.03, radius=0.04, half_length=0.03)


def _roll(builder: ActorBuilder) -> None:
    _add(builder, "capsule", (0.5, 0.42, 0.4), height=0.02, radius=0.02, half_length=0.024)


KINDS: tuple[Callable[[ActorBuilder], None], ...] = (_can, _ball, _book, _saucer, _post, _jar, _roll)


class Distractors:
    """The first `solid` and `seen_only` of `KINDS` in every environment of `scene`, out of sight until they are placed.

    They go to `places`, some or all of `PLACES`.
    """

    def __init__(self, scene: ManiSkillScene, solid: int, places: Places = PLACES, seen_only: int = 0) -> None:
        count, most = solid + seen_only, min(len(KINDS), len(places))
        if not 0 <= solid <= count <= most:
            raise ValueError(f"bad number of distractors {count}: there are 0 to {most}")
        self._places = np.array(places)
        self._actors = [_build(scene, kind, number < solid) for number, kind in enumerate(KINDS[:count])]

    def place(self, chance: NDArray[np.float64], device: torch.device) -> None:
        """Put them on the table.

        Args:
            chance: (N, `numbers_of_chance()`) in 0..1, of the N environments that begin an episode.
            device: of the simulation.
        """
        order = np.argsort(chance[:, : len(self._places)], axis=1)
        rest = chance[:, len(PLACES) :].reshape(len(chance), len(KINDS), 3)
        for number, actor in enumerate(self._actors):
            stray, yaw = (2 * rest[:, number, :2] - 1) * STRAY, np.pi * rest[:, number, 2]
            zero = np.zeros(len(chance))
            position = np.column_stack([self._places[order[:, number]] + stray, zero])
            turned = np.column_stack([np.cos(yaw / 2), zero, zero, np.sin(yaw / 2)])
            p, q = (torch.as_tensor(part, dtype=torch.float32, device=device) for part in (position, turned))
            actor.set_pose(Pose.create_from_pq(p=p, q=q))


def numbers_of_chance() -> int:
    """Return how many random numbers the places of one environment take, whatever the number of distractors."""
    return len(PLACES) + 3 * len(KINDS)


def _build(scene: ManiSkillScene, kind: Callable[[ActorBuilder], None], solid: bool) -> Actor:
    builder = scene.create_actor_builder()
    kind(builder)
    if not solid:
        builder.collision_records.clear()
    builder.initial_pose = _WAITING
    return builder.build_kinematic(name=f"distractor{kind.__name__}")


def _add(
    builder: ActorBuilder,
    shape: str,
    colour: tuple[float, float, float],
    height: float,
    **size: float | tuple[float, ...],
) -> None:
    """Make a thing of one solid `shape` with its center at `height` (m), lying flat or upright."""
    pose = sapien.Pose(p=[0, 0, height], q=_UPRIGHT.q if shape == "cylinder" else [1, 0, 0, 0])
    getattr(builder, f"add_{shape}_visual")(pose, material=matte(colour), **size)
    getattr(builder, f"add_{shape}_collision")(pose, **size)
