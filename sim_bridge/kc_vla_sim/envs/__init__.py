"""The tasks as ManiSkill environments; importing this package registers them with gymnasium."""

from kc_vla_sim.envs.kitchen import KitchenEnv
from kc_vla_sim.envs.pick_place_three_times import PickPlaceThreeTimesEnv
from kc_vla_sim.envs.push_cube_with_signal import PushCubeWithSignalEnv
from kc_vla_sim.envs.swap_position import SwapPositionEnv
from kc_vla_sim.envs.teacher_arm_shuffle import TeacherArmShuffleEnv

__all__ = ["KitchenEnv", "PickPlaceThreeTimesEnv", "PushCubeWithSignalEnv", "SwapPositionEnv", "TeacherArmShuffleEnv"]
