"""How soon the arm stands when a part of the running Piper graph fails, seen on the arm's bus."""

from __future__ import annotations

import os
import re
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import can
import numpy as np
from std_srvs.srv import Trigger
from tqdm import tqdm

from kc_vla.arm.emulator.bus import SocketBus
from kc_vla.core.rig import Vector
from kc_vla.launching.graph import emulated_bus
from kc_vla_msgs.srv import ResetArm
from tests.support.jumping_clock import JumpingClock, by_the_clock, told
from tests.support.node_process import Peer
from tests.support.piper import KINEMATICS
from tests.support.robot import PERIOD, SAW, SPEED, Robot, second_controller
from tests.support.rogue_answers import RogueAnswers
from tests.support.rogue_policy import GARBAGE

from .measuring import MeasurementError, Table

_JOINT_FEEDBACK = 0x2A5
"""First of three frames, two joints each, thousandths of a degree."""
_STILL = 0.01
"""rad; the emulated encoders' noise is a tenth of it."""
_FEEDBACK_S = 0.005
_REST_S, _AFTER_S, _PATIENCE_S = 0.5, 3.0, 60.0
_PARKING_S, _HANGS_S = 0.5, 15.0
_HIGH = 0.3
"""m, of the flange of an arm that has a way to go to its rest pose."""


@dataclass(frozen=True)
class Harm:
    """One thing that goes wrong.

    Attributes:
        does: it, to the running graph; may return words that a person reads.
        told: the line that a person reads.
        mends: what makes the arm move again.
        comes_to: what the arm has to be doing before.
        stops: whether the arm comes to rest of it.
        ends: what makes the arm be seen again, some seconds later; it still does not move.
    """

    does: Callable[[Robot], object]
    told: str
    mends: Callable[[Robot], object] = lambda robot: None
    comes_to: Callable[[Robot], object] = Robot.wait_until_it_moves
    stops: bool = True
    ends: Callable[[Robot], object] = lambda robot: None


_USED_UP = "the arm holds: the chunk is used up"
_REFUSED = "another controller has the arm"
_STOPPED = "emergency stop: the arm holds until"
_FOUND = "the arm was found with power"


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _kill(robot: Robot) -> None:
    robot.kill("arm_controller")


def _kill_control(robot: Robot) -> None:
    os.kill(_children(robot.pid("arm_controller"))[0], signal.SIGKILL)


def _resume(robot: Robot) -> None:
    robot.call("/arm/resume")


def _release_and_resume(robot: Robot) -> None:
    """After a controller that was killed: nobody pressed a stop, or that is over."""
    robot.call("/arm/release_e_stop")
    robot.call("/arm/resume")


def _press_after_kill(kill: Callable[[Robot], object], seconds: float) -> Callable[[Robot], str]:
    """A client that knows the controller presses the stop so long after that was killed, s; what it is answered."""

    def does(robot: Robot) -> str:
        client = robot.peer.node.create_client(Trigger, "/arm/e_stop")
        robot.peer.until(client.service_is_ready)
        time.sleep(_REST_S)
        kill(robot)
        time.sleep(seconds)
        answer = client.call_async(Trigger.Request())
        robot.peer.until(answer.done)
        robot.peer.node.destroy_client(client)
        return str(answer.result().message)

    return does


def _own_stop(robot: Robot) -> None:
    robot.ask_for("supported")
    robot.ask_for("own_stop")


def _reset_and_resume(robot: Robot) -> None:
    robot.peer.call(ResetArm, "/arm/reset", ResetArm.Request(supported=True))
    robot.call("/arm/resume")
    robot.ask_for("none")


