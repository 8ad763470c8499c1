"""ROS's clock, told by a test that lets it jump."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from rosgraph_msgs.msg import Clock

from tests.support.node_process import Peer

_LAUNCH = Path(__file__).parents[2] / "launch"


class JumpingClock:
    """Tells a time that runs as the steady clock does, `ahead` s off."""

    ahead = 1_000_000.0

    def tell(self, publisher, ended: threading.Event) -> None:
        """Publish it until the end."""
        while not ended.wait(0.005):
            seconds = time.monotonic() + self.ahead
            message = Clock()
            message.clock.sec, message.clock.nanosec = int(seconds), int(seconds % 1.0 * 1e9)
            publisher.publish(message)


@contextmanager
def told(clock: JumpingClock, peer: Peer) -> Iterator[None]:
    """Tell it all the while."""
    ended = threading.Event()
    publisher = peer.node.create_publisher(Clock, "/clock", 10)
    thread = threading.Thread(target=clock.tell, args=(publisher, ended))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def by_the_clock(folder: Path) -> dict[str, object]:
    """Launch arguments with which all of a Piper's graph goes by `/clock`; `folder` is for their files."""
    simulated = {"use_sim_time": True}
    parameters = yaml.safe_load((_LAUNCH / "params" / "piper.yaml").read_text())
    (folder / "params.yaml").write_text(yaml.safe_dump({**parameters, "/**": {"ros__parameters": simulated}}))
    cameras = {
        view: {"source": str(_LAUNCH / "desk" / f"{view}.mp4"), "loop": True, **simulated}
        for view in ("third_person", "wrist")
    }
    (folder / "cameras.yaml").write_text(yaml.safe_dump(cameras))
    return {"params": folder / "params.yaml", "cameras": folder / "cameras.yaml", "selector": "rules"}
