"""Identity: watch the teacher swap two of three equal cubes, then lift the one that was in the middle (A.4)."""

from __future__ import annotations

import math
from typing import Any

import sapien
import torch

from kc_vla_sim.envs import shuffle
from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE, CUBE_SIZE, build_cube, stand_cube
from kc_vla_sim.envs.distractors import PLACES
from kc_vla_sim.envs.identity import FAILURES, IDENTITY_RANGES, MIDDLE, SLOTS, IdentityProgress, IdentityRanges
from kc_vla_sim.envs.registering import register_ours
from kc_vla_sim.envs.tabletop import ROBOT_BASE, TabletopEnv
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.geometry import to_pose
from kc_vla_sim.robot import CONTROL_RATE
from kc_vla_sim.robots.panda_posture import posture_pointing_down
from kc_vla_sim.robots.stations import PIPER
from kc_vla_sim.robots.teacher_arm import TeacherArm

SLOT_PLACES = ((-0.04, 0.19), (-0.04, 0.06), (-0.04, -0.07))
"""Centers of the slots left, middle and right, x and y, m."""
BUFFER_PLACE = (0.13, -0.08)
"""Center of the buffer place, where it and the hand above it hide no slot from the camera, m."""
TEACHER_BASE = (0.02, -0.5)
"""Where the teacher stands, facing along y, m."""
TEACHER_ROOM = 0.25
"""Distance from its base within which the teacher stands alone, m."""
TEACHER_HOME = (0.04, -0.18, 0.36, 0.0)
"""Where the teacher's tool waits: x, y, z (m) and yaw (rad)."""
LIFT_HEIGHT = 0.1
"""A cube in the robot's grip whose center is higher than this above the table is lifted, m."""
WRONG_LIFT_HEIGHT = 0.05
"""Any other cube whose center is higher than this after the shuffle is lifted, m."""
ASTRAY = 0.015
"""A cube further than this from where the shuffle has it was moved or dropped, m."""
NEAR = 0.15
"""The robot is near a cube when its tool is closer than this, m."""
LONGEST_EPISODE = 1000
"""Steps: at most 670 until the shuffle has ended (hard), 80 of hesitation, and 250 for a lift that takes about 60."""
_FACING_Y = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))


