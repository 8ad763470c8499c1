"""The set-point of each control period: on the way to the latest target, at rest, or none.

The servo fails safe. An arm begins where it is. One that is outside of its joint limits moves on a person's `resume`
alone, which leads it back inside. A target holds for the time that it came with. Then the arm comes to rest, on the way
if it is not there yet, and holds. A fault blocks the arm: silence, an error, a joint without power, a pressed teach
button, angles that are not those of the set-points. It stays blocked until a person has looked and calls `resume`; then
it begins where it is.
"""

from __future__ import annotations

from collections import Counter, deque

import numpy as np

from kc_vla.arm.home_pose import HomePose
from kc_vla.arm.interface import ArmError, ArmState, MovableArm
from kc_vla.arm.limiter import MotionLimits, SetPointLimiter
from kc_vla.arm.outside import OutsideWatch, beginning, way_back
from kc_vla.arm.parking import way_to_rest
from kc_vla.arm.ramp import Ramp
from kc_vla.arm.servo_checks import NOW_S, Checks
from kc_vla.arm.servo_modes import NOT_ENABLED, Mode, Report, ServoSettings
from kc_vla.arm.set_points import RefusedSetPointError, SetPointGuard
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import JointLimits, Vector

_SENT = 1e-4
"""Largest distance, rad, of a set-point from the home pose at which the arm counts as sent there."""
_POWER_S = 3.0
"""Time that the joints may take until they are enabled, s."""
_ASK_EVERY = 5
"""Control periods between two frames that enable or disable the motors, because one may be lost."""
_LAGS = 0.05
"""Distance from its set-point, rad, at which a joint that is led back inside its limits counts as not following."""
_LITTLE = 0.1
"""Distance, rad of any joint, by which an arm within its limits lags behind a moving target."""
_STILL_HELD = 0.003
"""Change of the gripper width since the arm was blocked, m, above which a person has opened the gripper."""
_STANDS = 1e-3
"""Velocity of the set-points, rad/s, below which they count as at rest."""
_BY_HAND = "bring it inside by hand, then call arm/resume"


