"""A recorded episode as a policy."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kc_vla.bags.errors import BagReadError
from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot, robot_of
from kc_vla.core.topics import JOINT_STATES
from kc_vla.episodes.episode import RecordedEpisode, recorded_actions
from kc_vla.policy.interface import PolicyError, PolicyInput


class ReplayedEpisode(NamedTuple):
    """The episode that actions are of."""

    task: str
    seed: int
    variant: str

    def __str__(self) -> str:
        variant = f" variant:={self.variant}" if self.variant else ""
        return f"task:={self.task} seed:={self.seed}{variant}"


class ReplayBackend:
    """Plays the actions of a recorded episode, step by step, whatever it sees."""

    name = "replay"
    needs_keyframes = True
    needs_images = False
    needs_plan = False
    action_type = ActionType.TOOL_DELTA
    names: tuple[str, ...] = TOOL_DELTA_NAMES

    def __init__(self, actions: NDArray[np.float32], horizon: int, played: ReplayedEpisode | None = None) -> None:
        """Take the actions of a recorded episode.

        Args:
            actions: (T, 7) by control step.
            horizon: of the chunks, 1 or more.
            played: the episode that they are of.
        """
        if actions.ndim != 2 or actions.shape[1] != len(TOOL_DELTA_NAMES) or len(actions) == 0:
            raise PolicyError(f"the recorded actions have shape {actions.shape}: expected (steps, 7)")
        self._actions = actions.astype(np.float32)
        self._horizon = horizon
        self._played = played

    def reset(self, episode: Episode) -> str:
        """Do nothing, as the actions of one episode are of no use in another."""
        here = ReplayedEpisode(episode.task, episode.seed, episode.variant)
        if self._played is None or self._played == here:
            return ""
        return f"the bag is of {self._played}, this episode is {here}: the actions of the one are not for the other"

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Return the recorded actions from `given.frame` on; after the last one the arm stands still."""
        rows = self._actions[given.frame : given.frame + self._horizon]
        still = np.zeros((self._horizon - len(rows), rows.shape[1]), np.float32)
        still[:, -1] = self._actions[-1, -1]  # the gripper stays as it was
        return np.concatenate([rows, still])


def open_recording(bag: str, horizon: int, robot: Robot) -> ReplayBackend:
    """Return the episode in the folder or file `bag`, for `robot`.

    Raises:
        PolicyError: there is none that can be played, or it is of another robot.
    """
    if not bag:
        raise PolicyError("backend 'replay' needs the parameter 'bag': the folder of a recorded episode")
    try:
        played = RecordedEpisode(Path(bag).expanduser())
        _check_robot(played, robot)
        actions = recorded_actions(played)
        return ReplayBackend(
            actions, horizon, ReplayedEpisode(played.status.task, played.status.seed, played.status.variant)
        )
    except (BagReadError, PolicyError) as error:
        raise PolicyError(f"nothing to replay: {error}") from error


def _check_robot(played: RecordedEpisode, robot: Robot) -> None:
    """Raise PolicyError where the recorded joints are those of another robot.

    Joints of no robot of the stack are accepted.
    """
    _, felt = next(played.recording.walk(JOINT_STATES), (JOINT_STATES, None))
    if felt is None or robot.is_called(felt.name):
        return
    if (recorded := robot_of(felt.name)) is not None:
        raise PolicyError(
            f"{played.bag} is of a '{recorded.name}', this robot is a '{robot.name}': what one did is not for the other"
        )
