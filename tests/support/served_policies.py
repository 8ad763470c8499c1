"""A backend that remembers what it was asked, and a server of it that listens in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.episode import Episode
from kc_vla.core.robot import load_robot
from kc_vla.policy.interface import PolicyError, PolicyInput
from kc_vla.policy.remote.mapping_file import load_mapping
from kc_vla.policy.serving.groot import GrootServer
from kc_vla.policy.serving.openpi import OpenPiServer
from kc_vla.policy.serving.served import Served

PANDA = load_robot("panda_sim")
SLOTS = 5


class Listening:
    """A backend that remembers what it was asked; its actions say how many keyframes it was shown."""

    name = "listening"
    needs_keyframes = needs_images = True
    needs_plan = False
    action_type = ActionType.TOOL_DELTA
    names: tuple[str, ...] = TOOL_DELTA_NAMES

    def __init__(self) -> None:
        self.asked: list[PolicyInput] = []
        self.episodes: list[Episode] = []
        self.hold = threading.Event()
        self.hold.set()

    def reset(self, episode: Episode) -> str:
        self.episodes.append(episode)
        return ""

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        self.asked.append(given)
        self.hold.wait(60)
        if given.instruction == "fly":
            raise PolicyError("it does not know how to 'fly'")
        actions = np.zeros((16, 7), np.float32)
        actions[:, 0], actions[:, 6] = 1e-3 * len(given.keyframes), 1.0
        return actions


def served(wire: str) -> tuple[Listening, Served]:
    backend = Listening()
    return backend, Served(backend, load_mapping("", PANDA, wire), SLOTS)


@contextmanager
def listening(server: OpenPiServer | GrootServer) -> Iterator[str]:
    """Its address, while it serves in a thread."""
    begun: Any = threading.Event()
    loop = asyncio.new_event_loop()
    where: list[str] = []

    async def serve() -> None:
        ends = asyncio.Event()
        async with server.listening("127.0.0.1", 0) as opened:
            where.append(opened)
            begun.end = lambda: loop.call_soon_threadsafe(ends.set)
            begun.set()
            await ends.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert begun.wait(30)
    try:
        yield where[0]
    finally:
        begun.end()
        thread.join(30)
        loop.close()