@register_ours("TeacherArmShuffle-v1", LONGEST_EPISODE)
class TeacherArmShuffleEnv(TabletopEnv):
    """Three equal red cubes in a row, and a teacher arm that swaps two of them.

    **Success**: after the shuffle, the cube that was in the middle at first is grasped and above 0.1 m.
    **Failure**, at once: another cube is lifted, or a cube is moved before the shuffle has ended.
    **Chance**: which two cubes, in which order; places and turns at the start and when put down; the duration of
    every move and grip, however far it goes; where the robot waits.
    """

    SUPPORTED_ROBOTS = [*TabletopEnv.SUPPORTED_ROBOTS, PIPER]
    RANGES = IDENTITY_RANGES
    DISTRACTOR_PLACES = tuple(place for place in PLACES if math.dist(place, TEACHER_BASE) > TEACHER_ROOM)
    ranges: IdentityRanges

    def _load_agent(self, options: dict[str, Any]) -> None:
        super()._load_agent(options)
        base = sapien.Pose(p=[*TEACHER_BASE, 0], q=_FACING_Y)
        self.teacher = TeacherArm(self.scene, self._control_freq, "pd_joint_pos", initial_pose=base)

    def _load_scene(self, options: dict[str, Any]) -> None:
        super()._load_scene(options)
        self.cubes = [build_cube(self.scene, f"{slot} cube", "red") for slot in SLOTS]

        count, device = self.num_envs, self.device
        self._frames = sum(math.ceil(high * CONTROL_RATE) + 1 for _, high in self.ranges.durations)
        self._slots = torch.tensor(SLOT_PLACES, device=device)
        self.roles = torch.zeros((count, 3), dtype=torch.int64, device=device)
        """Cubes A, B and the one that stays (N, 3)."""
        self.segment_ends = torch.zeros((count, shuffle.SEGMENTS), dtype=torch.int32, device=device)
        self.home = torch.zeros((count, 4), device=device)
        """Where the robot's tool waits (N, 4): x, y, z (m, world) and yaw (rad)."""
        self.go_frame = torch.zeros(count, dtype=torch.int32, device=device)
        """Frame (N,) in which the expert begins to move."""
        self.expert_speed = torch.zeros(count, device=device)
        """Share (N,) of its full speed at which the expert moves."""
        self._start = torch.zeros((count, 3, 3), device=device)  # centres of the cubes, m
        self._stops = torch.zeros((count, shuffle.STOPS, 4), device=device)
        self._targets = torch.zeros((count, self._frames, 9), device=device)  # of the teacher's joints
        self._progress = IdentityProgress.start(count, device)

    def _initialize_episode(self, env_idx: torch.Tensor, options: dict[str, Any]) -> None:
        ranges, count = self.ranges, len(env_idx)
        self._set_home_posture(env_idx)
        start, end = self._draw_places(env_idx), self._draw_places(env_idx)
        buffer = self._draw(env_idx, ranges.cube_x, ranges.cube_y, ranges.cube_yaw)
        buffer[:, :2] += torch.tensor(BUFFER_PLACE, device=self.device)
        for slot, cube in enumerate(self.cubes):
            self._put(env_idx, cube, slot, start[:, slot])

        self.roles[env_idx] = shuffle.swapped_pair(self._draw(env_idx, (0.0, 1.0))[:, 0])
        self.segment_ends[env_idx] = shuffle.segment_ends(self._draw(env_idx, *ranges.durations))
        hesitation, self.expert_speed[env_idx] = self._draw(env_idx, ranges.hesitation, ranges.expert_speed).T
        ends = self.segment_ends[env_idx]
        self.go_frame[env_idx] = ends[:, -1] + torch.round(hesitation * CONTROL_RATE).int()
        if not self.whims:  # the teacher half-way home is seen to the frame, how long it has been there is not
            self.go_frame[env_idx] = (ends[:, -3] + ends[:, -2]) // 2
        home = torch.tensor(TEACHER_HOME, device=self.device).expand(count, 4)
        self._stops[env_idx] = shuffle.stops(home, start, end, buffer, self.roles[env_idx])
        path, fingers = shuffle.tool_path(self._stops[env_idx], self.segment_ends[env_idx], self._frames)
        arm = posture_pointing_down(_in_teacher_base(path))
        self._targets[env_idx] = torch.cat([arm, fingers[..., None].expand(-1, -1, 2)], dim=-1)
        self.teacher.reset(self._targets[env_idx, 0])
        self.teacher.follow(self._targets[env_idx, 0])
        self._progress = self._progress.restarted(env_idx)
        self._place_distractors(env_idx)

    def _set_home_posture(self, env_idx: torch.Tensor) -> None:
        """Draw the place where the robot waits and put it there, gripper closed."""
        ranges = self.ranges
        home = self._draw(env_idx, ranges.home_x, ranges.home_y, ranges.home_z, ranges.home_yaw)
        self.home[env_idx] = home
        if not self.station.is_panda:
            self._set_start_posture(env_idx, noise=0.0)
            return
        in_base = home - torch.tensor([*ROBOT_BASE.p, 0.0], device=self.device)
        fingers = torch.zeros((len(env_idx), 2), device=self.device)
        self.agent.reset(torch.cat([posture_pointing_down(in_base), fingers], dim=1))

    def _draw_places(self, env_idx: torch.Tensor) -> torch.Tensor:
        """Return one place for a cube in each slot: (len(env_idx), 3, 3), x, y (m) and yaw (rad)."""
        ranges = self.ranges
        drawn = self._draw(env_idx, *[ranges.cube_x, ranges.cube_y, ranges.cube_yaw] * len(SLOTS))
        places = drawn.reshape(len(env_idx), len(SLOTS), 3)
        places[..., :2] += self._slots
        return places

    def _put(self, env_idx: torch.Tensor, cube: Any, slot: int, place: torch.Tensor) -> None:
        """Stand `cube` at `place` (len(env_idx), 3): x, y (m), yaw (rad)."""
        x, y, yaw = place.T
        centre = torch.stack([x, y, torch.full_like(x, CUBE_HALF_SIZE)], dim=1)
        stand_cube(cube, centre, yaw)
        self._start[env_idx, slot] = centre

    def _before_control_step(self) -> None:
        # The observation after this step is the next frame: the teacher is to be where the path has it then.
        frame = torch.clamp(self.elapsed_steps + 1, max=self._frames - 1)
        self.teacher.follow(self._targets[torch.arange(self.num_envs, device=self.device), frame])

    def evaluate(self) -> dict[str, torch.Tensor]:
        """Return the state of the task: success, fail, completed stages, whether the shuffle has ended; all (N,)."""
        centres = torch.stack([cube.pose.p for cube in self.cubes], dim=1)
        segment = shuffle.segment_at(self.segment_ends, self.elapsed_steps)
        ended = segment >= shuffle.SEGMENTS
        astray, near = self._astray(centres, segment)
        height = centres[..., 2]
        self._progress = self._progress.after(
            ended, astray, near, height > WRONG_LIFT_HEIGHT, self._held_up(height > LIFT_HEIGHT)
        )
        return {
            "success": self._progress.success,
            "fail": self._progress.failure > 0,
            "completed_stages": self._progress.completed,
            "shuffle_ended": ended,
        }

    def _astray(self, centres: torch.Tensor, segment: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return whether a cube is not where the shuffle has it, and whether the robot is near; both (N,)."""
        every = torch.arange(self.num_envs, device=self.device)
        teacher, robot = self.teacher.tcp.pose.p, self.agent.tcp.pose.p
        still = self._start[every, self.roles[:, 2]]
        expected = shuffle.expected_places(self._stops, still, self.roles, segment, teacher)
        astray = torch.linalg.norm(centres - expected, dim=2) > ASTRAY
        touched = torch.linalg.norm(centres - robot[:, None], dim=2) < NEAR
        return astray.any(dim=1), (astray & touched).any(dim=1) | (torch.linalg.norm(teacher - robot, dim=1) < NEAR)

    def _held_up(self, high: torch.Tensor) -> torch.Tensor:
        """Return which of the cubes that are `high` (N, 3) are in the robot's grip."""
        if not high.any():  # contact forces cost time
            return high
        grasped = torch.stack([self.agent.is_grasping(cube) for cube in self.cubes], dim=1)
        return high & grasped

    @property
    def failure_reason(self) -> str:
        """Return what went wrong, in one environment."""
        return FAILURES[int(self._progress.failure[0])]

    def keyframes_until_now(self) -> list[tuple[int, int]]:
        """Return frame 0, A released in the buffer, and the fingers closed on B."""
        now = int(self.elapsed_steps[0])
        ends = self.segment_ends[0].tolist()
        frames = [0, ends[shuffle.PUT_ASIDE], ends[shuffle.GRASPED]]
        return [(phase, frame) for phase, frame in enumerate(frames) if frame <= now]

    def decisions_until_now(self) -> list[tuple[int, int]]:
        """Return the end of the shuffle: the slot in which the cube stands that was in the middle."""
        end = int(self.segment_ends[0, -1])
        if int(self.elapsed_steps[0]) < end:
            return []
        return [(end, int(shuffle.slots_at_end(self.roles)[0, MIDDLE]))]

    def detections(self) -> tuple[GroundTruthObject, ...]:
        """Return the cubes, named by the slots in which they started."""
        return tuple(
            GroundTruthObject(cube.name, "cube", "", to_pose(cube.pose, self.station.base), CUBE_SIZE)
            for cube in self.cubes
        )

    def _get_obs_extra(self, info: dict[str, Any]) -> dict[str, torch.Tensor]:
        extra = {"tcp_pose": self.agent.tcp.pose.raw_pose}
        if self.obs_mode_struct.use_state:
            extra["cube_poses"] = torch.cat([cube.pose.raw_pose for cube in self.cubes], dim=1)
            extra["teacher_tcp_pose"] = self.teacher.tcp.pose.raw_pose
            extra["shuffle_ended"] = info["shuffle_ended"]
        return extra


def _in_teacher_base(tool: torch.Tensor) -> torch.Tensor:
    """Return tool poses (..., 4) of the world, x, y, z and yaw, in the teacher's base frame.

    The yaw stays as it is: the base is turned by a quarter, which no cube's side can tell.
    """
    x, y, z, yaw = tool.unbind(-1)
    return torch.stack([y - TEACHER_BASE[1], TEACHER_BASE[0] - x, z, yaw], dim=-1)
