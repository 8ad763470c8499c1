"""How fast the arm's control loop reacts to what goes wrong, and how far the arm goes on; on the emulated Piper."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from kc_vla.arm.compliant_servo import CompliantServo
from kc_vla.arm.control_process import reset
from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.emulator.process import EmulatorProcess
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.scheduling import control_periods
from kc_vla.arm.servo_modes import Mode, Report, ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import Vector
from tests.support.emulated_piper import running_emulator, wait_for
from tests.support.node_process import Peer
from tests.support.piper import KINEMATICS, PIPER

from .beginnings import BEGINNINGS, beginning_row
from .handover import MIDDLE, SWING
from .measuring import Table
from .restarts import RESTARTS, restart_row

SETTINGS = ServoSettings(speed=1.0)
_RATE_S = 0.05
_TO_MIDDLE_S, _MOVING_S, _AFTER_S = 4.0, 1.5, 2.0
_ACROSS_S, _LOST_S = 3.0, 0.6
_ACROSS = "target across the table"
_PAYLOAD = "compliant, stretched, and {} kg that the robot file does not name"
_SOFT_CUT = "compliant, and adapter pulled out"
_LESS, _MORE = _PAYLOAD.format("0.5"), _PAYLOAD.format("1.5")
STRETCHED = np.radians([0.0, 110.0, -70.0, 0.0, -40.0, 0.0])
"""About as far out as torques of 8 N m carry the arm."""
_RESET, _STOPPED_S = "the vendor's stop, reset while supported, resumed", 0.5
ABOVE, BEYOND = np.radians([0.0, 180.0, 0.0, 0.0, 70.0, 0.0]), np.radians([0.0, 90.0, -30.0, 0.0, -70.0, 0.0])
_STILL = 0.02
"""rad/s."""


@dataclass
class Harness:
    """An arm that swings, and a record of what its loop did.

    Attributes:
        emulator: the arm.
        arm: its driver.
        asked: what its control loop does before its next step.
        log: time, report, true joint angles and true speeds of every control period.
        aiming: whether new targets come.
    """

    emulator: EmulatorProcess
    arm: PiperArm
    asked: queue.SimpleQueue[Callable[[CompliantServo, float], None]]
    log: list[tuple[float, Report, Vector, Vector]]
    aiming: bool = True

    def ask(self, fault: str) -> None:
        """Let something go wrong."""
        self.emulator.faults.ask(fault)

    def do(self, work: Callable[[CompliantServo, float], None]) -> None:
        """Have the loop do something."""
        self.asked.put(work)


def _stall(harness: Harness) -> None:
    harness.aiming = False


def _stop(harness: Harness) -> None:
    _stall(harness)
    harness.do(lambda servo, now: servo.halt("emergency stop"))


def _go_above(harness: Harness) -> None:
    _stall(harness)
    harness.do(lambda servo, now: servo.set_target(ABOVE, 0.0, now, _ACROSS_S))
    time.sleep(_ACROSS_S + _TO_MIDDLE_S)


def _become_soft(harness: Harness) -> None:
    """Nobody aims, and a hand may lead the arm."""
    _stall(harness)
    harness.do(lambda servo, now: servo.set_target(STRETCHED, 0.0, now, _ACROSS_S))
    time.sleep(_ACROSS_S + _STOPPED_S)
    harness.do(lambda servo, now: servo.comply(now, True))
    time.sleep(_STOPPED_S)


def _aim_across(harness: Harness) -> None:
    """To a pose above the table, on the straight way to which the flange would go through it."""
    harness.do(lambda servo, now: servo.set_target(BEYOND, 0.0, now, _ACROSS_S))
    time.sleep(_ACROSS_S)


def _lose_time(harness: Harness) -> None:
    harness.do(lambda servo, now: time.sleep(_LOST_S))


def _reset_and_resume(harness: Harness, fault: str) -> None:
    """What an operator does with an arm in its own stop: support, reset, resume."""
    for each in ("supported", fault, *(("none", "supported") if fault == "teach" else ())):
        harness.ask(each)
    time.sleep(_STOPPED_S)
    _stall(harness)
    harness.do(lambda servo, now: reset(harness.arm, servo, True, SETTINGS.stale_after))
    time.sleep(_STOPPED_S)
    harness.do(lambda servo, now: servo.resume(now))


def _collide_unprotected(harness: Harness) -> None:
    """An obstacle that holds joint 2, which a collision level of 0 does not detect."""
    for each in ("unprotected", "stuck 2", "collision 2"):
        harness.ask(each)


def _lose_gripper_while_holding(harness: Harness) -> None:
    for each in ("between 0.04", "gripper_lost"):
        harness.ask(each)


SCENARIOS: dict[str, Callable[[Harness], None]] = {
    "no new target (policy stalls)": _stall,
    "emergency stop in motion": _stop,
    "adapter pulled out": lambda harness: harness.ask("unplugged 30"),
    "bus off after errors": lambda harness: harness.ask("bus_off 30"),
    "arm silent": lambda harness: harness.ask("silence"),
    "20 % of all frames lost": lambda harness: harness.ask("loss 0.2"),
    "frames 100 ms late": lambda harness: harness.ask("delay 0.1"),
    "collision reported by joint 2": lambda harness: harness.ask("collision 2"),
    "obstacle at joint 2, collision level 0": _collide_unprotected,
    "gripper lost while holding": _lose_gripper_while_holding,
    "role changed by the pendant": lambda harness: harness.ask("leader"),
    "power of the arm cut for 1 s, and back": lambda harness: harness.ask("power_cut 1"),
    "motor 3 too hot": lambda harness: harness.ask("hot 3"),
    "teach button": lambda harness: harness.ask("teach"),
    "the vendor's stop, by another program": lambda harness: harness.ask("own_stop"),
    _RESET: lambda harness: _reset_and_resume(harness, "own_stop"),
    "teach mode left, reset while supported, resumed": lambda harness: _reset_and_resume(harness, "teach"),
    "joint 5 without power": lambda harness: harness.ask("unpowered 5"),
    "joint 1 stuck": lambda harness: harness.ask("stuck 1"),
    "the loop itself stands still for 0.6 s": _lose_time,
    _ACROSS: _aim_across,
    _LESS: lambda harness: harness.ask("payload 0.5"),
    _MORE: lambda harness: harness.ask("payload 1.5"),
    _SOFT_CUT: lambda harness: harness.ask("unplugged 30"),
}
_BEFORE: dict[str, Callable[[Harness], None]] = {
    _ACROSS: _go_above,
    _LESS: _become_soft,
    _MORE: _become_soft,
    _SOFT_CUT: _become_soft,
}
"""What happens before it goes wrong, beside the swing."""


def measure(quick: bool, work: Path) -> Table:
    """Swing the arm, let each thing go wrong once, and look when it is noticed and when the arm stands."""
    rows = [{"what goes wrong": name, **_row(name, harm, work)} for name, harm in tqdm(SCENARIOS.items(), unit="fault")]
    rows += [beginning_row(name, work / "bus") for name in tqdm(BEGINNINGS, unit="beginning")]
    restarts = list(RESTARTS)[: 1 if quick else None]
    with Peer() as peer:
        rows += [restart_row(name, work / f"restart{number}", peer) for number, name in enumerate(restarts)]
    notes = (
        "An arm that swings at up to 30 degrees/s; control loop at 200 Hz, it counts as lost when silent for 200 ms; "
        "emulated Piper, the vendor's SDK. Times count from the moment at which it goes wrong.",
        "A compliant arm holds up to the torque `hold` of the robot file against what it does not know of.",
        "`goes on for`: the way of the joint that went furthest from where it was then.",
        "From reported limits on: how an arm begins that lies, with the largest step seen on the bus.",
        "The last rows: `piper.launch.py` with an emulated arm, recorded cameras, learned selector and a script of "
        "poses. A client that knew the controller presses the stop while it is started again. `after` is when the "
        "answer came. The largest step is that of the whole run, from one target on the bus to the next.",
    )
    return Table("Reaction to faults", rows, notes)


def _row(name: str, harm: Callable[[Harness], None], work: Path) -> dict[str, object]:
    with _swinging(work / "bus") as harness:
        time.sleep(_MOVING_S)
        if name in _BEFORE:
            _BEFORE[name](harness)
        begun = time.monotonic()
        harm(harness)
        time.sleep(_AFTER_S)
        rows = [row for row in harness.log if row[0] >= begun]
        sent = np.array([row[1].set_point for row in harness.log if row[1].set_point is not None])
    usual = (Mode.FOLLOW, Mode.GUIDE)
    noticed = next((row for row in rows if row[1].mode not in usual or row[1].held_back), None)
    moving = [when for when, _, _, speeds in rows if np.abs(speeds).max() > _STILL]
    way = np.degrees(max(np.abs(angles - rows[0][2]).max() for _, _, angles, _ in rows))
    goes_on = noticed is None and rows[-1][1].mode is Mode.FOLLOW
    return {
        "the loop": ("goes on" if goes_on else "goes on, led by hand") if noticed is None else _words(noticed[1]),
        "after, ms": "-" if noticed is None else f"{(noticed[0] - begun) * 1e3:.0f}",
        "the arm stands after, ms": "-" if goes_on else f"{(moving[-1] - begun) * 1e3 if moving else 0.0:.0f}",
        "goes on for, degrees": "-" if goes_on else f"{way:.1f}",
        "largest step sent, degrees": f"{np.degrees(np.abs(np.diff(sent, axis=0)).max()):.3f}",
        "lowest flange, m": f"{KINEMATICS.flange(np.array([row[2] for row in rows]))[:, 2, 3].min():.3f}",
    }


def _words(report: Report) -> str:
    if report.held_back:
        return f"held back at the {report.held_back}"
    return f"{report.mode}: {report.reason.split(':')[0]}"


@contextmanager
def _swinging(path: Path) -> Iterator[Harness]:
    with running_emulator(path) as emulator:
        arm = PiperArm(PIPER, str(path), INTERFACE, patience=10.0)
        arm.connect()
        servo = CompliantServo(arm, SETTINGS, Workspace(KINEMATICS), PIPER)
        harness = Harness(emulator, arm, queue.SimpleQueue(), [])
        over = threading.Event()
        loop = threading.Thread(target=_step, args=(harness, servo, over))
        loop.start()
        aimer = threading.Thread(target=_aim, args=(harness, over))
        harness.do(lambda servo, now: servo.resume(now))
        wait_for(lambda: servo.mode is Mode.HOLD)
        harness.do(lambda servo, now: servo.set_target(MIDDLE, 0.0, now, _TO_MIDDLE_S))
        time.sleep(_TO_MIDDLE_S + 0.5)
        aimer.start()
        try:
            yield harness
        finally:
            over.set()
            aimer.join()
            loop.join()
            arm.close()


def _step(harness: Harness, servo: CompliantServo, over: threading.Event) -> None:
    body = harness.emulator.arm.body
    for now, _ in control_periods(SETTINGS.period):
        if over.is_set():
            return
        while not harness.asked.empty():
            harness.asked.get()(servo, now)
        harness.log.append((now, servo.step(now), body.angles.copy(), body.speeds.copy()))


def _aim(harness: Harness, over: threading.Event) -> None:
    begun = time.monotonic()
    while not over.wait(_RATE_S):
        if harness.aiming:
            angles = MIDDLE + SWING * np.sin(1.2 * (time.monotonic() - begun + _RATE_S))
            harness.do(lambda servo, now, angles=angles: servo.set_target(angles, 0.0, now, _RATE_S))  # type: ignore[misc]
