"""Temporal sequencing: lift red, green and blue in turn, each put back before the next (paper, appendix A.1)."""

from __future__ import annotations

from typing import Any

import torch

from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE, CUBE_SIZE, build_cube, stand_cube
from kc_vla_sim.envs.home_visits import HomeVisits, home_pose, is_at_home
from kc_vla_sim.envs.lifting import LET_GO_GAP, REST_SPEED, CubesObserved, LiftingProgress, fault_in_words
from kc_vla_sim.envs.registering import register_ours
from kc_vla_sim.envs.tabletop import TabletopEnv
from kc_vla_sim.envs.temporal import CUBES, TEMPORAL_RANGES, TemporalRanges, places_in_disc
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.geometry import to_pose
from kc_vla_sim.robot import CONTROL_RATE
from kc_vla_sim.robots.stations import PIPER

LONGEST_EPISODE = 2700
"""Steps: at most 1,810 until the first lift (hard), and 890 for three lifts that take a good arm 250."""
HOME_SPEED = 0.01
"""A hand at home rests when it is slower than this, m/s ..."""
SHUT = 0.001
"""... with either finger no further out than this, m."""
_COLOURS = ("red", "green", "blue")
"""In the order of the lifts."""
_CANDIDATES = 512
"""Draws of three places of which the first good one is taken: one of 16 is good."""


