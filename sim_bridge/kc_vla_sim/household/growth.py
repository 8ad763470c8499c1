"""Long sequences in homes and in large buildings, for how costs grow with tasks and with things.

Rooms of both splits are in them: they say nothing about success.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kc_vla_sim.household.alfred import scenes
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.generation import needed
from kc_vla_sim.household.oracle import UnsolvableError
from kc_vla_sim.household.scenes import NUMBERS, SPLITS
from kc_vla_sim.household.tasks import BUILDING, HOME, InstructedTask, TaskSequence
from kc_vla_sim.household.types import ROOM_KINDS
from kc_vla_sim.household.wording import Speaker, hold_step, put_step, steps_of

_LONGEST, _TRIES = 10_000, 30


def home_sequence(number: int, length: int, seed: int = 0) -> TaskSequence:
    """Return a long sequence in four rooms: whole tasks of ALFRED, things to fetch and to put away.

    Args:
        number: of the home, 1 to 30.
        length: how many tasks, each to be done when it is asked for.
        seed: of the home and of what is drawn.

    Raises:
        HouseholdError: there is no such home, or nothing is left to do in it before there are as many.
    """
    return _long(HOME, number, length, seed, [first + number for first in ROOM_KINDS])


def building_sequence(count: int, length: int, seed: int = 0) -> TaskSequence:
    """Return the same in a building with so many things, see `build_building`.

    Raises:
        HouseholdError: there is no such building, or nothing is left to do in it before there are as many tasks.
    """
    return _long(BUILDING, count, length, seed, NUMBERS)


def _long(kind: str, number: int, length: int, seed: int, rooms: Sequence[int]) -> TaskSequence:
    if not 1 <= length <= _LONGEST:
        raise HouseholdError(f"there is no sequence of {length} tasks: choose 1 to {_LONGEST}")
    empty = TaskSequence(f"{kind}-{number}-{length}-{seed}", kind, SPLITS[0], number, seed, ())
    world, tasks = empty.world(), list[InstructedTask]()
    chance = np.random.default_rng([seed, number, length])
    speaker = Speaker(chance, test=False)
    known = [task for room in rooms if room in scenes() for task in scenes()[room].tasks]
    for _ in range(_TRIES * length):
        if len(tasks) == length:
            break
        about = known[int(chance.integers(len(known)))]
        away = put_step(about.thing, about.goal) if about.goal else hold_step(about.thing)
        steps = (steps_of(about), (hold_step(about.thing),), (away,))[int(chance.choice(3, p=(0.6, 0.2, 0.2)))]
        task = speaker.task(steps, {}, {}, {})
        try:
            world = needed(world, [task])[-1].world
        except UnsolvableError:
            continue
        tasks.append(task)
    if len(tasks) < length:
        raise HouseholdError(f"{kind} {number} has only {len(tasks)} tasks in a row, not {length}: ask for fewer")
    return replace(empty, tasks=tuple(tasks))
