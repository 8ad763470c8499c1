"""Spatial reconfiguration: swap the bottom and middle cubes of a stack (paper, appendix A.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from kc_vla_sim.envs.cube_stack import BOTTOM, LEVELS, MIDDLE, TOP, Cubes, a_face_is_up, within_fingers
from kc_vla_sim.envs.cubes import CUBE_COLOURS, CUBE_HALF_SIZE, CUBE_SIZE, build_cube, stand_cube
from kc_vla_sim.envs.home_visits import home_pose, is_at_home
from kc_vla_sim.envs.registering import register_ours
from kc_vla_sim.envs.spatial import SPATIAL_RANGES, Pause, SpatialProgress, SpatialRanges, first_apart
from kc_vla_sim.envs.stack_faults import APART, fault_in_words
from kc_vla_sim.envs.tabletop import TabletopEnv
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.geometry import to_pose
from kc_vla_sim.robot import CONTROL_RATE
from kc_vla_sim.robots.panda_posture import posture_pointing_down
from kc_vla_sim.robots.stations import PIPER

LONGEST_EPISODE = 1200
"""Steps."""
_CANDIDATES = 8192
"""Draws of three places of which the first good one is taken: in the narrowest area one of 300 is good."""
_START_TOOL = (0.4, 0.0, 0.33, 0.0)
"""Place x, y, z (m, in the robot's base frame) and yaw of the tool at the start: further back and higher than in other
tasks, where the hand would hide the stack from the third-person camera."""
_SWIVEL = (1.0, 0.0, -0.9319, 0.0, -0.4658, 0.0, 0.3867)
"""Turns of the arm's joints, per rad of the first, that move the elbow out of that posture and leave the tool there."""
_ASIDE = (0.12, 0.12)
"""Without expert variation, how far the places aside are from the stack, away from the robot or towards it, and from
the middle of the table, to either side, m."""
_COLOURS = tuple(CUBE_COLOURS)
_RESTING = 0.0003
"""A hand at home rests when it has moved less than this since the last frame, m ..."""
_SHUT = 0.01
"""... with a smaller gap between its fingers, m."""


@register_ours("SwapPosition-v1", LONGEST_EPISODE)
class SwapPositionEnv(TabletopEnv):
    """Three cubes in a stack, to be rebuilt with the two lower ones swapped.

    **Success**: one stack, the original middle cube on the table, the bottom one on it and the top one on that;
    neighbors within 2 cm in the plane, heights within 5 mm, all at rest and released.
    **Failure**, at once: a cube comes to rest, released, on one on which it does not belong; or one fell
    (`stack_faults`).
    **Chance**: order of the colors, places of the stack and aside, start posture, home pose, waits and speeds.
    """

    SUPPORTED_ROBOTS = [*TabletopEnv.SUPPORTED_ROBOTS, PIPER]
    RANGES = SPATIAL_RANGES
    ranges: SpatialRanges

    def _load_scene(self, options: dict[str, Any]) -> None:
        super()._load_scene(options)
        self.cubes = [build_cube(self.scene, f"{colour}_cube", colour) for colour in _COLOURS]
        count, device = self.num_envs, self.device
        self.order = torch.zeros((count, LEVELS), dtype=torch.int64, device=device)
        """Index of the cube in `cubes` that began at each level (N, 3)."""
        self.places = torch.zeros((count, 3, 3), device=device)
        """x, y (m) and yaw (rad) of the stack and of the two places aside (N, 3, 3)."""
        self.home = torch.zeros((count, 7), device=device)
        """Home pose of the tool: x, y, z (m) and quaternion, w first (N, 7)."""
        self.tempo = torch.zeros((count, 2), device=device)
        """Speeds of the expert's hand (N, 2), m per step: of travel and of lowering."""
        self._waits = torch.zeros((count, 2), dtype=torch.int32, device=device)
        self._tool_seen = torch.zeros((count, 3), device=device)
        self._progress = SpatialProgress.start(count, device)
        self._pause = Pause.start(count, device)

    def _initialize_episode(self, env_idx: torch.Tensor, options: dict[str, Any]) -> None:
        ranges = self.ranges
        chance = self._batched_episode_rng[env_idx]
        self._set_swivelled_posture(env_idx)
        self.order[env_idx] = torch.as_tensor(chance.permutation(LEVELS), device=self.device)
        low, high = np.array([ranges.place_x, ranges.place_y, ranges.place_yaw]).T
        candidates = chance.uniform(low, high, size=(_CANDIDATES, 3, 3))
        self.places[env_idx] = first_apart(torch.as_tensor(candidates, dtype=torch.float32, device=self.device))
        if not self.whims:
            self._place_by_colour(env_idx)
        self._stack_cubes(env_idx)

        x, y, z, yaw = self._draw(env_idx, ranges.home_x, ranges.home_y, ranges.home_z, ranges.home_yaw).T
        self.home[env_idx] = home_pose(x, y, z, yaw)
        self.tempo[env_idx] = self._draw(env_idx, ranges.travel_speed, ranges.lower_speed)
        seconds = self._draw(env_idx, ranges.start_wait, ranges.home_wait)
        self._waits[env_idx] = torch.round(seconds * CONTROL_RATE).to(torch.int32)
        self._progress = self._progress.restarted(env_idx)
        self._pause = self._pause.restarted(env_idx)
        self._place_distractors(env_idx)

    def _place_by_colour(self, env_idx: torch.Tensor) -> None:
        """Let the places aside follow from what is seen: where the stack is, and which cubes are to go there.

        Of two cubes the one whose color comes first goes to the right, so they tell nothing of the order in which the
        cubes were stacked, but for the bottom one, which stays.
        """
        x, y, yaw = self.places[env_idx, 0].T
        away = torch.where(x > sum(self.ranges.place_x) / 2, -_ASIDE[0], _ASIDE[0])
        for place, side in ((1, -_ASIDE[1]), (2, _ASIDE[1])):
            self.places[env_idx, place] = torch.stack([x + away, torch.full_like(y, side), yaw], dim=1)
        swapped = self.order[env_idx, TOP] > self.order[env_idx, MIDDLE]
        self.places[env_idx[swapped], 1:] = self.places[env_idx[swapped], 1:].flip(1)

    def _set_swivelled_posture(self, env_idx: torch.Tensor) -> None:
        """Put the tool near `_START_TOOL` with the elbow anywhere, each arm joint a little off, gripper closed."""
        most = self.ranges.start_noise
        if not self.station.is_panda:
            self._set_start_posture(env_idx, most)
            return
        noise = self._draw(env_idx, *[(-most, most)] * len(_SWIVEL))
        swivel = self._draw(env_idx, self.ranges.start_swivel) * torch.tensor(_SWIVEL, device=self.device)
        upright = posture_pointing_down(torch.tensor(_START_TOOL, device=self.device))
        self.agent.reset(torch.nn.functional.pad(upright + noise + swivel, (0, 2)))

    def _stack_cubes(self, env_idx: torch.Tensor) -> None:
        """Put the cubes on one another in the drawn order at the first of the places."""
        x, y, yaw = self.places[env_idx, 0].T
        levels = self.order[env_idx].argsort(dim=1)
        for cube, level in zip(self.cubes, levels.T, strict=True):
            stand_cube(cube, torch.stack([x, y, (2 * level + 1) * CUBE_HALF_SIZE], dim=1), yaw)

    def evaluate(self) -> dict[str, torch.Tensor]:
        """Return the state of the task: success, fail, completed stages; all (N,)."""
        frame = self.elapsed_steps
        pose = torch.stack([cube.pose.raw_pose for cube in self.cubes], dim=1)
        pose = pose.gather(1, self.order[:, :, None].expand(-1, -1, 7))
        tool = self.agent.tcp.pose.raw_pose
        gap = self.agent.robot.get_qpos()[:, -2:].sum(dim=1)
        position = pose[..., :3]
        cubes = Cubes(position, a_face_is_up(pose[..., 3:]), within_fingers(position, tool[:, :3], gap))
        self._progress = self._progress.after(frame, cubes)
        resting = self._rests_at_home(tool, gap) & (self._progress.completed == APART)
        self._pause = self._pause.after(frame, resting, self._waits[:, 1])
        self._tool_seen = tool[:, :3]
        return {
            "success": self._progress.success,
            "fail": self._progress.failed,
            "completed_stages": self._progress.completed,
        }

    def _rests_at_home(self, tool: torch.Tensor, gap: torch.Tensor) -> torch.Tensor:
        """Return whether the hand rests at home (N,).

        Its tool is at `tool` (N, 7), and its fingers are `gap` (N,) apart.
        """
        moved: torch.Tensor = torch.linalg.norm(tool[:, :3] - self._tool_seen, dim=1)
        return is_at_home(tool, self.home) & (moved < _RESTING) & (gap < _SHUT)

    @property
    def completed_stages(self) -> int:
        """Return the stages reached so far, for one environment."""
        return int(self._progress.completed[0])

    @property
    def start_wait_left(self) -> int:
        """Return frames for which the expert still waits before it begins, for one environment."""
        return max(int(self._waits[0, 0] - self.elapsed_steps[0]), 0)

    @property
    def home_wait_left(self) -> int | None:
        """Return frames for which the hand still rests at home, for one environment; None while it does not rest there.

        Without expert variation it need not go there: no image tells whether it comes from there.
        """
        if self._pause.over[0] >= 0 or not self.whims:
            return 0
        rested = int(self._pause.rested[0])
        return int(self._waits[0, 1]) - rested if rested else None

    @property
    def failure_reason(self) -> str:
        """Return what went wrong, for one environment."""
        fault, completed = int(self._progress.fault[0]), self.completed_stages
        cube, support = self._progress.culprit[0].tolist()
        return fault_in_words(fault, cube, support, completed, [_COLOURS[k] for k in self.order[0].tolist()])

    def keyframes_until_now(self) -> list[tuple[int, int]]:
        """Return frame 0, and those in which the top, the middle and the bottom cube left their places."""
        frames = [0, *self._progress.left[0, [TOP, MIDDLE, BOTTOM]].tolist()]
        return [(phase, frame) for phase, frame in enumerate(frames) if frame >= 0]

    def decisions_until_now(self) -> list[tuple[int, int]]:
        """Return the end of the rest at home: which cube to fetch first, by its index in `cubes`."""
        over = int(self._pause.over[0])
        return [(over, int(self.order[0, BOTTOM]))] if over >= 0 else []

    def detections(self) -> tuple[GroundTruthObject, ...]:
        """Return the three cubes."""
        return tuple(
            GroundTruthObject(
                cube.name, "cube", "", to_pose(cube.pose, self.station.base), CUBE_SIZE, {"colour": colour}
            )
            for cube, colour in zip(self.cubes, _COLOURS, strict=True)
        )

    def _get_obs_extra(self, info: dict[str, Any]) -> dict[str, torch.Tensor]:
        extra = {"tcp_pose": self.agent.tcp.pose.raw_pose}
        if self.obs_mode_struct.use_state:
            extra.update({f"{cube.name}_pose": cube.pose.raw_pose for cube in self.cubes})
        return extra
