"""How swapping cubes goes wrong, as plain functions on batches of N environments.

Only cubes that are at rest and released are judged, and only by where they stand: however a cube came to stand flat on
the table, it counts as put aside. There are four failures, each something that the task has no way to repair: a cube
off the table; a cube that fell and leans on something, which cannot be grasped from above; a stack that fell, so that
the middle cube is on the table before the top one; and a cube put on another on which it does not belong.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from kc_vla_sim.envs.cube_stack import BOTTOM, MIDDLE, NOTHING, TABLE, TOP
from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE

APART = 2
"""Stages after which the stack has been taken apart."""
REBUILT = 3
"""Stages after which the bottom cube stands on the middle one."""
RIGHT, WRONG_SUPPORT, FALLEN_CUBE, FALLEN_STACK, OFF_TABLE = range(5)
"""Kinds of failure; the first is none, and of several at one cube the last is named."""


def find_fault(completed: Tensor, position: Tensor, support: Tensor) -> tuple[Tensor, Tensor]:
    """Return the kind of failure (N,), and the cube that it is about with what that cube stands on (N, 2).

    Args:
        completed: stages before this frame (N,).
        position: of the cubes (N, 3, 3), by level, m.
        support: what each cube stands on (N, 3), as in `Cubes.support`; -1 while it moves or is held.
    """
    apart = completed >= APART
    # Where each cube may stand besides the table: in the old stack until it is apart, then in the new one.
    top_home = torch.where(apart, torch.where(completed >= REBUILT, BOTTOM, TABLE), MIDDLE)
    middle_home = torch.where(apart, TABLE, BOTTOM)
    bottom_home = torch.where(apart, MIDDLE, TABLE)
    homes = torch.stack([bottom_home, middle_home, top_home], dim=1)
    on_cube = (support >= BOTTOM) & (support <= TOP)
    middle_first = torch.zeros_like(on_cube)
    middle_first[:, MIDDLE] = (completed == 0) & (support[:, MIDDLE] == TABLE)
    kinds = torch.zeros_like(support)
    for kind, found in (
        (WRONG_SUPPORT, on_cube & (support != homes)),
        (FALLEN_CUBE, support == NOTHING),
        (FALLEN_STACK, middle_first),
        (OFF_TABLE, position[:, :, 2] < -CUBE_HALF_SIZE),
    ):
        kinds = torch.where(found, kind, kinds)
    first = (kinds != RIGHT).to(torch.int32).argmax(dim=1, keepdim=True)
    return kinds.gather(1, first)[:, 0], torch.cat([first, support.gather(1, first)], dim=1)


def fault_in_words(fault: int, cube: int, support: int, completed: int, colours: Sequence[str]) -> str:
    """Return the failure in words.

    Args:
        fault: its kind.
        cube: level of the cube that it is about.
        support: what that cube stands on.
        completed: stages before it.
        colours: of the cubes, by level.
    """
    name = f"{colours[cube]} cube"
    if fault == OFF_TABLE:
        return f"{name} fell off the table"
    if fault == FALLEN_CUBE:
        return f"{name} fell: it lies neither on the table nor squarely on a cube"
    if fault == FALLEN_STACK:
        return f"stack fell: {name} stands on the table before {colours[TOP]} was put aside"
    if cube == MIDDLE or completed < APART:
        home = "the table"
    elif cube == BOTTOM:
        home = colours[MIDDLE]
    else:
        home = f"{colours[BOTTOM]}, once {colours[BOTTOM]} is on {colours[MIDDLE]}"
    return f"{name} put on {colours[support]}: it belongs on {home}"
