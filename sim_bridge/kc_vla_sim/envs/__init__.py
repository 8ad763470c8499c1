"""The tasks as ManiSkill environments; importing this package registers them with gymnasium."""

from kc_vla_sim.envs.push_cube_with_signal import PushCubeWithSignalEnv

__all__ = ["PushCubeWithSignalEnv"]
