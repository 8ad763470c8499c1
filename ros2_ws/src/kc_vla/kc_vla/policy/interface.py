"""What answers a request for actions: what it is given, and what it has to be."""

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
    """Nor will it in this episode, however often it is asked."""


@dataclass(frozen=True, eq=False)
class Proprioception:
    """The measured state of the robot at one stamp, whatever its actions are.

    Attributes:
        pose: (7,) float64, of the tool in the base frame: x, y, z (m), quaternion x, y, z, w.
        joints: (N + G,) float64, of the arm and the gripper, rad and m.
    """

    pose: NDArray[np.float64]
    joints: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RememberedFrame:
    """A moment that is remembered.

    Attributes:
        frame: index of its observation.
        views: what the cameras saw.
        state: (S,) float64, as `PolicyInput.state`.
        felt: what `state` is made of, for a backend that says it otherwise; None if it is not known.
    """

    frame: int
    views: Views
    state: NDArray[np.float64]
    felt: Proprioception | None = None


@dataclass(frozen=True, eq=False)
class PolicyInput:
    """What a policy is given.

    Attributes:
        frame: index of the current observation.
        views: what the cameras see now; empty for a backend that does not look (`needs_images` is False).
        keyframes: ascending, without the current frame; empty for such a backend.
        state: (S,) float64, of the robot in the space of the backend's actions, see `kc_vla.core.codec`.
        instruction: natural language.
        frozen: (d, D) float32, the actions that run while the policy thinks; its answer should begin with them.
        plan: (horizon, 7) float32, what the simulator's expert would do from here; None if not asked for.
        felt: as that of `RememberedFrame`.
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
    """Return at most so many, 1 or more: the first keyframe, which never leaves, and the newest ones."""
    if len(keyframes) <= most:
        return keyframes
    return [keyframes[0], *keyframes[len(keyframes) - most + 1 :]]


class Backend(Protocol):
    """A policy. `reset` comes before the first `infer` of an episode.

    Both may compute and wait for as long as they need: they are called from a thread that does nothing else, one call
    at a time, unless the backend's row in `kc_vla.policy.backends` says that it is `inline`.

    Attributes:
        name: of the backend.
        needs_keyframes: it answers only where it is settled which keyframes there are; a person remembers them anyway.
        needs_images: it looks at them, and at the current images.
        needs_plan: it wants to know what the simulator's expert would do.
        action_type: what the numbers of its actions mean.
        names: of its columns.
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
            What a user should know of it, mostly nothing.

        Raises:
            PolicyError: the policy cannot act in this episode.
        """
        ...

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Compute the next chunk of actions.

        Args:
            given: the present observation, the keyframes and the instruction.

        Returns:
            (horizon, dimension) float32, row 0 for `given.frame`.

        Raises:
            PolicyError: there is no answer.
        """
        ...


@runtime_checkable
class ClosableBackend(Protocol):
    """A backend that holds something for as long as the node runs."""

    def close(self) -> None:
        """Release what the backend holds."""
        ...
