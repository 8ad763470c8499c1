"""Clients of a policy's server as openpi and GR00T have them: their codecs and sockets, and nothing of the stack."""

from __future__ import annotations

from typing import Any

import numpy as np
import zmq
from policy_doubles import pack_groot, pack_openpi, unpack_groot, unpack_openpi
from websockets.sync.client import connect

_PATIENCE_MS = 60_000


class OpenPiClient:
    """A connection; use it as a context manager."""

    def __init__(self, server: str, token: str = "") -> None:
        headers = {"Authorization": f"Api-Key {token}"} if token else {}
        self._connecting = connect(server, additional_headers=headers, compression=None, max_size=None)

    def __enter__(self) -> OpenPiClient:
        self.socket = self._connecting.__enter__()
        self.metadata = unpack_openpi(self.socket.recv(timeout=60))
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, observation: dict[str, Any]) -> Any:
        """An answer: a map, or the text of an error."""
        self.socket.send(pack_openpi(observation))
        answer = self.socket.recv(timeout=60)
        return answer if isinstance(answer, str) else unpack_openpi(answer)


def ask_groot(server: str, *messages: dict[str, Any]) -> list[Any]:
    """The answers to messages over one socket."""
    with zmq.Context() as context, context.socket(zmq.REQ) as sock:
        sock.setsockopt(zmq.RCVTIMEO, _PATIENCE_MS)
        sock.setsockopt(zmq.LINGER, 0)
        sock.connect(server)
        answers = []
        for message in messages:
            sock.send(pack_groot(message))
            answers.append(unpack_groot(sock.recv()))
        return answers


def libero(shade: int = 1, text: str = "push", **more: Any) -> dict[str, Any]:
    """An observation of LIBERO's names, as openpi's client sends it."""
    picture = np.full((224, 224, 3), shade, np.uint8)
    state = np.array([0.5, 0, 0.2, np.pi, 0, 0, 0.02, -0.02], np.float32)
    return {
        "observation/image": picture,
        "observation/wrist_image": picture,
        "observation/state": state,
        "prompt": text,
        **more,
    }


def n15(shades: list[int], text: str = "push", **more: Any) -> dict[str, Any]:
    """A message of N1.5 that asks for actions, with so many moments."""
    return {"endpoint": "get_action", "data": {**_flat(shades), "annotation.human.task_description": [text], **more}}


def n16(shades: list[int], text: str = "push") -> dict[str, Any]:
    """The same of N1.6."""
    observation: dict[str, Any] = {
        "video": {},
        "state": {},
        "language": {"annotation.human.task_description": [[text]]},
    }
    for key, values in _flat(shades).items():
        kind, _, name = key.partition(".")
        observation[kind][name] = values[None]
    return {"endpoint": "get_action", "data": {"observation": observation, "options": None}}


def _flat(shades: list[int]) -> dict[str, Any]:
    pictures = np.stack([np.full((256, 256, 3), shade, np.uint8) for shade in shades])
    count = len(shades)
    return {
        "video.image": pictures,
        "video.wrist_image": pictures,
        "state.position": np.tile(np.array([0.5, 0, 0.2], np.float32), (count, 1)),
        "state.rotation": np.tile(np.array([1, 0, 0, 0], np.float32), (count, 1)),
        "state.gripper": np.full((count, 1), 0.5, np.float32),
    }
