"""What answers a request for actions: the interface, and the backends that need no network."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.episode import Episode


class PolicyError(RuntimeError):
    """The policy cannot answer; the text says why and what to do."""


@dataclass(frozen=True, eq=False)
class PolicyInput:
    """What a policy is given.

    Attributes:
        frame: index of the current observation.
        images: ((third-person, wrist), ...), keyframes first and ascending, the current pair last;
            each (H, W, 3) uint8 RGB. Empty for a backend that does not look (`needs_images` is False).
        state: (S,) float64, of the robot in the space of the backend's actions, see `kc_vla.core.codec`.
        instruction: natural language.
        frozen: (d, D) float32, the actions that run while the policy thinks; its answer should begin with them.
    """

    frame: int
    images: Sequence[tuple[NDArray[np.uint8], NDArray[np.uint8]]]
    state: NDArray[np.float64]
    instruction: str
    frozen: NDArray[np.float32]


class Backend(Protocol):
    """A policy. `reset` comes before the first `infer` of an episode.

    Attributes:
        name: of the backend.
        needs_keyframes: it answers only where it is settled which keyframes there are; a person remembers himself.
        needs_images: it looks at them, and at the current pair.
        action_type: what the numbers of its actions mean.
        names: of its columns.
    """

    name: str
    needs_keyframes: bool
    needs_images: bool
    action_type: ActionType
    names: tuple[str, ...]

    def reset(self, episode: Episode) -> None:
        """Begin an episode."""
        ...

    async def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Return the next actions, (horizon, dimension) float32, row 0 for `given.frame`; raise `PolicyError`."""
        ...


class ReplayBackend:
    """Plays the actions of a recorded episode, step by step, whatever it sees."""

    name = "replay"
    needs_keyframes = True
    needs_images = False
    action_type = ActionType.TOOL_DELTA
    names: tuple[str, ...] = TOOL_DELTA_NAMES

    def __init__(self, actions: NDArray[np.float32], horizon: int) -> None:
        """Args: `actions` (T, 7) by control step; `horizon` of the chunks, 1 or more."""
        if actions.ndim != 2 or actions.shape[1] != len(TOOL_DELTA_NAMES) or len(actions) == 0:
            raise PolicyError(f"the recorded actions have shape {actions.shape}: expected (steps, 7)")
        self._actions = actions.astype(np.float32)
        self._horizon = horizon

    def reset(self, episode: Episode) -> None:
        """Nothing is remembered."""

    async def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Return the recorded actions from `given.frame` on; after the last one the arm stands still."""
        rows = self._actions[given.frame : given.frame + self._horizon]
        still = np.zeros((self._horizon - len(rows), rows.shape[1]), np.float32)
        still[:, -1] = self._actions[-1, -1]  # the gripper stays as it was
        return np.concatenate([rows, still])


class ExpertBackend:
    """Asks an expert that sees what no camera shows: the simulator's own state."""

    name = "expert"
    needs_keyframes = True
    needs_images = False
    action_type = ActionType.TOOL_DELTA
    names: tuple[str, ...] = TOOL_DELTA_NAMES

    def __init__(self, ask: Callable[[int, int], Awaitable[NDArray[np.float32]]], horizon: int) -> None:
        """Args: `ask(frame, horizon)` gives (horizon, 7) float32; `horizon` of the chunks, 1 or more."""
        self._ask = ask
        self._horizon = horizon

    def reset(self, episode: Episode) -> None:
        """Nothing is remembered: the expert reads the simulator's state each time."""

    async def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Return the expert's plan from `given.frame` on."""
        return await self._ask(given.frame, self._horizon)