@register_ours("PickPlaceThreeTimes-v1", LONGEST_EPISODE)
class PickPlaceThreeTimesEnv(TabletopEnv):
    """Three cubes, to be lifted one after the other and each put back where it stood.

    **Success**: red, green and blue were lifted above 15 cm in this order, each back within 5 cm of where it began, at
    rest and released, before the next; all are there at the end.
    **Failure**, at once: a cube is lifted out of turn, or again, or before the last is back; a cube that was not
    lifted lies off its place (`lifting`).
    **Chance**: places of the cubes, start posture; for each lift the home pose before it, the wait there and its
    height; the speed of the expert's hand.
    """

    SUPPORTED_ROBOTS = [*TabletopEnv.SUPPORTED_ROBOTS, PIPER]
    RANGES = TEMPORAL_RANGES
    ranges: TemporalRanges

    def _load_scene(self, options: dict[str, Any]) -> None:
        super()._load_scene(options)
        self.cubes = [build_cube(self.scene, f"{colour}_cube", colour) for colour in _COLOURS]
        count, device = self.num_envs, self.device
        self.places = torch.zeros((count, CUBES, 3), device=device)
        """Where the cubes' centers began (N, 3, 3), m."""
        self.yaws = torch.zeros((count, CUBES), device=device)
        """How they were turned (N, 3), rad."""
        self.homes = torch.zeros((count, CUBES, 7), device=device)
        """Home pose of the tool before each lift: x, y, z (m) and quaternion, w first (N, 3, 7)."""
        self.waits = torch.zeros((count, CUBES), dtype=torch.int32, device=device)
        """Frames at home before each lift (N, 3)."""
        self.lift_heights = torch.zeros((count, CUBES), device=device)
        """How high the expert lifts each cube (N, 3), m."""
        self.tempo = torch.zeros((count, 2), device=device)
        """Speeds of the expert's hand (N, 2), m per step: of travel and of lowering."""
        self.progress = LiftingProgress.start(count, device)
        self.visits = HomeVisits.start(count, CUBES, device)

    def _initialize_episode(self, env_idx: torch.Tensor, options: dict[str, Any]) -> None:
        ranges, count = self.ranges, len(env_idx)
        self._set_start_posture(env_idx, ranges.start_noise)
        self._swivel_elbow(env_idx)
        self._place_cubes(env_idx)
        pose = (ranges.home_x, ranges.home_y, ranges.home_z, ranges.home_yaw)
        x, y, z, yaw = self._draw(env_idx, *pose * CUBES).reshape(count, CUBES, 4).unbind(dim=2)
        self.homes[env_idx] = home_pose(x, y, z, yaw)
        self.waits[env_idx] = torch.round(self._draw(env_idx, *ranges.home_wait) * CONTROL_RATE).to(torch.int32)
        self.lift_heights[env_idx] = self._draw(env_idx, *(ranges.lift_height,) * CUBES)
        self.tempo[env_idx] = self._draw(env_idx, ranges.travel_speed, ranges.lower_speed)
        self.progress = self.progress.restarted(env_idx)
        self.visits = self.visits.restarted(env_idx)
        self._place_distractors(env_idx)

    def _swivel_elbow(self, env_idx: torch.Tensor) -> None:
        """Turn the elbow to either side, if the arm can; the hand about stays where it is."""
        swivel = self._draw(env_idx, self.ranges.start_swivel)[:, 0]
        if not self.station.is_panda:
            return
        posture = self.agent.robot.get_qpos()[env_idx].clone()
        # Near the start posture the axes of the first and the third joint almost coincide.
        posture[:, 0] += swivel
        posture[:, 2] -= swivel
        self.agent.reset(posture)

    def _place_cubes(self, env_idx: torch.Tensor) -> None:
        """Stand the cubes in a disc, apart from each other."""
        ranges = self.ranges
        chance = self._batched_episode_rng[env_idx].uniform(size=(_CANDIDATES, CUBES, 2))
        in_disc = places_in_disc(torch.as_tensor(chance, dtype=torch.float32, device=self.device), ranges.disc_radius)
        centre = self._draw(env_idx, ranges.disc_x, ranges.disc_y)
        self.places[env_idx, :, :2] = in_disc + centre[:, None]
        self.places[env_idx, :, 2] = CUBE_HALF_SIZE
        self.yaws[env_idx] = self._draw(env_idx, *(ranges.cube_yaw,) * CUBES)
        for number, cube in enumerate(self.cubes):
            stand_cube(cube, self.places[env_idx, number], self.yaws[env_idx, number])

    def evaluate(self) -> dict[str, torch.Tensor]:
        """Return the state of the task: success, fail, completed stages; all (N,)."""
        frame = self.elapsed_steps
        tool = self.agent.tcp.pose.raw_pose
        position = torch.stack([cube.pose.p for cube in self.cubes], dim=1)
        velocity = torch.stack([cube.linear_velocity for cube in self.cubes], dim=1)
        seen = CubesObserved(
            height=position[..., 2],
            displaced=torch.linalg.norm(position - self.places, dim=2),
            resting=torch.linalg.norm(velocity, dim=2) < REST_SPEED,
            touched=torch.linalg.norm(position - tool[:, None, :3], dim=2) < LET_GO_GAP,
        )
        self.progress = self.progress.after(frame, seen)
        lifts = self.progress.completed
        self.visits = self.visits.after(frame, self._rests_at_home(tool), lifts, self.progress.lifted, self.waits)
        return {"success": self.progress.success, "fail": self.progress.failed, "completed_stages": lifts}

    def _rests_at_home(self, tool: torch.Tensor) -> torch.Tensor:
        """Return whether the hand rests, closed, at the home pose before the next lift (N,).

        Its tool is at `tool` (N, 7).
        """
        lift = self.progress.completed.clamp(max=CUBES - 1).to(torch.int64)
        home = self.homes[torch.arange(self.num_envs, device=self.device), lift]
        speed: torch.Tensor = torch.linalg.norm(self.agent.tcp.linear_velocity, dim=1)
        opening: torch.Tensor = self.agent.robot.get_qpos()[:, -2:].amax(dim=1)
        return is_at_home(tool, home) & (speed < HOME_SPEED) & (opening < SHUT)

    @property
    def failure_reason(self) -> str:
        """Return what went wrong, for one environment."""
        progress = self.progress
        return fault_in_words(int(progress.fault[0]), int(progress.culprit[0]), int(progress.completed[0]), _COLOURS)

    def keyframes_until_now(self) -> list[tuple[int, int]]:
        """Return frame 0 and the highest point so far of each cube that was lifted."""
        peaks = self.progress.peak_frame[0].tolist()
        return [(0, 0), *((number, frame) for number, frame in enumerate(peaks, start=1) if frame >= 0)]

    def decisions_until_now(self) -> list[tuple[int, int]]:
        """Return the last frame of each visit at home: which cube to lift next."""
        return [(frame, lift) for lift, frame in enumerate(self.visits.decided[0].tolist()) if frame >= 0]

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
            extra |= {f"{cube.name}_pose": cube.pose.raw_pose for cube in self.cubes}
            extra["completed_stages"] = info["completed_stages"]
        return extra
