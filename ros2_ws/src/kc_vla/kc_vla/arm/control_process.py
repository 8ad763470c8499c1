"""The process that keeps an arm's time: reads it, steps its servo, writes to it, and nothing else.

It knows nothing of the middleware. The node calls it through `kc_vla.arm.remote`, and when the node has gone, however
that went, it brings the arm to rest and ends; the arm keeps its power.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from kc_vla.arm.control_periods import control_periods
from kc_vla.arm.interface import ArmError, Driver
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.limiter import LimiterError
from kc_vla.arm.offsets import OffsetArm
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.remote import Calls
from kc_vla.arm.scheduling import PriorityError, lock_memory, take_priority
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import Report, ServoSettings
from kc_vla.arm.wiring import Wiring
from kc_vla.arm.workspace import Workspace
from kc_vla.core.rig import JointLimits, Vector

_POLL_S = 0.02
_REST_S = 2.0
"""How long coming to rest may take after the node has gone."""
_RECONNECT_S = 1.0
"""Between two looks for a bus that has gone."""


@dataclass(frozen=True)
class Greeting:
    """What is known of an arm once it is connected.

    Attributes:
        limits: of its joints.
        firmware: as the arm tells it.
        kinematics: of it.
        farewell: see `Driver`.
        had_power: it was found with power and holds; a person must say that it may move.
        warnings: what keeps the process from being in time.
    """

    limits: JointLimits
    firmware: str
    kinematics: Kinematics
    farewell: str
    had_power: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Told:
    """What the process shows of itself.

    Attributes:
        report: of its latest control period.
        at: steady time of that, s.
        parked: the arm lies at its rest pose.
        target: where the arm is on its way to (N,), rad.
        clamped: how often a target was cut, by what cut it.
        lateness: of the control periods since it was last shown, s.
        line: how the line to the arm is, for the diagnostics.
    """

    report: Report
    at: float
    parked: bool
    target: Vector
    clamped: dict[str, int]
    lateness: tuple[float, ...]
    line: dict[str, object]


class ControlProcess:
    """What may be called; all of it between two control periods."""

    def __init__(self, calls: Calls, driver: Callable[[Wiring], Driver]) -> None:
        """Args: `driver` makes the arm of a wiring."""
        self._calls, self._driver = calls, driver
        self._arm: Driver | None = None
        self._servo: Servo | None = None
        self._show_every = 1
        self._reconnect_at = 0.0
        self.period, self._stale_after = _POLL_S, 0.0

    # -- calls --------------------------------------------------------------------------------------------------

    def connect(
        self,
        wiring: Wiring,
        settings: ServoSettings,
        state_rate: float,
        priority: int,
    ) -> Greeting:
        """Connect, and begin to step; an arm without power gets it with the first `resume`.

        Args:
            wiring: where it is, and which.
            settings: of the servo.
            state_rate: Hz of what is shown.
            priority: real-time priority, 0 for none.

        Raises:
            ArmError: there is no arm, or it is not fit to move.
        """
        warnings = _take_priority(priority)
        arm = self._arm = self._driver(wiring)
        _connect(arm, wiring.patience)
        arm.require_fit()
        had_power = arm.may_have_power()
        moved = arm if wiring.offsets is None else OffsetArm(arm, wiring.offsets)
        self._servo = Servo(moved, settings, Workspace(arm.kinematics, settings.lowest, settings.highest))
        self.period, self._stale_after = settings.period, settings.stale_after
        self._show_every = max(1, round(1.0 / settings.period / state_rate))
        return Greeting(moved.limits, arm.firmware, arm.kinematics, arm.farewell, had_power, warnings)

    def aim(self, angles: Vector, gripper: float, asked_at: float, seconds: float) -> None:
        """See `Servo.aim`; what was asked for too long ago, at the steady time `asked_at`, is passed over."""
        now = time.monotonic()
        if now - asked_at < self._stale_after:
            self._connected.aim(angles, gripper, now, seconds)

    def halt(self, reason: str) -> None:
        """See `Servo.halt`."""
        self._connected.halt(reason)

    def resume(self) -> None:
        """See `Servo.resume`."""
        self._connected.resume(time.monotonic())

    def park(self) -> None:
        """See `Servo.park`."""
        self._connected.park(time.monotonic())

    def let_go(self) -> None:
        """See `Servo.let_go`."""
        self._connected.let_go()

    # -- the process --------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Step until the node has gone; then come to rest."""
        try:
            self._calls.answer_until(self, lambda: self._servo is not None)
            gc.collect()
            gc.freeze()  # a full collection of what is loaded by now would take several control periods
            if self._servo is not None and self._arm is not None:
                self._step(self._servo, self._arm)
                _come_to_rest(self._servo, self.period)
        except (ArmError, LimiterError, ValueError) as error:
            print(f"the control loop has ended, the arm holds: {error}", file=sys.stderr)
        finally:
            if self._arm is not None:
                self._arm.disconnect()

    def _step(self, servo: Servo, arm: Driver) -> None:
        lateness: list[float] = []
        for number, (now, late) in enumerate(control_periods(self.period)):
            self._calls.answer(self)
            if self._calls.ended:
                return
            report = servo.step(now)
            lateness.append(late)
            if report.state.age > self._stale_after and now > self._reconnect_at:
                self._reconnect_at = now + _RECONNECT_S
                arm.reconnect()
            if number % self._show_every == 0:
                clamped, parked = dict(servo.clamped), servo.parked(report)
                self._calls.show(Told(report, now, parked, servo.target, clamped, tuple(lateness), arm.details()))
                lateness.clear()

    @property
    def _connected(self) -> Servo:
        if self._servo is None:
            raise ArmError("the arm is not connected")
        return self._servo


def _connect(arm: Driver, patience: float) -> None:
    """Connect, and wait a while for a bus that is about to come up."""
    until = time.monotonic() + patience
    while True:
        try:
            arm.connect()
        except ArmError:
            if time.monotonic() > until:
                raise
            time.sleep(_POLL_S)
        else:
            return


def _come_to_rest(servo: Servo, period: float) -> None:
    servo.halt("its node has gone")
    before: Vector | None = None
    until = time.monotonic() + _REST_S
    for now, _ in control_periods(period):
        sent = servo.step(now).set_point
        if sent is None or (before is not None and np.array_equal(sent, before)) or now > until:
            return
        before = sent


def _take_priority(priority: int) -> tuple[str, ...]:
    if not priority:
        return ()
    warnings = []
    for take in (partial(take_priority, priority), lock_memory):
        try:
            take()
        except PriorityError as error:
            warnings.append(str(error))
    return tuple(warnings)


def main() -> None:
    """Run the process of a Piper; it is started by `kc_vla.arm.remote.Remote`."""
    ControlProcess(Calls(sys.argv[1:]), PiperArm.of).run()
