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
from kc_vla.inference.worker import Outcome, OutdatedError, Runner
from kc_vla.policy.backends import BACKENDS, BackendSettings, open_backend
from kc_vla.policy.interface import Backend, Closing, PolicyError
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
class Seat:
    """Where one who drives sits.

    Attributes:
        backend: it gives the actions.
        codec: of its state and actions.
        work: does what it is asked.
    """

    backend: Backend
    codec: Codec
    work: Runner


class Driving:
    """Of a node that is starting; StartError where a backend cannot be used."""

    def __init__(
        self, node: StackNode, settings: BackendSettings, values: PolicyParameters, newest: Callable[[], int]
    ) -> None:
        """Args: what the backends are made with; which, and how long they are waited for; index of the newest frame."""
        self._node, self._newest, self._values, self._episode = node, newest, values, ""
        self._take_over: TakeOver | None = None
        self._missed, self._before = False, 0
        person = values.takeover
        if person != NOBODY and values.backend in PEOPLE:
            raise StartError(f"takeover: with the backend '{values.backend}' a person drives already: leave it out")
        self._policy = self._person = self._seat(values.backend, settings)
        if person != NOBODY:
            self._person = self._seat(person, settings)
            take_over = TakeOver(cast(Person, self._person.backend), settings.rig, newest, self._on_change)
            self._drivers = node.advertise(Driver, topics.DRIVER, qos.EVENT_LOG)
            kind, topic, told = OFFERS["joy"]
            node.subscribe(kind, topic, lambda message: take_over.offer(*told(message)), qos.STATE)
            node.every(_LOOK_S, self._look)
            self._take_over = take_over

    @property
    def seat(self) -> Seat:
        """Of the one who drives."""
        return self._policy if self._driver is Who.POLICY else self._person

    @property
    def policy(self) -> Seat:
        """Of the policy, whoever drives."""
        return self._policy

    @property
    def turn(self) -> int:
        """What was asked for in another turn is void."""
        return 0 if self._take_over is None else self._take_over.turn

    def require(self, turn: int) -> None:
        """Raise OutdatedError where somebody else drives than in that turn."""
        if turn != self.turn:
            raise OutdatedError("somebody else drives by now")

    def begin(self, episode: Episode, on_reset: Callable[[Outcome[str]], None]) -> None:
        """An episode begins; the policy drives. `on_reset` is told what became of its `reset`."""
        self._episode, self._before = episode.id, 0
        self._policy.work.begin(partial(self._policy.backend.reset, episode), on_reset)
        if self._take_over is not None:
            self._take_over.begin(episode)
            self._tell()

    def end(self) -> None:
        """The episode is over."""
        if self._take_over is not None:
            self._take_over.end()

    def asked(self, sequence: int, frame: int) -> None:
        """Chunk `sequence` of the episode is asked for, from `frame` on: the frames before it are over."""
        self._before = max(self._before, frame - 1)
        if self._take_over is not None:
            self._take_over.asked(sequence)

    def gave(self, frame: int, actions: NDArray[np.float32]) -> None:
        """The one who drives has answered with these actions, from `frame` on."""
        if self._take_over is not None:
            self._take_over.gave(frame, self.seat.backend.action_type, actions)

    def close(self) -> None:
        """Leave a backend that thinks to itself."""
        self._policy.work.close()
        if isinstance(self._policy.backend, Closing):
            self._policy.backend.close()

    def details(self) -> dict[str, object]:
        """What the diagnostics tell."""
        if self._take_over is None:
            return {}
        return {"driver": self._driver.name.lower(), "takeover": "ready" if self._take_over.ready else "no gamepad"}

    @property
    def _driver(self) -> Who:
        return Who.POLICY if self._take_over is None else self._take_over.driver

    def _seat(self, name: str, settings: BackendSettings) -> Seat:
        try:
            backend = open_backend(name, settings)
        except PolicyError as error:
            raise StartError(str(error)) from error
        at_once, told = BACKENDS[name].at_once, f"the policy '{name}'"
        work = runner(self._node, at_once, told, deadline_s=self._values.wait_timeout, refusals=(PolicyError,))
        return Seat(backend, Codec(settings.rig, backend.action_type), work)

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
        """Nobody shall count on a gamepad that is not there."""
        missed = self._take_over is not None and not self._take_over.ready
        if missed and not self._missed:
            self._node.get_logger().warning(f"nothing comes from the gamepad or keyboard: {_UNHEARD[self._driver]}")
        elif self._missed and not missed:
            self._node.get_logger().info("the gamepad or keyboard is there")
        self._missed = missed
