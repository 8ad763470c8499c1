"""Which shapes must not touch each other, and how near they may come."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pinocchio

from kc_vla.motion.arm_model import ArmModel
from kc_vla.motion.link_shapes import LinkShape

SELF_CLEARANCE = 0.002
"""Links stay so far from each other, m."""
PATH_STEP = 0.005
"""Any point of the arm moves by no more between two poses that are checked on a path, m."""
EASED = 1e-3
"""A motion that begins too near to something may come nearer by so little, m."""
_SAMPLES, _OFTEN = 200, 0.5
"""Two links that touch in more than this share of so many random poses are one body in the URDF's plain shapes."""


class TouchingPair(NamedTuple):
    """What must not touch: two names, how near they may come, m, and whether the second is a wall of the workspace."""

    first: str
    second: str
    margin: float
    wall: bool = False


@lru_cache(maxsize=32)
def own_pairs(arm: ArmModel) -> tuple[tuple[int, int, float], ...]:
    """Return which shapes of an arm must not touch each other, and how near they may come, m.

    Neighbors are left out, and what touches in most poses. Where an arm lies folded at home, its plain shapes may be
    nearer than `SELF_CLEARANCE`, or in each other: then they may come as near as there.
    """
    shapes = arm.shapes()
    apart = [
        (one, other)
        for one, first in enumerate(shapes)
        for other, second in enumerate(shapes)
        if one < other and _are_apart(first, second)
    ]
    geometry = pinocchio.GeometryModel()
    for number, shape in enumerate(shapes):
        place = pinocchio.SE3(np.array(shape.place[:3, :3]), np.array(shape.place[:3, 3]))
        geometry.addGeometryObject(pinocchio.GeometryObject(f"{number}", shape.joint, place, shape.geometry))
    for one, other in apart:
        geometry.addCollisionPair(pinocchio.CollisionPair(one, other))
    results, data = geometry.createData(), arm.model.createData()
    for request in results.collisionRequests:
        request.security_margin = SELF_CLEARANCE
    chance, touched = np.random.default_rng(0), np.zeros(len(apart))
    for _ in range(_SAMPLES):
        pinocchio.computeCollisions(arm.model, data, geometry, results, chance.uniform(arm.lower, arm.upper), False)
        touched += [result.isCollision() for result in results.collisionResults]
    home = np.clip(arm.robot.rest, arm.lower, arm.upper)
    pinocchio.computeDistances(arm.model, data, geometry, results, home)
    gaps = [float(result.min_distance) - EASED for result in results.distanceResults]
    return tuple(
        (one, other, min(SELF_CLEARANCE, gap - PATH_STEP / 2))
        for (one, other), gap, share in zip(apart, gaps, touched / _SAMPLES, strict=True)
        if share <= _OFTEN
    )


def _are_apart(one: LinkShape, other: LinkShape) -> bool:
    return abs(one.joint - other.joint) > 1
