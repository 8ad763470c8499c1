"""Makes a task of the stack of an environment of ManiSkill that exists already; docs/your_own_task.md has examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from mani_skill.sensors.camera import CameraConfig

from kc_vla_sim.envs.tabletop import THIRD_PERSON_CAMERA, TabletopEnv
from kc_vla_sim.errors import BadTaskError
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.robots.panda import LightPandaWristCam
from kc_vla_sim.shaders import camera_shader, set_picture_formats


class WrappedTask:
    """What the stack asks of an environment and one of ManiSkill lacks.

    It comes before that one among the bases:

        @register_env("MyPushCube-v1", max_episode_steps=100)
        class MyPushCube(WrappedTask, PushCubeEnv): ...

    Scene, chance, time limit and success stay as they are. A sub-class overrides what it knows better: `milestones`,
    `stages`, `detections`, `decisions_until_now`, `failure_reason`.
    """

    SUPPORTED_ROBOTS = [LightPandaWristCam.uid]
    SUPPORTED_REWARD_MODES = ("none", "sparse", "dense", "normalized_dense")
    robot_uids: Any
    AS_ROBOT = "panda"
    """The robot that the environment believes to have: many choose the posture at the start by its name. With this one
    the camera of the hand is ahead at the start, with "panda_wristcam" it is at the side."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what the environment takes."""
        kwargs.setdefault("reconfiguration_freq", 1)  # the same seed is the same episode, whatever was before
        kwargs.setdefault("robot_uids", self.SUPPORTED_ROBOTS[0])
        super().__init__(*args, **kwargs)

    @property
    def _default_sensor_configs(self) -> list[CameraConfig]:
        """Return the first camera of the environment that stands still, by the name that the stack has for it."""
        theirs = super()._default_sensor_configs  # type: ignore[misc]  # of the environment that comes after it
        cameras = theirs if isinstance(theirs, list | tuple) else [theirs]
        still = [each for each in cameras if isinstance(each, CameraConfig) and each.mount is None]
        if not still:
            raise BadTaskError(
                f"{type(self).__name__} has no camera that stands still: override _default_sensor_configs "
                f"with one called '{THIRD_PERSON_CAMERA}'"
            )
        return [replace(still[0], uid=THIRD_PERSON_CAMERA, shader_config=camera_shader(), shader_pack=None)]

    def _setup_sensors(self, options: dict[str, Any]) -> None:
        set_picture_formats()
        super()._setup_sensors(options)  # type: ignore[misc]

    TELLS_VISIBLE = TabletopEnv.TELLS_VISIBLE
    pictures = TabletopEnv.pictures
    captures = TabletopEnv.captures
    visible = TabletopEnv.visible
    _rendered = TabletopEnv._rendered

    def _initialize_episode(self, env_idx: torch.Tensor, options: dict[str, Any]) -> None:
        ours, self.robot_uids = self.robot_uids, self.AS_ROBOT
        try:
            super()._initialize_episode(env_idx, options)  # type: ignore[misc]
        finally:
            self.robot_uids = ours
        self._reached_at: list[int] = []

    def evaluate(self) -> dict[str, Any]:
        """Add to what the environment reports what it does not know: "fail" and "completed_stages", both (N,)."""
        told: dict[str, Any] = super().evaluate()  # type: ignore[misc]
        if "success" not in told:
            raise BadTaskError(f"{type(self).__name__} does not say 'success' in evaluate()")
        told = {"fail": torch.zeros_like(told["success"]), **told}
        self._note(told)
        return told | {"completed_stages": self.stages(told)}

    def milestones(self, told: dict[str, Any]) -> Sequence[torch.Tensor]:
        """Return whether each keyframe after the start has come, (N,) each, in their order.

        The first frame in which one holds, after the one before it, is the keyframe.

        Args:
            told: what the environment reports in `evaluate`.
        """
        return ()

    def stages(self, told: dict[str, Any]) -> torch.Tensor:
        """Return how many of the task's stages are done, (N,): one, that it succeeded.

        Args:
            told: what the environment reports in `evaluate`.
        """
        done: torch.Tensor = told["success"].int()
        return done

    @property
    def failure_reason(self) -> str:
        """Return what it is called when `evaluate` says "fail"."""
        return "failed"

    def detections(self) -> tuple[GroundTruthObject, ...]:
        """Return the objects of the task, for the scene graph: none that are known."""
        return ()

    def keyframes_until_now(self) -> list[tuple[int, int]]:
        """Return phase and frame of the start and of each milestone so far."""
        return list(enumerate([0, *self._reached_at]))

    def decisions_until_now(self) -> list[tuple[int, int]]:
        """Return frame and right choice of each moment of decision so far: none that is probed."""
        return []

    def _note(self, told: dict[str, Any]) -> None:
        """Note the next milestone, of one environment, if it holds now and this frame is none yet."""
        here, reached = int(self.elapsed_steps[0]), self._reached_at  # type: ignore[attr-defined]
        if here == 0 or here in reached[-1:]:
            return
        coming = self.milestones(told)[len(reached) :]
        if coming and bool(coming[0][0]):
            reached.append(here)
