"""Counting: wait for the lamp to flash twice, then push the cube to the target (paper, appendix A.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import sapien
import torch
from mani_skill.utils.structs import Pose

from kc_vla_sim.envs.counting import COUNTING_RANGES, CountingProgress, CountingRanges, edge_frames, edges_passed
from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE, CUBE_SIZE, build_cube, stand_cube
from kc_vla_sim.envs.looks import matte
from kc_vla_sim.envs.registering import register_ours
from kc_vla_sim.envs.signal_lamp import SignalLamp
from kc_vla_sim.envs.tabletop import TabletopEnv
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.geometry import to_pose
from kc_vla_sim.robots.stations import PIPER

GOAL_RADIUS = 0.08
"""The cube is at the target when its center is closer to the target's than this, m."""
MOVED_LIMIT = 0.01
"""A cube displaced by more than this before the second flash has ended is a failure, m."""
MOVED_EARLY = "cube moved before the second flash ended"
LONGEST_EPISODE = 1600
"""Steps: at most 1,360 until the second flash has ended (hard), and 240 for a push that takes a good arm 60."""


@register_ours("PushCubeWithSignal-v1", LONGEST_EPISODE)
class PushCubeWithSignalEnv(TabletopEnv):
    """A cube, a target and a lamp that flashes twice.

    **Success**: after the second flash has ended, the cube's center is within 8 cm of the target's.
    **Failure**, at once: the cube moves more than 1 cm before that.
    **Chance**: positions of cube and target, start posture, the durations of the lamp's states.
    """

    SUPPORTED_ROBOTS = [*TabletopEnv.SUPPORTED_ROBOTS, PIPER]
    RANGES = COUNTING_RANGES
    ranges: CountingRanges

    def _load_scene(self, options: dict[str, Any]) -> None:
        super()._load_scene(options)
        self.cube = build_cube(self.scene, "cube", "blue")
        goal = self.scene.create_actor_builder()
        flat = [np.sqrt(0.5), 0, np.sqrt(0.5), 0]
        rings = ((1.0, (0.62, 0.03, 0.04)), (0.75, (0.85, 0.83, 0.8)), (0.4, (0.62, 0.03, 0.04)))
        for level, (share, colour) in enumerate(rings, start=1):
            goal.add_cylinder_visual(
                sapien.Pose(q=flat), radius=share * GOAL_RADIUS, half_length=0.0004 * level, material=matte(colour)
            )
        goal.initial_pose = sapien.Pose()
        self.goal = goal.build_kinematic(name="goal")

        self.lamp = SignalLamp(self.scene, position=(-0.02, -0.3), table=self.room.table_as_seen)
        self.lamp_edges = torch.zeros((self.num_envs, 4), dtype=torch.int32, device=self.device)
        """First frames (N, 4) that show the lamp lit, dark, lit and dark."""
        self._cube_start = torch.zeros((self.num_envs, 3), device=self.device)
        self._progress = CountingProgress.start(self.num_envs, self.device)

    def _initialize_episode(self, env_idx: torch.Tensor, options: dict[str, Any]) -> None:
        ranges = self.ranges
        self._set_start_posture(env_idx, ranges.start_noise)
        x, y, yaw = self._draw(env_idx, ranges.cube_x, ranges.cube_y, ranges.cube_yaw).T
        zero = torch.zeros_like(x)
        start = torch.stack([x, y, zero + CUBE_HALF_SIZE], dim=1)
        stand_cube(self.cube, start, yaw)
        x, y = self._draw(env_idx, ranges.goal_x, ranges.goal_y).T
        self.goal.set_pose(Pose.create_from_pq(p=torch.stack([x, y, zero], dim=1)))

        self.lamp_edges[env_idx] = edge_frames(self._draw(env_idx, *ranges.lamp))
        self.lamp.show(torch.zeros(len(env_idx), dtype=torch.bool, device=self.device))
        self._cube_start[env_idx] = start
        self._progress = self._progress.restarted(env_idx)
        self._place_distractors(env_idx)

    def _before_control_step(self) -> None:
        # The observation after this step is the next frame: the lamp must be right in its picture.
        frame = self.elapsed_steps + 1
        if (self.lamp_edges == frame[:, None]).any():
            self.lamp.show(edges_passed(self.lamp_edges, frame) % 2 == 1)
            if self.gpu_sim_enabled:
                self.scene._gpu_apply_all()

    def evaluate(self) -> dict[str, torch.Tensor]:
        """Return the state of the task: success, fail, completed stages, lamp; all (N,)."""
        passed = edges_passed(self.lamp_edges, self.elapsed_steps)
        cube, goal = self.cube.pose.p, self.goal.pose.p
        moved = torch.linalg.norm(cube - self._cube_start, dim=1) > MOVED_LIMIT
        on_table = (cube[:, 2] - CUBE_HALF_SIZE).abs() < MOVED_LIMIT
        at_goal = (torch.linalg.norm(cube[:, :2] - goal[:, :2], dim=1) < GOAL_RADIUS) & on_table
        self._progress = self._progress.after(passed // 2, moved, at_goal)
        return {
            "success": self._progress.success,
            "fail": self._progress.moved_early,
            "completed_stages": self._progress.completed,
            "lamp_lit": passed % 2 == 1,
            "flashes_ended": passed // 2,
        }

    @property
    def flashes_ended(self) -> int:
        """Return how many flashes are over in the present frame, for one environment."""
        return int(edges_passed(self.lamp_edges, self.elapsed_steps)[0]) // 2

    @property
    def failure_reason(self) -> str:
        """Return the one way to fail this task."""
        return MOVED_EARLY

    def keyframes_until_now(self) -> list[tuple[int, int]]:
        """Return frame 0 and every change of the lamp so far."""
        now = int(self.elapsed_steps[0])
        frames = [0, *self.lamp_edges[0].tolist()]
        return [(phase, frame) for phase, frame in enumerate(frames) if frame <= now]

    def decisions_until_now(self) -> list[tuple[int, int]]:
        """Return each time the lamp has gone dark: wait for more, or push."""
        now = int(self.elapsed_steps[0])
        dark = self.lamp_edges[0, 1::2].tolist()
        return [(frame, flashes) for flashes, frame in enumerate(dark) if frame <= now]

    def detections(self) -> tuple[GroundTruthObject, ...]:
        """Return the cube, the target and the lamp, "on" or "off"."""
        lit = edges_passed(self.lamp_edges, self.elapsed_steps)[0] % 2 == 1
        lamp_centre = sapien.Pose(p=[*self.lamp.position[:2], self.lamp.size[2] / 2])
        return (
            GroundTruthObject("cube", "cube", "", to_pose(self.cube.pose, self.station.base), CUBE_SIZE),
            GroundTruthObject(
                "goal",
                "target",
                "",
                to_pose(self.goal.pose, self.station.base),
                (2 * GOAL_RADIUS, 2 * GOAL_RADIUS, 0.0),
            ),
            GroundTruthObject(
                "lamp", "lamp", "on" if lit else "off", to_pose(lamp_centre, self.station.base), self.lamp.size
            ),
        )

    def _get_obs_extra(self, info: dict[str, Any]) -> dict[str, torch.Tensor]:
        extra = {"tcp_pose": self.agent.tcp.pose.raw_pose}
        if self.obs_mode_struct.use_state:
            extra["cube_pose"] = self.cube.pose.raw_pose
            extra["goal_position"] = self.goal.pose.p
            extra["lamp_lit"] = info["lamp_lit"]
        return extra