def _second_controller() -> Harm:
    started: list[subprocess.Popen[str]] = []

    def does(robot: Robot) -> str:
        started.append(
            subprocess.Popen(second_controller(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        )
        assert started[0].stderr is not None
        return next((line for line in started[0].stderr if _REFUSED in line), "it was not refused")

    return Harm(does, _REFUSED, lambda robot: started[0].communicate(timeout=_PATIENCE_S), stops=False)


def _wait_for_hold(robot: Robot) -> None:
    robot.wait_until_it_moves()
    line = robot.position
    robot.pause("policy_server")
    robot.wait_for(_USED_UP, line)
    time.sleep(_REST_S)


def _let_go(robot: Robot) -> None:
    robot.call("/arm/release_e_stop")
    robot.resume("policy_server")


def _garbage(kind: str, told: str, rogue: RogueAnswers) -> Harm:
    """The policy answers with nothing else from now on."""

    def does(robot: Robot) -> None:
        robot.pause("policy_server")
        rogue.begin(GARBAGE[kind])

    def mends(robot: Robot) -> None:
        rogue.end()
        robot.resume("policy_server")

    return Harm(does, told, mends)


def _harms(rogue: RogueAnswers) -> dict[str, Harm]:
    return {
        "policy server stalls": Harm(
            lambda robot: robot.pause("policy_server"), _USED_UP, lambda robot: robot.resume("policy_server")
        ),
        "policy sends NaN": _garbage("not a number", "is not finite in action", rogue),
        "policy sends joints out of range": _garbage("far joints", "has a joint target of 1000000.00", rogue),
        "policy sends a wrong length": _garbage("cut short", "and carries 5", rogue),
        "policy sends old chunks": _garbage("an older number", "was not asked for, or came too late", rogue),
        "policy server killed": Harm(lambda robot: robot.kill("policy_server"), _USED_UP),
        "cameras stall": Harm(lambda robot: robot.pause("camera"), _USED_UP, lambda robot: robot.resume("camera")),
        "second controller started": _second_controller(),
        "emergency stop in motion": Harm(
            lambda robot: robot.call("/arm/e_stop"), _STOPPED, lambda robot: robot.call("/arm/release_e_stop")
        ),
        "emergency stop at rest": Harm(lambda robot: robot.call("/arm/e_stop"), _STOPPED, _let_go, _wait_for_hold),
        "controller killed": Harm(_kill, _FOUND, _release_and_resume),
        "its control process killed": Harm(_kill_control, _FOUND, _release_and_resume),
        **{
            f"stop {seconds:g} s after {what} was killed": Harm(
                _press_after_kill(kill, seconds), "^stopped|the stop is on record", _release_and_resume
            )
            for what, kill in {"the controller": _kill, "its control process": _kill_control}.items()
            for seconds in (0.2, 1.0)
        },
        "the vendor's stop, by another program": Harm(_own_stop, "blocked until arm/reset", _reset_and_resume),
    }


def _press_twice(robot: Robot) -> None:
    robot.press_ctrl_c()
    time.sleep(0.25)
    robot.press_ctrl_c()


def _wait_until_it_is_high(robot: Robot) -> None:
    robot.wait_until_it_moves()
    while KINEMATICS.flange(robot.angles())[2, 3] < _HIGH:
        time.sleep(_FEEDBACK_S)


def _stop_while_it_parks(robot: Robot) -> None:
    robot.press_ctrl_c()
    time.sleep(_PARKING_S)
    robot.call("/arm/e_stop")


def _hang_and_stop(robot: Robot) -> None:
    """The loop stands still, a person presses stop, the loop goes on."""
    (loop,) = _children(robot.pid("arm_controller"))
    os.kill(loop, signal.SIGSTOP)
    robot.call("/arm/e_stop")
    threading.Timer(_HANGS_S, os.kill, (loop, signal.SIGCONT)).start()


def _let_go_and_resume(robot: Robot) -> None:
    time.sleep(_HANGS_S)
    robot.call("/arm/release_e_stop")
    robot.call("/arm/resume")


def _quiet(fault: str, told: str) -> Harm:
    """Something is wrong with the line, and is over before a person resumes."""

    def ends(robot: Robot) -> None:
        robot.ask_for("none")
        robot.wait_for("the arm answers again", robot.position - 1)
        time.sleep(_REST_S)

    return Harm(lambda robot: robot.ask_for(fault), told, _resume, ends=ends)


def _lines() -> dict[str, Harm]:
    return {
        "arm silent for 3 s": _quiet("silence", "nothing has come from the arm"),
        "bus off for 3 s": _quiet("bus_off 30", "the bus is off after too many errors"),
        "adapter out for 3 s": _quiet("unplugged 30", "put the adapter back"),
        "control process hangs for 15 s, stop": Harm(_hang_and_stop, _STOPPED, _let_go_and_resume),
    }


_LAST = {
    "Ctrl-C twice within 0.3 s": Harm(
        _press_twice, "not parked: interrupted once more", comes_to=_wait_until_it_is_high
    ),
    "emergency stop while it parks": Harm(
        _stop_while_it_parks, "not parked: the emergency stop is set", comes_to=_wait_until_it_is_high
    ),
}
"""What ends a run."""


def _jumps(clock: JumpingClock) -> dict[str, Harm]:
    def by(seconds: float) -> Callable[[Robot], None]:
        def jump(robot: Robot) -> None:
            clock.ahead += seconds

        return jump

    return {
        "clock jumps 20 s on": Harm(by(20.0), _USED_UP, stops=False),
        "clock jumps 10 s back": Harm(by(-10.0), "the arm holds: the clock went back"),
    }


def measure(quick: bool, work: Path) -> Table:
    """Let the Piper's launch file run a script of poses, and do one harm after the other to it."""
    clock = JumpingClock()
    steps: list[float] = []
    with Peer() as peer:
        with RogueAnswers() as rogue:
            rows = _rows({**_harms(rogue), **_lines()}, 2 if quick else None, work, {}, peer, steps)
        if not quick:
            for name, harm in _LAST.items():
                folder = work / name.split()[0]
                folder.mkdir()
                rows += _rows({name: harm}, None, folder, {}, peer, steps)
            folder = work / "clock"
            folder.mkdir()
            with told(clock, peer):
                rows += _rows(_jumps(clock), None, folder, by_the_clock(folder), peer, steps)
    return Table(
        "Reaction of the running graph",
        rows,
        (
            "`piper.launch.py`: emulated arm, recorded cameras, learned selector, a script of poses. Times count from "
            "the fault; the arm is watched on its bus. What it still does is the rest of the running chunk.",
            "`reported`: the line that a person reads. `goes on for`: the way of the joint that went furthest after it "
            "had happened. `fastest`: of any joint, from then on, as the arm reports it every 5 ms. A policy that "
            "sends garbage sends nothing else from then on. For the jumps of the clock all nodes go by `/clock`, and "
            "the selector by rules.",
            f"The largest step that the emulated arm saw in {len(steps)} runs, from one target of a joint to the next: "
            f"{max(steps, default=np.nan):.3f} degrees ({np.degrees(SPEED * PERIOD):.3f} are allowed).",
        ),
    )


def _rows(
    harms: Mapping[str, Harm],
    most: int | None,
    work: Path,
    arguments: Mapping[str, object],
    peer: Peer,
    steps: list[float],
) -> list[dict[str, object]]:
    """Return a row for each harm; the largest step in degrees, which the arm reports at the end, joins `steps`."""
    chosen = list(harms.items())[:most]
    with Robot(work, arguments, peer) as robot:
        robot.wait_for("keyframe 0 'start' committed")
        with _watching(emulated_bus()) as watch:
            rows = [_row(name, harm, robot, watch) for name, harm in tqdm(chosen, desc="reaction", unit="fault")]
        if robot.is_running:
            robot.press_ctrl_c()
        robot.finish()
    if saw := SAW.search(robot.text):
        steps.append(float(saw["step"]))
    return rows


def _row(name: str, harm: Harm, robot: Robot, watch: Watch) -> dict[str, object]:
    harm.comes_to(robot)
    line, begun = robot.position, time.monotonic()
    words = str(harm.does(robot))
    told = harm.told
    if said := re.search(harm.told, words):
        told = said[0]
    else:
        robot.wait_for(harm.told, line)
    told_after = time.monotonic() - begun
    time.sleep(_AFTER_S)
    harm.ends(robot)
    times, angles = watch.since(begun)
    row = {"what goes wrong": name, "reported": told, "reported after, s": f"{told_after:.2f}"}
    if harm.stops:
        stands = _stands(angles)
        row["the arm stands after, s"] = f"{times[stands] - begun:.2f}"
        row["goes on for, degrees"] = f"{np.degrees(np.abs(angles[: stands + 1] - angles[0]).max()):.1f}"
    else:
        robot.wait_until_it_moves()
        row["the arm stands after, s"] = row["goes on for, degrees"] = "goes on"
    harm.mends(robot)
    time.sleep(_REST_S)
    lowest = KINEMATICS.flange(angles)[:, 2, 3].min()
    return {
        **row,
        "fastest, degrees/s": f"{np.degrees(_fastest(times, angles)):.0f}",
        "lowest flange, m": f"{lowest:.3f}",
    }


def _stands(angles: Vector) -> int:
    """Number of the sample from which on no joint moves for half a second."""
    rest = round(_REST_S / _FEEDBACK_S)
    for at in range(len(angles) - rest):
        if np.ptp(angles[at : at + rest], axis=0).max() < _STILL:
            return at
    raise MeasurementError("the arm did not come to rest")


def _fastest(times: Vector, angles: Vector) -> float:
    """rad/s of the fastest joint, over 50 ms: the encoders' noise is as large as the way of 5 ms."""
    apart = 10
    ways, spans = np.abs(angles[apart:] - angles[:-apart]).max(axis=1), times[apart:] - times[:-apart]
    return float((ways / np.maximum(spans, apart * _FEEDBACK_S)).max())


class Watch:
    """Reads along on the arm's bus."""

    def __init__(self, join: Callable[[], SocketBus]) -> None:
        """Args: `join` the bus; it may go, and come again."""
        self._join = join
        self._seen: list[tuple[float, Vector]] = []

    def read(self, over: threading.Event) -> None:
        """Keep the joint angles that the arm tells."""
        angles = np.zeros(6)
        while not over.is_set():
            with suppress(can.CanOperationError, OSError), self._join() as bus:
                self._read(bus, angles, over)
            time.sleep(_FEEDBACK_S)

    def _read(self, bus: SocketBus, angles: Vector, over: threading.Event) -> None:
        while not over.is_set():
            message = bus.recv(0.1)
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
    ids = [_JOINT_FEEDBACK + pair for pair in range(3)]
    filters = [{"can_id": number, "can_mask": 0x7FF} for number in ids]
    over = threading.Event()
    with _joined(channel, filters):
        watch = Watch(lambda: SocketBus(channel, can_filters=filters))
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
