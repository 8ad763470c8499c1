"""One policy for all clients: what each has shown is kept apart, and one request is thought about at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType
from kc_vla.core.episode import Episode
from kc_vla.core.errors import StackError
from kc_vla.policy.interface import Backend, PolicyInput, RememberedFrame
from kc_vla.policy.remote.mapping import Arrays, Key, PolicyMapping
from kc_vla.policy.remote.path import RobotPose, state_of


class ServingError(StackError):
    """This policy cannot be served so; the text says why and what to do."""


_NUMBERS = count()


@dataclass(eq=False)
class Client:
    """A client that asks the policy.

    Attributes:
        kept: keyframes that it has shown, by their number.
        asked: requests since the episode began.
        first: what it showed first in the episode: always a keyframe, as in the stack.
        episode: number of the episode.
    """

    kept: dict[int, RememberedFrame] = field(default_factory=dict)
    asked: int = 0
    first: RememberedFrame | None = None
    episode: int = field(default_factory=lambda: next(_NUMBERS))

    def begin(self) -> None:
        """Begin another episode."""
        self.kept.clear()
        self.asked, self.first, self.episode = 0, None, next(_NUMBERS)


class Served:
    """One policy that answers all clients.

    Its methods may be called from any thread, those of one client one at a time.
    """

    def __init__(self, backend: Backend, mapping: PolicyMapping, slots: int) -> None:
        """Check that a policy can be served by a mapping.

        Args:
            backend: that makes the actions.
            mapping: of its robot.
            slots: keyframes that it attends to at most.

        Raises:
            ServingError: the mapping does not have what the policy needs, or has no place for its actions.
        """
        self.mapping, self.slots = mapping, slots
        self._backend = backend
        self._lock = threading.Lock()  # guards the backend
        self._episode = -1  # that it thinks about
        _check(backend, mapping)

    def seen(self, arrays: Mapping[Key, Any], frame: int) -> tuple[RememberedFrame, RobotPose]:
        """Return a moment that a client shows, and where the robot was.

        Raises:
            WireError: it is not as the mapping says.
        """
        views, body = self.mapping.seen(arrays)
        return RememberedFrame(frame, views, state_of(body, self._backend.action_type, self.mapping.robot)), body

    def answer(
        self,
        client: Client,
        now: RememberedFrame,
        body: RobotPose,
        keyframes: Sequence[RememberedFrame],
        text: str,
        frozen: NDArray[np.float32],
    ) -> tuple[Arrays, float]:
        """Return the actions as the client has them, arrays (H, D), and how many seconds the policy took.

        Args:
            client: who asks.
            now: the present.
            body: where the robot is.
            keyframes: before it, oldest first.
            text: instruction.
            frozen: (d, A) actions of the stack that run already.

        Raises:
            PolicyError: the policy has no answer.
        """
        with self._lock:
            began = time.perf_counter()
            if self._episode != client.episode:
                period_ns = round(1e9 / self.mapping.robot.control_rate)
                self._backend.reset(Episode(f"served-{client.episode}", "", text, 0, period_ns, True))
                self._episode = client.episode
            given = PolicyInput(now.frame, now.views, keyframes, now.state, text, frozen)
            actions = self._backend.infer(given)
            took = time.perf_counter() - began
        client.asked += 1
        return self.mapping.given(actions.astype(float), body), took

    def frozen(self, arrays: Mapping[Key, Any], body: RobotPose) -> NDArray[np.float32]:
        """Return what runs already, as actions of the stack (d, A); WireError where it is not as the mapping says."""
        return self.mapping.taken(arrays, body)


def remembered(client: Client, now: RememberedFrame) -> list[RememberedFrame]:
    """Return the keyframes of a client that shows none: the observation that it showed first."""
    if client.first is None:
        client.first = now
        return []
    return [client.first]


def nothing_frozen() -> NDArray[np.float32]:
    """Return the frozen actions of a client that does not say what runs: none."""
    return np.empty((0, 0), np.float32)


def _check(backend: Backend, mapping: PolicyMapping) -> None:
    name = mapping.name
    if backend.needs_plan:
        raise ServingError(f"the policy '{backend.name}' asks a simulator: it cannot be served")
    if backend.action_type is not mapping.action_type:
        told = backend.action_type.name.lower(), mapping.action_type.name.lower()
        raise ServingError(f"the policy gives {told[0]}, the mapping '{name}' has {told[1]}: choose another --mapping")
    kinds = {part.kind for parts in mapping.state.values() for part in parts}
    needed = {"position", "rotation"} if backend.action_type is ActionType.TOOL_DELTA else {"joints"}
    if missing := sorted({*needed, "gripper"} - kinds):
        raise ServingError(f"the mapping '{name}' has no {', '.join(missing)} in its state: the policy needs them")
    if len(mapping.actions) != 1 and mapping.speaks == "openpi":
        raise ServingError(f"the mapping '{name}' has {len(mapping.actions)} arrays of actions: openpi has one")
