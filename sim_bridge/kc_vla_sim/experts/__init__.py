"""Experts: they see the simulator's state and plan the next actions from it, whatever led there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kc_vla_sim.experts.pick_place_three_times import PickPlaceThreeTimesExpert
from kc_vla_sim.experts.push_cube_with_signal import PushCubeExpert
from kc_vla_sim.experts.swap_position import SwapPositionExpert
from kc_vla_sim.experts.teacher_arm_shuffle import TeacherArmShuffleExpert
from kc_vla_sim.protocol import Expert

_EXPERTS: dict[str, Callable[[Any], Expert]] = {
    "counting": PushCubeExpert,
    "identity": TeacherArmShuffleExpert,
    "spatial": SwapPositionExpert,
    "temporal": PickPlaceThreeTimesExpert,
}


def make_expert(task: str, world: Any) -> Expert:
    """The expert for the task called `task`, which runs in the environment `world`."""
    return _EXPERTS[task](world)
