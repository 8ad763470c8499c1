"""The stack's end of the socket at which a program drives: one program at a time, of the same user.

The program asks and is answered, one message each:

- `{"ask": "about"}`: names of state and action, sizes of the images, control rate, the robot's name.
- `{"ask": "look", "after": n, "patience": s}`: the array `state`, an array `view/<name>` of each view, and `number`,
  `episode`, `frame`, `instruction`, `age` (s). It waits for something newer than number `after`.
- `{"ask": "act"}` with the array `action`: done next, within the stack's limits.

An answer with `error` says in a line what is wrong.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.codec import Numbers
from kc_vla.policy.driven.action_exchange import ActionExchange
from kc_vla.policy.driven.wire import ExternalWireError, receive, send
from kc_vla.policy.interface import PolicyError

PROTOCOL = 1
_MOST_PATIENCE_S = 5.0
_STUCK_S = 10.0
"""A program that takes no byte of an answer for so long is gone."""


@dataclass(frozen=True)
class About:
    """What does not change.

    Attributes:
        robot: what data sets call it.
        state: names of the numbers of a state.
        action: of an action.
        rate: control steps per second.
    """

    robot: str
    state: tuple[str, ...]
    action: tuple[str, ...]
    rate: float


class ExternalServer:
    """Answers one program after the other, in threads of its own."""

    def __init__(self, path: str, about: About, meeting: ActionExchange) -> None:
        """Listen at `path`.

        Raises:
            PolicyError: that cannot be; the text says why.
        """
        self.path, self._about, self._meeting = path, about, meeting
        self._one = threading.Lock()
        try:
            self._socket = _listening(path)
        except OSError as error:
            raise PolicyError(f"socket:={path} cannot be opened: {error.strerror or error}") from error
        threading.Thread(target=self._accept, name="driver socket", daemon=True).start()

    @property
    def driven(self) -> bool:
        """Return whether a program is there."""
        return self._one.locked()

    def close(self) -> None:
        """Listen no more."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in it
        self._socket.close()
        Path(self.path).unlink(missing_ok=True)

    def _accept(self) -> None:
        while True:
            try:
                end, _ = self._socket.accept()
            except OSError:
                return  # it was closed
            threading.Thread(target=self._serve, args=(end,), name="driver", daemon=True).start()

    def _serve(self, end: socket.socket) -> None:
        with end:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _seconds(_STUCK_S))
            if not self._one.acquire(blocking=False):
                with suppress(ExternalWireError):
                    end.settimeout(_STUCK_S)
                    receive(end)  # or it might be told before it has asked
                    send(end, {"error": "another program drives already: end it first"})
                return
            try:
                while True:
                    said, arrays = receive(end)
                    try:
                        answer, pictures = self._answer(said, arrays)
                    except (KeyError, TypeError, ValueError) as error:
                        answer, pictures = {"error": f"it cannot be answered: {error}"}, {}
                    send(end, answer, pictures)
            except ExternalWireError:
                return  # it is gone: nothing comes any more, and the arm holds
            finally:
                self._one.release()

    def _answer(
        self, said: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        match said.get("ask"):
            case "about":
                return self._tell(), {}
            case "look":
                return self._look(int(said["after"]), float(said["patience"]))
            case "act":
                self._meeting.act(self._checked(arrays["action"]))
                return {}, {}
        raise ValueError(f"there is no {str(said.get('ask'))[:40]!r}, only about, look and act")

    def _tell(self) -> dict[str, Any]:
        shown, _ = self._meeting.look(0, _MOST_PATIENCE_S)
        if shown is None:
            return {"error": "no episode runs, or no pictures come: see what the stack says"}
        about = self._about
        return {
            "protocol": PROTOCOL,
            "robot": about.robot,
            "state": about.state,
            "action": about.action,
            "rate": about.rate,
            "views": {view: picture.shape[:2] for view, picture in shown.views.items()},
        }

    def _look(self, after: int, patience: float) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        shown, age = self._meeting.look(after, min(max(patience, 0.0), _MOST_PATIENCE_S))
        if shown is None:
            return {"error": "nothing is seen: no episode runs"}, {}
        pictures = {f"view/{view}": picture for view, picture in shown.views.items()}
        return {
            "number": shown.number,
            "episode": shown.episode,
            "frame": shown.frame,
            "instruction": shown.instruction,
            "age": age,
        }, {"state": np.asarray(shown.state, np.float64), **pictures}

    def _checked(self, action: NDArray[Any]) -> Numbers:
        if action.shape != (len(self._about.action),) or action.dtype != np.float64:
            told = f"an array {list(action.shape)} of {action.dtype}"
            raise ValueError(
                f"an action is {len(self._about.action)} numbers ({', '.join(self._about.action)}), not {told}"
            )
        if not np.isfinite(action).all():
            raise ValueError(f"an action has to be finite, not {action.tolist()}")
        return action


def _listening(path: str) -> socket.socket:
    """Return a socket that the user alone can reach; one that a process that was killed has left is taken away."""
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise FileExistsError(17, "there is something else than a socket")
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                Path(path).unlink(missing_ok=True)
            else:
                raise OSError(98, "another stack listens there: end it, or name another socket")
    listener = socket.socket(socket.AF_UNIX)
    mask = os.umask(0o177)
    try:
        listener.bind(path)
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(mask)
    listener.listen(4)
    return listener


def _seconds(seconds: float) -> bytes:
    return struct.pack("@ll", int(seconds), 0)
