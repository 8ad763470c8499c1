"""The process that keeps an arm's time: reads it, steps its servo, writes to it, and nothing else.

It knows nothing of the middleware. The node calls it through `kc_vla.arm.remote`, and when the node has gone, however
that went, it brings the arm to rest and ends; the arm keeps its power.
"""

from __future__ import annotations

import gc
import socket
import sys
import time
from dataclasses import dataclass
from functools import partial

import numpy as np

from kc_vla.arm.claim import claim
from kc_vla.arm.compliant_servo import CompliantServo
from kc_vla.arm.home_pose import HomePose
from kc_vla.arm.interface import ArmDriver, ArmError, ArmState, UnfitArmError
from kc_vla.arm.kinds import choose_arm
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.limiter import LimiterError
from kc_vla.arm.offsets import offset_arm
from kc_vla.arm.remote import Calls
from kc_vla.arm.scheduling import PriorityError, control_periods, lock_memory, take_priority
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import SWITCHED_OFF, Report, ServoSettings
from kc_vla.arm.wiring import Wiring
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import JointLimits, Vector

_POLL_S = 0.02
_REST_S = 2.0
"""How long coming to rest may take after the node has gone."""
_RECONNECT_S = 1.0
"""Between two looks for a bus that has gone."""


@dataclass(frozen=True)
class Handshake:
    """What is known of an arm once it is connected.

    Attributes:
        limits: of its joints.
        firmware: as the arm tells it.
        kinematics: of it.
        shutdown_message: see `ArmDriver`.
        had_power: it was found with power and holds; a person must say that it may move.
        warnings: what a person should know before the arm moves.
        own_stop: see `ArmState`.
    """

    limits: JointLimits
    firmware: str
    kinematics: Kinematics
    shutdown_message: str
    had_power: bool
    warnings: tuple[str, ...]
    own_stop: str = ""


@dataclass(frozen=True)
class Told:
    """What the process shows of itself.

    Attributes:
        report: of its latest control period.
        at: steady time of that, s.
        parked: the arm lies at its home pose.
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
    """The calls that the node may make; all of them are done between two control periods."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._claim: socket.socket | None = None
        self._arm: ArmDriver | None = None
        self._servo: CompliantServo | None = None
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
    ) -> Handshake:
        """Connect, and begin to step; an arm without power gets it with the first `resume`.

        Args:
            wiring: where it is, and which.
            settings: of the servo.
            state_rate: Hz of what is shown.
            priority: real-time priority, 0 for none.

        Raises:
            ArmError: there is no arm, it is not fit to move, or its driver fails.
            ValueError: there is no such driver, or it cannot have these options.
        """
        warnings = _take_priority(priority)
        chosen = choose_arm(wiring.driver, wiring.robot, wiring.options)
        try:
            arm = self._arm = chosen.kind.make(wiring, chosen.options)
            self._open(arm, chosen.claim, wiring.patience)
            arm.check_identity()
        except (RuntimeError, ValueError, OSError):  # said by those who know
            raise
        except Exception as error:  # a driver may come from any package
            raise UnfitArmError(f"driver '{wiring.driver}' fails: {type(error).__name__}: {error}") from error
        had_power = arm.may_be_enabled()
        moved = offset_arm(arm, wiring.offsets)
        workspace = Workspace(arm.kinematics, settings.lowest, settings.highest, wiring.robot.down)
        servo = CompliantServo(moved, settings, workspace, wiring.robot)
        warnings = (*warnings, *arm.warnings, *_doubts(servo.home, arm, moved.read_state()))
        self._servo = servo
        self.period, self._stale_after = settings.period, settings.stale_after
        self._show_every = max(1, round(1.0 / settings.period / state_rate))
        own_stop, at_end = arm.read_state().own_stop, arm.shutdown_message
        return Handshake(moved.limits, arm.firmware, arm.kinematics, at_end, had_power, warnings, own_stop)

    def set_target(self, angles: Vector, gripper: float, asked_at: float, seconds: float) -> None:
        """Move to a target in a given time, unless the request is stale.

        Args:
            angles: of the joints (N,), rad.
            gripper: opening, m.
            asked_at: steady time of the request, s; one older than the limit of staleness is ignored.
            seconds: from now, in which the arm is to arrive, s.

        Raises:
            ArmError: the arm is not connected yet.
            ValueError: a number is not finite, or there is no time to move in.
        """
        now = time.monotonic()
        if now - asked_at < self._stale_after:
            self._connected.set_target(angles, gripper, now, seconds)

    def halt(self, reason: str) -> None:
        """Bring the arm to rest as soon as its bounds allow, and hold it there.

        Args:
            reason: that the state of the arm reports from now on.

        Raises:
            ArmError: the arm is not connected yet.
        """
        self._connected.halt(reason)

    def enable(self) -> None:
        """Enable an arm that was found disabled, unless it is outside of its limits.

        Raises:
            ArmError: the arm is not connected, or not fit for it; the text says what to do.
        """
        self._connected.resume(time.monotonic(), leads_back=False)

    def resume(self) -> None:
        """Let the arm move again because a person has said so.

        Raises:
            ArmError: the arm is not connected, or not fit for it; the text says what to do.
        """
        self._connected.resume(time.monotonic())

    def comply(self, on: bool, guides: bool) -> None:
        """Make the joints springs and dampers, or end that; the arm then holds where it is.

        Args:
            on: whether they shall be.
            guides: a hand leads the arm; otherwise it follows its targets, softly.

        Raises:
            ArmError: the arm is not connected, has no such mode, or is not fit for it; the text says what to do.
        """
        servo = self._connected
        if not on:
            servo.stiffen(SWITCHED_OFF)
        else:
            servo.comply(time.monotonic(), guides)

    def reset(self, supported: bool) -> None:
        """Reset the arm out of its own stop, which cuts the power of its motors.

        Args:
            supported: a person confirms that the arm cannot fall.

        Raises:
            ArmError: the arm is not reset; the text says why and what to do.
        """
        servo = self._connected
        assert self._arm is not None
        reset(self._arm, servo, supported, self._stale_after)

    def park(self) -> None:
        """Set out for the home pose, slowly.

        Raises:
            ArmError: the arm is not connected, it or its home pose is outside of the joint limits, or every way there
                leaves the workspace.
        """
        self._connected.park(time.monotonic())

    def release(self) -> None:
        """Disable an arm that lies at its home pose.

        Raises:
            ArmError: the arm is not connected, does not lie there or does not report where it is; it stays enabled.
        """
        self._connected.release()

    # -- the process --------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run control periods until the node has ended, then bring the arm to rest."""
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
                self._arm.close()

    def _step(self, servo: Servo, arm: ArmDriver) -> None:
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
                self._calls.show(Told(report, now, parked, servo.target, clamped, tuple(lateness), arm.diagnostics()))
                lateness.clear()

    def _open(self, arm: ArmDriver, name: str, patience: float) -> None:
        """Claim the arm and connect; wait a while for one that is about to come up, or to be given free."""
        until = time.monotonic() + patience
        while True:
            try:
                self._claim = self._claim or claim(name)
                arm.connect()
            except UnfitArmError:  # another look would find the same
                raise
            except ArmError:
                if time.monotonic() > until:
                    raise
                time.sleep(_POLL_S)
            else:
                return

    @property
    def _connected(self) -> CompliantServo:
        if self._servo is None:
            raise ArmError("the arm is not connected")
        return self._servo


