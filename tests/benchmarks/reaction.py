"""How soon the arm stands when a part of the running Piper graph fails, seen on the arm's bus."""

from __future__ import annotations

import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from kc_vla.arm.emulator.bus import SocketBus
from kc_vla.arm.interface import Vector
from kc_vla.launching import emulated_bus
from tests.support.node_process import Peer
from tests.support.robot import Robot

from .measuring import MeasurementError, Table

_JOINT_FEEDBACK = 0x2A5
"""First of three frames, two joints each, thousandths of a degree."""
_STILL = 0.01
"""rad; the emulated encoders' noise is a tenth of it."""
_FEEDBACK_S = 0.005
_REST_S, _AFTER_S, _PATIENCE_S = 0.5, 3.0, 60.0


@dataclass(frozen=True)
class Harm:
    """One thing that goes wrong.

    Attributes:
        does: it, to the running graph.
        told: the line that a person reads.
        mends: what makes the arm move again.
    """

    does: Callable[[Robot], object]
    told: str
    mends: Callable[[Robot], object] = lambda robot: None


def _kill_control(robot: Robot) -> None:
    node = robot.pid("arm_controller")
    children = Path(f"/proc/{node}/task/{node}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)


def _resume(robot: Robot) -> None:
    robot.call("/arm/resume")


_USED_UP = "the arm holds: the chunk is used up"
_FOUND = "the arm was found with power"
HARMS: dict[str, Harm] = {
    "policy server stalls": Harm(
        lambda robot: robot.pause("policy_server"), _USED_UP, lambda robot: robot.resume("policy_server")
    ),
    "policy server killed": Harm(lambda robot: robot.kill("policy_server"), _USED_UP),
    "cameras stall": Harm(lambda robot: robot.pause("camera"), _USED_UP, lambda robot: robot.resume("camera")),
    "emergency stop called": Harm(
        lambda robot: robot.call("/arm/e_stop"),
        "the arm holds: emergency stop",
        lambda robot: robot.call("/arm/release_e_stop"),
    ),
    "controller killed": Harm(lambda robot: robot.kill("arm_controller"), _FOUND, _resume),
    "its control process killed": Harm(_kill_control, _FOUND, _resume),
}


def measure(quick: bool, work: Path) -> Table:
    """Let the Piper's launch file run a script of poses, and do one harm after the other to it."""
    names = list(HARMS)[:2] if quick else list(HARMS)
    with Peer() as peer, Robot(work, {}, peer) as robot:
        robot.wait_for("keyframe 0 'start' committed")
        with _watching(emulated_bus()) as watch:
            rows = [_row(name, HARMS[name], robot, watch) for name in tqdm(names, desc="reaction", unit="fault")]
        robot.press_ctrl_c()
        robot.finish()
    return Table(
        "Reaction of the running graph",
        rows,
        (
            "`piper.launch.py`: emulated arm, recorded cameras, learned selector, a script of poses. Times count from "
            "the fault; the arm is watched on its bus. What it still does is the rest of the running chunk.",
            "`told`: the line that a person reads. `goes on for`: the way of the joint that went furthest after it "
            "had happened. `fastest`: of any joint, from then on, as the arm tells it every 5 ms.",
        ),
    )


def _row(name: str, harm: Harm, robot: Robot, watch: Watch) -> dict[str, object]:
    robot.wait_until_it_moves()
    line, begun = robot.position, time.monotonic()
    harm.does(robot)
    robot.wait_for(harm.told, line)
    told = time.monotonic() - begun
    time.sleep(_AFTER_S)
    times, angles = watch.since(begun)
    stands = _stands(angles)
    harm.mends(robot)
    return {
        "what goes wrong": name,
        "told": harm.told,
        "told after, s": f"{told:.2f}",
        "the arm stands after, s": f"{times[stands] - begun:.2f}",
        "goes on for, degrees": f"{np.degrees(np.abs(angles[: stands + 1] - angles[0]).max()):.1f}",
        "fastest, degrees/s": f"{np.degrees(_fastest(angles)):.0f}",
    }


def _stands(angles: Vector) -> int:
    """Number of the sample from which on no joint moves for half a second."""
    rest = round(_REST_S / _FEEDBACK_S)
    for at in range(len(angles) - rest):
        if np.ptp(angles[at : at + rest], axis=0).max() < _STILL:
            return at
    raise MeasurementError("the arm did not come to rest")


def _fastest(angles: Vector) -> float:
    """rad/s of the fastest joint, over 50 ms: the encoders' noise is as large as the way of 5 ms."""
    apart = 10
    return float(np.abs(angles[apart:] - angles[:-apart]).max() / (apart * _FEEDBACK_S))


class Watch:
    """Reads along on the arm's bus."""

    def __init__(self, bus: SocketBus) -> None:
        self._bus = bus
        self._seen: list[tuple[float, Vector]] = []

    def read(self, over: threading.Event) -> None:
        """Keep the joint angles that the arm tells."""
        angles = np.zeros(6)
        while not over.is_set():
            message = self._bus.recv(0.1)
            if message is None:
                continue
            pair = message.arbitration_id - _JOINT_FEEDBACK
            angles[2 * pair : 2 * pair + 2] = np.radians(np.array(struct.unpack(">ii", message.data)) / 1e3)
            if pair == 2:
                self._seen.append((time.monotonic(), angles.copy()))

    def since(self, begun: float) -> tuple[Vector, Vector]:
        """Times (N), s, and joint angles (N, 6), rad, from then on."""
        seen = [item for item in list(self._seen) if item[0] >= begun]
        return np.array([when for when, _ in seen]), np.array([angles for _, angles in seen])


@contextmanager
def _watching(channel: str) -> Iterator[Watch]:
    filters = [{"can_id": _JOINT_FEEDBACK + pair, "can_mask": 0x7FF} for pair in range(3)]
    over = threading.Event()
    with _joined(channel, filters) as bus:
        watch = Watch(bus)
        thread = threading.Thread(target=watch.read, args=(over,))
        thread.start()
        try:
            yield watch
        finally:
            over.set()
            thread.join()


def _joined(channel: str, filters: list[dict[str, int]]) -> SocketBus:
    until = time.monotonic() + _PATIENCE_S
    while not Path(channel).exists():
        if time.monotonic() > until:
            raise MeasurementError(f"there is no emulated arm on {channel}")
        time.sleep(0.1)
    return SocketBus(channel, can_filters=filters)
