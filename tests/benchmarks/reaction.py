"""How soon the arm stands when a part of the running Piper graph fails, seen on the arm's bus."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from kc_vla_msgs.srv import ResetArm
from tests.support.jumping_clock import JumpingClock, by_the_clock, told
from tests.support.node_process import Peer
from tests.support.piper import KINEMATICS
from tests.support.robot import PERIOD, SPEED, Robot, second_controller
from tests.support.rogue_answers import RogueAnswers
from tests.support.rogue_policy import GARBAGE

from .bus_watch import FEEDBACK_S
from .harms import REST_S, Harm, Observed, children, kill, kill_control, observe, release_and_resume
from .measuring import Table

_PATIENCE_S = 60.0
_PARKING_S, _HANGS_S = 0.5, 15.0
_HIGH = 0.3
"""m, of the flange of an arm that has a way to go to its rest pose."""


_USED_UP = "the arm holds: the chunk is used up"
_REFUSED = "another controller has the arm"
_STOPPED = "emergency stop: the arm holds until"
_FOUND = "the arm was found with power"


def _resume(robot: Robot) -> None:
    robot.call("/arm/resume")


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
    time.sleep(REST_S)


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
        "controller killed": Harm(kill, _FOUND, release_and_resume),
        "its control process killed": Harm(kill_control, _FOUND, release_and_resume),
        "the vendor's stop, by another program": Harm(_own_stop, "blocked until arm/reset", _reset_and_resume),
    }


def _press_twice(robot: Robot) -> None:
    robot.press_ctrl_c()
    time.sleep(0.25)
    robot.press_ctrl_c()


def _wait_until_it_is_high(robot: Robot) -> None:
    robot.wait_until_it_moves()
    while KINEMATICS.flange(robot.angles())[2, 3] < _HIGH:
        time.sleep(FEEDBACK_S)


def _stop_while_it_parks(robot: Robot) -> None:
    robot.press_ctrl_c()
    time.sleep(_PARKING_S)
    robot.call("/arm/e_stop")


def _hang_and_stop(robot: Robot) -> None:
    """The loop stands still, a person presses stop, the loop goes on."""
    (loop,) = children(robot.pid("arm_controller"))
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
        time.sleep(REST_S)

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
            rows = _rows(
                dict(list({**_harms(rogue), **_lines()}.items())[: 2 if quick else None]), work, {}, peer, steps
            )
        if not quick:
            for name, harm in _LAST.items():
                folder = work / name.split()[0]
                folder.mkdir()
                rows += _rows({name: harm}, folder, {}, peer, steps)
            folder = work / "clock"
            folder.mkdir()
            with told(clock, peer):
                rows += _rows(_jumps(clock), folder, by_the_clock(folder), peer, steps)
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
    harms: Mapping[str, Harm], work: Path, arguments: Mapping[str, object], peer: Peer, steps: list[float]
) -> list[dict[str, object]]:
    """Return a row for each harm; the largest step of the run, degrees, joins `steps`."""
    seen, step = observe(harms, work, arguments, peer)
    if np.isfinite(step):
        steps.append(step)
    return [_row(each) for each in seen]


def _row(seen: Observed) -> dict[str, object]:
    stands = "goes on" if seen.stands_after is None else f"{seen.stands_after:.2f}"
    return {
        "what goes wrong": seen.name,
        "reported": seen.told,
        "reported after, s": f"{seen.told_after:.2f}",
        "the arm stands after, s": stands,
        "goes on for, degrees": "goes on" if seen.way is None else f"{seen.way:.1f}",
        "fastest, degrees/s": f"{seen.fastest:.0f}",
        "lowest flange, m": f"{seen.lowest:.3f}",
    }
