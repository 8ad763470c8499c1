"""The end of the program that drives: `with ExternalClient(path) as client: ...`. Needs neither ROS nor torch."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.policy.driven.server import PROTOCOL
from kc_vla.policy.driven.wire import Arrays, ExternalWireError, receive, send


@dataclass(frozen=True)
class RobotInfo:
    """What is driven.

    Attributes:
        name: what data sets call it.
        state: names of the numbers of a state.
        action: of an action.
        rate: control steps per second.
        views: height and width of each view's images, px.
    """

    name: str
    state: tuple[str, ...]
    action: tuple[str, ...]
    rate: float
    views: dict[str, tuple[int, int]]


@dataclass(frozen=True, eq=False)
class ExternalObservation:
    """A moment.

    Attributes:
        number: counts moments.
        episode: id of the stack's episode.
        frame: of it.
        instruction: of it.
        age: how long ago the stack showed it, s.
        state: (S,) float64.
        views: images (H, W, 3) uint8 RGB.
    """

    number: int
    episode: str
    frame: int
    instruction: str
    age: float
    state: NDArray[np.float64]
    views: dict[str, NDArray[np.uint8]]


class ExternalClient:
    """A connection to a running stack that was started with `policy:=driven`."""

    def __init__(self, path: str, timeout: float = 10.0) -> None:
        """Connect.

        Args:
            path: of the socket.
            timeout: s for each answer.

        Raises:
            ExternalWireError: nobody listens there.
        """
        self._end = socket.socket(socket.AF_UNIX)
        self._end.settimeout(timeout)
        try:
            self._end.connect(path)
        except OSError as error:
            self._end.close()
            raise ExternalWireError(
                f"no stack at the socket {path} ({error.strerror or error}): start one with policy:=driven"
            ) from error
        self._newest = 0

    def __enter__(self) -> ExternalClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Drive no more: the arm holds."""
        self._end.close()

    def about(self) -> RobotInfo:
        """Return what is driven; ExternalWireError where no episode runs."""
        said, _ = self._ask({"ask": "about"})
        try:
            if said["protocol"] != PROTOCOL:
                raise ExternalWireError(
                    f"the stack speaks protocol {said['protocol']}, this program {PROTOCOL}: update it"
                )
            views = {str(view): (int(height), int(width)) for view, (height, width) in said["views"].items()}
            return RobotInfo(
                str(said["robot"]), tuple(said["state"]), tuple(said["action"]), float(said["rate"]), views
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ExternalWireError(f"the stack's answer is not understood: {error!r}") from None

    def look(self, patience: float = 2.0) -> ExternalObservation:
        """Return the newest observation; wait so many seconds for one that this connection has not seen yet.

        Raises:
            ExternalWireError: no episode runs, or the stack is gone.
        """
        last = time.monotonic() + patience
        while True:  # the stack waits for some seconds only
            left = max(last - time.monotonic(), 0.0)
            said, arrays = self._ask({"ask": "look", "after": self._newest, "patience": left})
            if said.get("number") != self._newest or not left:
                break
        try:
            state, age = arrays.pop("state"), float(said["age"])
            views = {name.removeprefix("view/"): values for name, values in arrays.items()}
            self._newest = int(said["number"])
            told = str(said["episode"]), int(said["frame"]), str(said["instruction"])
        except (KeyError, TypeError, ValueError) as error:
            raise ExternalWireError(f"the stack's answer is not understood: {error!r}") from None
        return ExternalObservation(self._newest, *told, age, state, views)

    def act(self, action: NDArray[np.float64]) -> None:
        """Have an action (A,) done next, within the stack's limits; ExternalWireError where it is refused."""
        self._ask({"ask": "act"}, {"action": np.asarray(action, np.float64)})

    def _ask(self, said: dict[str, Any], arrays: Arrays | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        send(self._end, said, arrays)
        answer, found = receive(self._end)
        if "error" in answer:
            raise ExternalWireError(str(answer["error"]))
        return answer, found
