"""Who answers the requests for chunks: the policy or, where one may take over from it, the person who drives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from kc_vla.core import topics
from kc_vla.core.codec import Codec
from kc_vla.core.driver import Driver as Who
from kc_vla.core.episode import Episode
from kc_vla.core.options import OptionError
from kc_vla.inference.worker import JobOutcome, OutdatedError, Runner
from kc_vla.policy.backends import BACKENDS, PolicyContext, open_backend
from kc_vla.policy.interface import Backend, ClosableBackend, PolicyError
from kc_vla.policy.takeover import PEOPLE, Person, TakeOver
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.policy_parameters import NOBODY, PolicyParameters
from kc_vla.ros.streams import OFFERS
from kc_vla.ros.work import runner
from kc_vla_msgs.msg import Driver

_LOOK_S = 1.0
"""Between two looks whether the person's device is there."""
_HOW = {Who.POLICY: "the policy drives", Who.PERSON: "a person drives; RB, or p of the keyboard, hands back"}

_UNHEARD = {Who.POLICY: "nobody can take over", Who.PERSON: "nobody can hand back"}


@dataclass(frozen=True, eq=False)
class ActionProvider:
    """Where one who drives sits.

    Attributes:
        backend: it gives the actions.
        codec: of its state and actions.
        work: does what it is asked.
    """

    backend: Backend
    codec: Codec
    work: Runner


class ControlAuthority:
    """The choice between the policy and the person who may take over, for each request of a chunk."""

    def __init__(
        self, node: StackNode, context: PolicyContext, values: PolicyParameters, newest: Callable[[], int]
    ) -> None:
        """Open the backends of a node that is starting.

        Args:
            node: of the policy server.
            context: that the backends are made with.
            values: which backends, and how long they are waited for.
            newest: returns the index of the newest frame.

        Raises:
            StartError: a backend cannot be used.
        """
        self._node, self._newest, self._values, self._episode = node, newest, values, ""
        self._take_over: TakeOver | None = None
        self._missed, self._before = False, 0
        person = values.takeover
        if person != NOBODY and values.backend in PEOPLE:
            raise StartError(f"takeover: with the backend '{values.backend}' a person drives already: leave it out")
        self._policy = self._person = self._seat(values.backend, context)
        if person != NOBODY:
            self._person = self._seat(person, context)
            take_over = TakeOver(cast(Person, self._person.backend), context.robot, newest, self._on_change)
            self._drivers = node.advertise(Driver, topics.DRIVER, qos.EVENT_LOG)
            kind, topic, told = OFFERS["joy"]
            node.subscribe(kind, topic, lambda message: take_over.offer(*told(message)), qos.STATE)
            node.every(_LOOK_S, self._look)
            self._take_over = take_over

    @property
    def seat(self) -> ActionProvider:
        """Return the backend that drives now, with its codec and worker."""
        return self._policy if self._driver is Who.POLICY else self._person

    @property
    def policy(self) -> ActionProvider:
        """Return the policy's backend, with its codec and worker, also while a person is in control."""
        return self._policy

    @property
    def turn(self) -> int:
        """Return the number of the present turn; what was asked for in another one is void."""
        return 0 if self._take_over is None else self._take_over.turn

    @property
    def by_person(self) -> bool:
        """Return whether a person is in control."""
        return self._driver is Who.PERSON

    @property
    def gripper_share(self) -> float | None:
        """Return how far the gripper is commanded to be open, 0..1; None where that is not known."""
        return None if self._take_over is None else self._take_over.commanded_share()

    def require(self, turn: int) -> None:
        """Raise OutdatedError if the control has changed since that turn."""
        if turn != self.turn:
            raise OutdatedError("another client has control by now")

    def begin(self, episode: Episode, on_reset: Callable[[JobOutcome[str]], None]) -> None:
        """Begin an episode with the policy in control; `on_reset` gets the outcome of its `reset`."""
        self._episode, self._before = episode.id, 0
        self._policy.work.begin(partial(self._policy.backend.reset, episode), on_reset)
        if self._take_over is not None:
            self._take_over.begin(episode)
            self._tell()

    def end(self) -> None:
        """End the episode."""
        if self._take_over is not None:
            self._take_over.end()

    def asked(self, sequence: int, frame: int) -> None:
        """Note that chunk `sequence` of the episode is asked for, from `frame` on: the frames before it are over."""
        self._before = max(self._before, frame - 1)
        if self._take_over is not None:
            self._take_over.asked(sequence)

    def gave(self, frame: int, actions: NDArray[np.float32]) -> None:
        """Note the actions, from `frame` on, with which the one in control has answered."""
        if self._take_over is not None:
            self._take_over.gave(frame, self.seat.backend.action_type, actions)

    def close(self) -> None:
        """Leave a backend that thinks to itself."""
        self._policy.work.close()
        if isinstance(self._policy.backend, ClosableBackend):
            self._policy.backend.close()

    def details(self) -> dict[str, object]:
        """Return what the diagnostics report."""
        if self._take_over is None:
            return {}
        return {"driver": self._driver.name.lower(), "takeover": "ready" if self._take_over.ready else "no gamepad"}

    @property
    def _driver(self) -> Who:
        return Who.POLICY if self._take_over is None else self._take_over.driver

    def _seat(self, name: str, context: PolicyContext) -> ActionProvider:
        try:
            backend = open_backend(name, context, self._values.options_of(name))
        except (PolicyError, OptionError) as error:
            raise StartError(str(error)) from error
        inline, told = BACKENDS.get(name).inline, f"the policy '{name}'"
        work = runner(self._node, inline, told, deadline_s=self._values.wait_timeout, refusals=(PolicyError,))
        return ActionProvider(backend, Codec(context.robot, backend.action_type), work)

    def _on_change(self, why: str) -> None:
        self._node.problem("")
        self._node.get_logger().info(f"{why}: {_HOW[self._driver]}")
        self._tell()

    def _tell(self) -> None:
        message = Driver(
            episode_id=self._episode,
            sequence=self.turn,
            frame_index=max(self._before, self._newest()),  # one that was started again has seen nothing yet
            driver=int(self._driver),
            device=self._values.takeover,
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._drivers.publish(message)

    def _look(self) -> None:
        """Log when the gamepad goes or comes, so that nobody counts on one that is not there."""
        missed = self._take_over is not None and not self._take_over.ready
        if missed and not self._missed:
            self._node.get_logger().warning(f"nothing comes from the gamepad or keyboard: {_UNHEARD[self._driver]}")
        elif self._missed and not missed:
            self._node.get_logger().info("the gamepad or keyboard is there")
        self._missed = missed
