"""A stop that a person presses while the arm's controller is started again: rows of the benchmark `safety`."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from std_srvs.srv import Trigger

from tests.support.node_process import Peer
from tests.support.robot import Robot

from .harms import REST_S, Harm, kill, kill_control, observe, release_and_resume


def _press_after(kill: Callable[[Robot], object], seconds: float) -> Callable[[Robot], str]:
    """A client that knows the controller presses the stop so long after that was killed, s; what it is answered."""

    def does(robot: Robot) -> str:
        client = robot.peer.node.create_client(Trigger, "/arm/e_stop")
        robot.peer.until(client.service_is_ready)
        time.sleep(REST_S)
        kill(robot)
        time.sleep(seconds)
        answer = client.call_async(Trigger.Request())
        robot.peer.until(answer.done)
        robot.peer.node.destroy_client(client)
        return str(answer.result().message)

    return does


RESTARTS = {
    f"stop {seconds:g} s after {what} was killed": Harm(
        _press_after(done, seconds), "^stopped|the stop is on record", release_and_resume
    )
    for what, done in {"the controller": kill, "its control process": kill_control}.items()
    for seconds in (0.2, 1.0)
}


def restart_row(name: str, folder: Path, peer: Peer) -> dict[str, object]:
    """Start `piper.launch.py`, kill, press a stop, and look at the arm.

    Args:
        name: of `RESTARTS`.
        folder: of the run, which is made.
        peer: a node of the person's.
    """
    folder.mkdir()
    (seen,), step = observe({name: RESTARTS[name]}, folder, {}, peer)
    assert seen.stands_after is not None
    return {
        "what goes wrong": name,
        "the loop": f"answers: {seen.told}",
        "after, ms": f"{seen.told_after * 1e3:.0f}",
        "the arm stands after, ms": f"{seen.stands_after * 1e3:.0f}",
        "goes on for, degrees": f"{seen.way:.1f}",
        "largest step sent, degrees": f"{step:.3f}",
        "lowest flange, m": f"{seen.lowest:.3f}",
    }
