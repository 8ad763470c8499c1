"""What the bridge asks of a simulator. One that does this is a file of its own and a row of `simulators`."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kc_vla.core.tasks import Task
from kc_vla_sim.errors import BadSeedError
from kc_vla_sim.frame import CameraModel, GroundTruthKeyframe, SimulatedFrame

LARGEST_SEED = 2**32 - 1


class Expert(Protocol):
    """Plans actions for one task; it sees the simulator's state as it is when asked.

    It is made with the environment alone, for each episode: `Expert(world)`.
    """

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        """Return the next `horizon` tool deltas (horizon, 7) from the present state, and the name of the present phase.

        Nothing is stepped and nothing is remembered: asked twice in one state, it answers the same. What the phases
        mean is in `kc_vla_sim.experts.phases`; another name has no meaning.

        Raises:
            ValueError: `horizon` is below 1.
        """
        ...


class Simulation(Protocol):
    """One robot, one task at a time, 20 control steps a second of simulated time.

    The same task and seed give the same episode on one machine.
    """

    def reset(self, task: str, seed: int) -> SimulatedFrame:
        """Begin a new episode of `task` and return its frame 0.

        Raises:
            UnknownTaskError: `task` is not in the task table.
            UnplayedTaskError: this simulator does not play it.
            BadSeedError: the seed is no whole number in 0..2**32-1.
        """
        ...

    def step(self, tool_delta: ArrayLike) -> SimulatedFrame:
        """Move the tool for one control step (50 ms).

        Args:
            tool_delta: (7,): dx, dy, dz (m) and rotation vector (rad) in the robot's base frame, gripper 0..1.

        Raises:
            BadActionError: not seven finite numbers; nothing moves.
            EpisodeOverError: no episode is running.
        """
        ...

    def step_joints(self, positions: ArrayLike) -> SimulatedFrame:
        """Drive the joints towards `positions`, in the order of `SimulatedFrame.joint_names`, for one control step.

        Raises:
            BadActionError: not one finite number a joint; nothing moves.
            EpisodeOverError: no episode is running.
        """
        ...

    def hold(self) -> SimulatedFrame:
        """Stay in place for one control step, with the gripper as last commanded.

        Raises:
            EpisodeOverError: no episode is running.
        """
        ...

    @property
    def task(self) -> Task | None:
        """Return the task of the present episode; None before the first reset."""
        ...

    @property
    def expert(self) -> Expert:
        """Return the expert of the present episode.

        Raises:
            EpisodeOverError: before the first reset.
        """
        ...

    @property
    def keyframes(self) -> tuple[GroundTruthKeyframe, ...]:
        """Return the ground-truth keyframes of the present episode so far, in order."""
        ...

    @property
    def cameras(self) -> tuple[CameraModel, ...]:
        """Return the camera of each view of the frames, in their order.

        Raises:
            EpisodeOverError: before the first reset.
        """
        ...

    def close(self) -> None:
        """Release everything; a later reset begins anew."""
        ...


@runtime_checkable
class DrawsOnDemand(Protocol):
    """A simulator that need not draw the frames that nobody looks at; the bridge asks it to."""

    draws: bool
    """Whether the frames from now on have images."""

    def redrawn(self, frame: SimulatedFrame) -> SimulatedFrame:
        """Return the present `frame` with images, also one that was not drawn."""
        ...


def check_seed(seed: int) -> int:
    """Return `seed` as an int, or raise a `BadSeedError`."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= LARGEST_SEED:
        raise BadSeedError(f"bad seed {seed!r}: a seed is a whole number from 0 to {LARGEST_SEED}")
    return int(seed)