def reset(arm: ArmDriver, servo: Servo, supported: bool, stale_after: float) -> None:
    """Send the arm its reset, which cuts the power of its motors; `ArmDriver.read_state` tells what comes of it.

    Args:
        arm: that is connected.
        servo: that moves it; it sends nothing more until a person resumes.
        supported: a person says that the arm cannot fall.
        stale_after: age of the arm's state from which on it does not say where the arm is, s.

    Raises:
        ArmError: it is not reset; the text says why, what would happen, and what to do.
    """
    state = arm.read_state()
    if state.age > stale_after:
        raise ArmError(f"not reset: {state.line or 'nothing comes from the arm: look at its cable and its power'}")
    if not (state.own_stop or state.faults or not state.in_command_mode):
        raise ArmError("not reset: the arm reports no stop and no error of its own: call arm/resume")
    if servo.falls() and not supported:
        height = servo.height(state.angles)
        raise ArmError(
            f"not reset: the reset cuts the motors' power, and the arm FALLS from where it is (flange at {height:.2f} "
            "m). Have people support it, then call arm/reset with {supported: true}"
        )
    servo.go_mute()
    arm.reset()


def _doubts(home: HomePose, arm: ArmDriver, state: ArmState) -> tuple[str, ...]:
    """What speaks against parking the arm at its home pose, which is done where it has a shutdown message."""
    if not arm.shutdown_message:
        return ()
    found = "" if state.powered.any() or arm.has_brakes else home.found(state.angles)
    unreachable = home.unreachable and f"{home.unreachable}: the arm is not parked, and keeps its power at the end"
    return tuple(filter(None, (unreachable, found)))


def _come_to_rest(servo: Servo, period: float) -> None:
    servo.halt("its node has gone")
    before: Vector | None = None
    until = time.monotonic() + _REST_S
    for now, _ in control_periods(period):
        report = servo.step(now)
        sent = report.set_point
        if sent is None or now > until:
            return
        if before is not None and np.array_equal(sent, before) and not report.state.impedance:
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
    """Run the process; it is started by `kc_vla.arm.remote.Remote`."""
    ControlProcess(Calls(sys.argv[1:])).run()
