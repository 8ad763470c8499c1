"""A policy that is a client with trajectories, such as MoveIt: the arm follows them, and stays where it is between."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType
from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot, Vector
from kc_vla.policy.interface import PolicyInput
from kc_vla.policy.options import TrajectoryOptions
from kc_vla.policy.trajectory.executor import TrajectoryExecutor
from kc_vla.policy.trajectory.gripper_run import GripperRun, checked_width

_ROWS = 20
"""Actions of a chunk, longer than an answer takes on a busy machine; an arm that hears nothing more comes to rest."""
_LONGEST_GAP = 20
"""Control steps between two requests after which the arm may have been moved otherwise."""


class TrajectoryBackend:
    """Turns the motion that clients ask for into chunks.

    They reach the arm on the way that a network's actions take, with the same limits, holds and stops.

    Attributes:
        robot: of the arm.
        options: tolerances.
        executor: follows the trajectories of the joints.
        gripper: the gripper goal that was accepted last; None before the first.
    """

    name = "trajectory"
    needs_keyframes = False
    needs_images = False
    needs_plan = False
    action_type = ActionType.JOINT_POSITION

    def __init__(self, robot: Robot, options: TrajectoryOptions) -> None:
        """Begin without a motion."""
        self.names = robot.names
        self.robot, self.options = robot, options
        self.executor = TrajectoryExecutor(robot, options)
        self.gripper: GripperRun | None = None
        self._fingers: Vector | None = None
        self._sent_fingers: Vector | None = None  # with the chunk before
        self._start_s = self._period_s = 0.0
        self._frame = 0

    def reset(self, episode: Episode) -> str:
        """Begin an episode: nothing that was asked for before counts."""
        self.interrupt("the episode is over")
        self._start_s, self._period_s = episode.start_ns * 1e-9, episode.period_ns * 1e-9
        self._fingers, self._sent_fingers, self._frame = None, None, 0
        return ""

    def interrupt(self, text: str, share: float | None = None) -> None:
        """Give up what clients have asked for, and stay where the arm is from then on.

        Args:
            text: reason and what to do, in one line.
            share: how far a person who moves the arm meanwhile has commanded the gripper to be open, 0..1; None where
                nobody has.
        """
        self.executor.interrupt(text)
        if self.gripper is not None and not self.gripper.is_over:
            self.gripper.refusal = text
            self._fingers = self._sent_fingers  # what the arm was not sent yet is not made up for
        if share is not None:
            self._fingers = self._apart(share * self.robot.opening)

    def grip(self, width: float, now_s: float) -> GripperRun:
        """Accept a gripper goal; it replaces the running one.

        Args:
            width: between the fingers, m.
            now_s: time, s.

        Raises:
            TrajectoryError: the gripper cannot be so wide open.
        """
        run = GripperRun(checked_width(width, self.robot), now_s)
        if self.gripper is not None and not self.gripper.is_over:
            self.gripper.refusal = "a newer gripper goal has replaced this one"
        self._fingers = self._apart(run.width)
        self.gripper = run
        return run

    def release_grip(self, run: GripperRun) -> None:
        """Leave the gripper where it is, because the client has canceled."""
        if run is self.gripper and not run.is_over:
            run.refusal = "canceled: the gripper stays as it is"
            self._fingers = self._sent_fingers = None

    def measure(self, stamp_s: float, positions: Vector, velocities: Vector) -> None:
        """Take in a measured state.

        Args:
            stamp_s: its stamp, s.
            positions: of the joints and the gripper's, (N + G,), rad and m.
            velocities: likewise, rad/s and m/s.
        """
        joints = len(self.robot.joints)
        self.executor.measure(stamp_s, positions[:joints], velocities[:joints])
        if self.gripper is not None:
            self.gripper.measure(stamp_s, float(self.robot.gripper_opening(positions)))

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Return where the joints and the gripper are to be at the end of each control step from `given.frame` on."""
        if given.frame - self._frame > _LONGEST_GAP:
            self.interrupt("the arm's controller has asked for no set-points meanwhile: send it again")
        self._frame = given.frame
        joints = len(self.robot.joints)
        if self._fingers is None:
            self._fingers = np.array(given.state[joints:], float)
        self._sent_fingers = self._fingers
        times = np.array([self._start_s + (given.frame + 1 + row) * self._period_s for row in range(_ROWS)])
        rows = self.executor.desired(times, given.state[:joints])
        return np.concatenate([rows, np.tile(self._fingers, (_ROWS, 1))], axis=1).astype(np.float32)

    def _apart(self, width: float) -> Vector:
        """Return the positions (G,), m, of the gripper's joints for a width, m."""
        return np.full(len(self.robot.gripper), width / len(self.robot.gripper))