class Servo:
    """The control loop of one arm; call `step` once in each control period. It is not thread-safe.

    Attributes:
        home: home pose, where the arm is parked, and what speaks against it.
        clamped: number of targets that were cut, by the limit that cut them.
    """

    def __init__(self, arm: MovableArm, settings: ServoSettings, workspace: Workspace) -> None:
        """Prepare a blocked servo; the first `resume` enables the arm.

        Args:
            arm: arm of N joints, connected; its own limits count where they are narrower than the settings.
            settings: periods, s, and limits of velocity, rad/s, acceleration, rad/s2, and jerk, rad/s3, for all joints.
            workspace: box in the base frame, m, that the flange must not leave; it knows the arm's kinematics.

        Raises:
            ArmError: The limits of the arm leave a joint no motion.
        """
        self._arm, self._settings, self._workspace = arm, settings, workspace
        own, ones = arm.limits, np.ones(len(arm.home_pose))
        joints = JointLimits(own.lowest, own.highest, np.minimum(own.speed, settings.speed))
        acceleration = np.minimum(own.acceleration, settings.acceleration * ones)
        limits = MotionLimits(joints, acceleration, np.minimum(own.jerk, settings.jerk * ones))
        self._guard = SetPointGuard(arm, joints.speed, settings.period * settings.command_every)
        self._limiter = SetPointLimiter(limits, settings.period, workspace, settings.margin)
        self._park_speed = np.minimum(joints.speed, settings.park_speed)
        self._mode, self._reason = Mode.BLOCKED, NOT_ENABLED
        self._mute = True
        self._own_stop = False  # that of the arm is why it is blocked
        self._steps = 0
        self._powering_since = 0.0
        self._stepped_at: float | None = None
        self.home = HomePose(arm.home_pose, arm.limits, workspace.kinematics, workspace.down)
        self._ramp = Ramp.stay(self.home.angles)
        self._outside = OutsideWatch(arm.limits)
        self._leads_back = False
        self._way: deque[Vector] = deque()  # to the rest pose, after the end of `_ramp`
        self._gripper = 0.0
        self._is_told = False  # what to do with the gripper
        self._keeps_grip = False
        self._blocked_at = 0.0  # opening of the gripper, m
        self._checks = Checks(settings, arm.limits)
        self.clamped: Counter[str] = self._limiter.clamped

    @property
    def mode(self) -> Mode:
        """Return the mode that the servo is in."""
        return self._mode

    @property
    def target(self) -> Vector:
        """Return where the arm is on its way to (N,), rad."""
        return self._ramp.end

    def resume(self, now: float, leads_back: bool = True) -> None:
        """Enable the arm where it is disabled, begin where it is, and hold: only because a person has said so.

        Nothing happens unless the servo is blocked: an arm on its way must not begin anew.

        Args:
            now: Steady time, s.
            leads_back: Whether the servo leads an arm that is outside of its joint limits back inside. Otherwise such
                an arm stays blocked.

        Raises:
            ArmError: The arm reports a fault, or does not report; the text says what to do.
        """
        if self._mode not in (Mode.BLOCKED, Mode.OFF):
            return
        state = self._arm.read_state()
        if trouble := self._checks.not_to_begin(state):
            raise ArmError(f"the arm is not enabled: {trouble}")
        self._leads_back = leads_back
        if self._stays_outside(state):
            return
        # What is held is held by pressing on it: the gripper of an arm that kept its power is told what it was told.
        still = abs(state.gripper - self._blocked_at) < _STILL_HELD
        self._keeps_grip = self._is_told and still and bool(state.powered.all())
        self._mode, self._reason, self._mute, self._powering_since = Mode.POWERING, "getting power", True, now

    def set_target(self, angles: Vector, gripper: float, now: float, seconds: float) -> None:
        """Move to a target within a time, and hold there.

        An arm that cannot be there in time comes to rest on the way. Nothing happens while the servo is blocked or
        parks. A target outside of the workspace is replaced by the place that the arm is on its way through.

        Args:
            angles: Target angles of the joints (N,), rad.
            gripper: Target width of the gripper, m.
            now: Steady time, s.
            seconds: Time from `now` until the arm should be there, s; above 0.

        Raises:
            ValueError: A number is not finite, or there is no time to move in.
        """
        if not (np.isfinite(angles).all() and np.isfinite(gripper) and 0 < seconds < np.inf):
            raise ValueError(f"target {np.asarray(angles).tolist()}, gripper {gripper}, in {seconds} s: not usable")
        if self._mode not in (Mode.HOLD, Mode.FOLLOW):
            return
        if cut := self._workspace.outside(angles):
            self.clamped[cut] += 1
            angles = self._ramp.at(now)
        self._ramp = Ramp(self._ramp.at(now), np.array(angles, float), now, seconds)
        self._gripper, self._is_told, self._mode, self._reason = gripper, True, Mode.FOLLOW, ""

    def halt(self, reason: str) -> None:
        """Come to rest as soon as the limits allow, and hold; the way to the home pose is given up, too.

        Args:
            reason: Text that the reports carry from now on; it says why the arm halted.
        """
        if self._mode is Mode.POWERING:  # what has power holds by itself
            self._mode, self._reason = Mode.BLOCKED, reason
        elif self._mode is Mode.RETURN:
            self._stay(self._limiter.stopping_point())
            self._mode, self._reason = Mode.BLOCKED, f"{reason}; {self._outside.advice}"
        elif self._mode not in (Mode.BLOCKED, Mode.OFF):
            self._stay(self._limiter.stopping_point())
            self._mode, self._reason = Mode.HOLD, reason

    def park(self, now: float) -> None:
        """Set out for the home pose, slowly; `parked` returns whether the arm is there.

        Args:
            now: Steady time, s.

        Raises:
            ArmError: The arm or its home pose is outside of the joint limits, or no way there is inside the workspace.
        """
        if self._mode is Mode.RETURN:
            self.halt("not parked")
            raise ArmError(self._outside.text)
        if self._mode not in (Mode.HOLD, Mode.FOLLOW):
            return
        if why := self.home.unreachable:
            self.halt(why)
            raise ArmError(why)
        start = self._limiter.stopping_point()
        way = way_to_rest(start, self.home.angles, self._workspace, self._settings.margin)
        if way is None:
            self._stay(start)
            self._mode, self._reason = Mode.HOLD, "no way to the rest pose stays inside the workspace"
            raise ArmError(f"{self._reason}: move the arm elsewhere first")
        self._way, self._limiter.held_back = deque(way), ""
        self._ramp = Ramp.slow(start, self._way.popleft(), now, self._park_speed)
        self._mode, self._reason = Mode.PARK, "parking"

    def go_mute(self) -> None:
        """Send a blocked arm nothing more until `resume`, because its motors are about to be disabled.

        Raises:
            ArmError: The arm is not blocked, so it still needs set-points.
        """
        if self._mode is not Mode.BLOCKED:
            raise ArmError(f"the arm is not blocked: it does this: {self._mode}")
        self._mute = True

    def parked(self, report: Report) -> bool:
        """Return whether the arm lies at its home pose, by the set-point and the measured angles of a report."""
        if report.mode is not Mode.PARK or report.set_point is None:
            return False
        return bool(np.abs(report.set_point - self.home.angles).max() < _SENT) and self.home.lies(report.state.angles)

    def falls(self) -> bool:
        """Return whether the arm would fall without power: it is enabled and may not lie at its home pose.

        Raises:
            ArmError: The arm does not report its state.
        """
        state = self._arm.read_state()
        return (
            not self._arm.has_brakes
            and bool(state.powered.any())
            and (bool(self.home.doubt) or not self.home.lies(state.angles))
        )

    def height(self, angles: Vector) -> float:
        """Return how high the flange is above the base at joint angles (N,), rad, against gravity, m."""
        return self._workspace.height(angles)

    def release(self) -> None:
        """Disable an arm that lies at its home pose; nothing else is sent to it until `resume`.

        Raises:
            ArmError: The arm does not lie there, or does not report where it is; it stays enabled.
        """
        state = self._arm.read_state()
        if trouble := self._checks.trouble(state):
            raise ArmError(trouble)
        if self._mode is not Mode.PARK or not self.home.lies(state.angles):
            raise ArmError("the arm does not lie at its home pose")
        if self.home.doubt:
            raise ArmError(self.home.doubt)
        self._mode, self._reason, self._mute = Mode.OFF, "it lies without power", True

    def step(self, now: float) -> Report:
        """Carry out one control period.

        Args:
            now: Steady time, s.

        Returns:
            The mode, the state that the arm reports, and the set-point of this period; None where none is sent.
        """
        state = self._arm.read_state()
        stalled = 0.0 if self._stepped_at is None else now - self._stepped_at
        self._stepped_at = now
        self._steps += 1
        if self._mode is Mode.OFF:
            self._stay_off(state)
        elif self._mode is Mode.POWERING:
            self._get_power(state, now)
        elif self._mode is Mode.BLOCKED:
            self._mute |= self._checks.is_lost(state)
            self._note_own_stop(state)
            if state.age <= NOW_S:
                self._reason = self._outside.said(state.angles, self._reason)
        elif trouble := self._checks.stalled(stalled) or self._checks.trouble(state) or self._strayed(state, now):
            self._block(state, trouble)
        elif self._mode is Mode.RETURN:
            self._go_on_returning(state, now)
        elif self._mode is Mode.FOLLOW and self._ramp.over(now) > self._settings.grace:
            self._expire()
        elif self._mode is Mode.PARK:
            self._go_on_parking(now)
        if self._mute:  # what is sent to an arm that cannot be seen may be followed later, from anywhere
            return Report(self._mode, self._reason, state, None, outside=self._outside.text)
        way = self._limiter.next(self._ramp.at(now), self._ramp.speeds(now))
        set_point = self._limiter.reachable(way)  # it may lie a little beyond
        try:
            set_point = self._send(set_point, state)
        except RefusedSetPointError as error:  # the arm holds what it was sent last
            self._mode, self._reason, self._mute = Mode.BLOCKED, str(error), True
        shown, held_back = (None if self._mute else set_point), self._limiter.held_back
        return Report(self._mode, self._reason, state, shown, held_back, self._outside.text, self.is_compliant)

    @property
    def is_compliant(self) -> bool:
        """Return whether the joints are springs, see `kc_vla.arm.compliant_servo`."""
        return False

    def _send(self, set_point: Vector, state: ArmState) -> Vector:
        """Send a set-point (N,), rad, in the periods in which the arm gets one, and return it."""
        if self._steps % self._settings.command_every == 0:
            self._guard.send(set_point, self._gripper)
        return set_point

    def _expire(self) -> None:
        """End the motion because no new target comes: finish a short rest of it, and give up a longer one."""
        if np.abs(self._ramp.end - self._limiter.angles).max() > _LITTLE:
            self._stay(self._limiter.stopping_point())
        self._mode, self._reason = Mode.HOLD, "no new target"

    def _get_power(self, state: ArmState, now: float) -> None:
        if trouble := self._checks.not_to_begin(state):
            self._mode, self._reason = Mode.BLOCKED, trouble
        elif state.powered.all() and state.in_command_mode and not state.gripper_faults:
            if self._stays_outside(state):
                return
            returns = self._outside.look(beginning(state.angles, self._arm.limits, self._guard.step))
            start = self._begin_at(state.angles, self._settings.return_speed if returns else np.inf)
            self._gripper = min(self._gripper, state.gripper) if self._keeps_grip else state.gripper
            self._mute, self._steps = False, 0  # the first set-point, where it is, leaves in this period
            if returns:
                self._return(start, now)
            else:
                self._mode, self._reason = Mode.HOLD, "ready"
        elif now - self._powering_since > _POWER_S:
            self._mode, self._reason = Mode.BLOCKED, self._checks.trouble(state)
        elif self._steps % _ASK_EVERY == 0:
            self._arm.enable()

    def _begin_at(self, angles: Vector, top: float = np.inf) -> Vector:
        """Begin at rest at the measured angles (N,), rad, with velocities up to `top`, rad/s; return the set-point."""
        start = beginning(angles, self._arm.limits, self._guard.step)
        self._guard.begin(angles)
        self._limiter.begin(start, top)
        self._stay(start)
        self._checks.begin()
        return start

    def _return(self, start: Vector, now: float) -> None:
        """Lead the arm back inside at the velocity limit of the limiter: a loop that is late does not hurry."""
        end = way_back(start, self._arm.limits)
        self._ramp = Ramp(end, end, now, float(np.abs(end - start).max()) / self._settings.return_speed)
        self._mode, self._reason = Mode.RETURN, f"{self._outside.text}: it is led back inside slowly"

    def _go_on_returning(self, state: ArmState, now: float) -> None:
        there = self._is_there()
        if there and not self._outside.look(state.angles):
            self._limiter.hurry()
            self._mode, self._reason = Mode.HOLD, "ready"
        elif self._limiter.held_back and np.abs(self._limiter.speeds).max() < _STANDS:
            self._block(state, f"the way back inside its limits crosses the {self._limiter.held_back}: {_BY_HAND}")
        elif there and self._ramp.over(now) > _POWER_S:
            self._block(state, f"{self._outside.text}, and it does not come back inside: {_BY_HAND}")

    def _stays_outside(self, state: ArmState) -> bool:
        """Return whether the arm is outside of its limits, and no person has allowed leading it back."""
        if not self._outside.look(state.angles) or self._leads_back:
            return False
        self._mode, self._reason = Mode.BLOCKED, self._outside.advice
        return True

    def _strayed(self, state: ArmState, now: float) -> str:
        if self._mode is not Mode.RETURN:
            return self._checks.strayed(state, self._limiter.angles, now, self._settings.astray)
        lags = self._checks.strayed(state, self._limiter.angles, now, _LAGS)
        return f"{self._outside.text}, and it does not follow on the way back inside: {_BY_HAND}" if lags else ""

    def _stay_off(self, state: ArmState) -> None:
        if self._steps % _ASK_EVERY == 0 and state.powered.any() and self.home.lies(state.angles):
            self._arm.disable()

    def _block(self, state: ArmState, trouble: str) -> None:
        self._mute = self._checks.is_lost(state)
        is_seen = state.age <= NOW_S and not self._mute
        astray = (np.abs(state.angles - self._limiter.angles) > self._settings.astray) & is_seen
        self._stay(np.where(astray, state.angles, self._limiter.stopping_point()))  # no pressing on
        self._mode, self._reason, self._blocked_at = Mode.BLOCKED, trouble, state.gripper

    def _is_there(self) -> bool:
        """Return whether the set-points have reached the end of the motion."""
        return bool(np.abs(self._limiter.angles - self._ramp.end).max() < _SENT)

    def _go_on_parking(self, now: float) -> None:
        if self._limiter.held_back and np.abs(self._limiter.speeds).max() < _STANDS:
            self._stay(self._limiter.angles)
            self._mode, self._reason = Mode.HOLD, f"the way to the rest pose crosses the {self._limiter.held_back}"
        elif self._way and self._ramp.over(now) > 0.0 and self._is_there():  # a slow joint may lag behind the ramp
            self._ramp = Ramp.slow(self._ramp.end, self._way.popleft(), now, self._park_speed)

    def _note_own_stop(self, state: ArmState) -> None:
        """Report nothing but the arm's own stop while it is set; once it is reset, wait for a person."""
        if state.own_stop:
            self._reason, self._own_stop = state.own_stop, True
        elif self._own_stop:
            self._reason, self._own_stop = NOT_ENABLED, False

    def _stay(self, angles: Vector) -> None:
        self._way.clear()
        self._ramp = Ramp.stay(self._limiter.reachable(angles))
