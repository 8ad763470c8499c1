"""The protocol of policy backends, and the data that they get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType
from kc_vla.core.episode import Episode
from kc_vla.core.errors import StackError
from kc_vla.core.views import Views


class PolicyError(StackError):
    """The policy cannot answer; the text says why and what to do."""


class UnfitPolicyError(PolicyError):
    """The policy can answer no request in this episode; another request would fail, too."""


@dataclass(frozen=True, eq=False)
class Proprioception:
    """The measured state of the robot at one stamp, in both spaces of actions.

    Attributes:
        pose: pose (7,) float64 of the tool in the base frame: x, y, z (m), quaternion x, y, z, w.
        joints: joints (N + G,) float64 of the arm and the gripper, rad and m.
    """

    pose: NDArray[np.float64]
    joints: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RememberedFrame:
    """A keyframe with its observation.

    Attributes:
        frame: index of the frame.
        views: images of the cameras.
        state: state (S,) float64, as in `PolicyInput.state`.
        felt: measured state from which `state` was computed, for a backend with another form; None if unknown.
    """

    frame: int
    views: Views
    state: NDArray[np.float64]
    felt: Proprioception | None = None


@dataclass(frozen=True, eq=False)
class PolicyInput:
    """The input of a policy for one chunk.

    Attributes:
        frame: index of the present frame.
        views: present images; empty for a backend with `needs_images` False.
        keyframes: keyframes in ascending order, without the present frame; empty if `needs_images` is False.
        state: state (S,) float64 of the robot in the space of the backend's actions, see `kc_vla.core.codec`.
        instruction: instruction in natural language.
        frozen: actions (d, D) float32 that the arm executes until the chunk comes. The chunk should begin with them.
        plan: actions (horizon, 7) float32 of the simulator's expert from this frame on; None if `needs_plan` is False.
        felt: measured state, as in `RememberedFrame`.
    """

    frame: int
    views: Views
    keyframes: Sequence[RememberedFrame]
    state: NDArray[np.float64]
    instruction: str
    frozen: NDArray[np.float32]
    plan: NDArray[np.float32] | None = None
    felt: Proprioception | None = None


def first_and_newest(keyframes: Sequence[RememberedFrame], most: int) -> Sequence[RememberedFrame]:
    """Return at most `most` (1 or more) keyframes: the first one and the newest ones."""
    if len(keyframes) <= most:
        return keyframes
    return [keyframes[0], *keyframes[len(keyframes) - most + 1 :]]


class Backend(Protocol):
    """A policy. `reset` is called before the first `infer` of an episode.

    Both methods may compute and wait. The node calls them in a thread of their own, one call at a time, unless the
    backend's row in `kc_vla.policy.backends` says `inline`.

    Attributes:
        name: name of the backend.
        needs_keyframes: whether a request has to wait until the selector has decided on all frames up to its frame.
        needs_images: whether the backend gets images and keyframes.
        needs_plan: whether the backend gets the plan of the simulator's expert.
        action_type: meaning of the numbers of an action.
        names: names of the columns of an action.
    """

    name: str
    needs_keyframes: bool
    needs_images: bool
    needs_plan: bool
    action_type: ActionType
    names: tuple[str, ...]

    def reset(self, episode: Episode) -> str:
        """Begin an episode.

        Returns:
            A line for the user; mostly empty.

        Raises:
            PolicyError: The policy cannot act in this episode.
        """
        ...

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Compute the next chunk of actions.

        Args:
            given: the present observation, the keyframes and the instruction.

        Returns:
            (horizon, dimension) float32, row 0 for `given.frame`.

        Raises:
            PolicyError: The policy cannot compute a chunk.
        """
        ...


@runtime_checkable
class ClosableBackend(Protocol):
    """A backend with a resource, such as a connection, that it releases when the node ends."""

    def close(self) -> None:
        """Release the backend's resources."""
        ...
