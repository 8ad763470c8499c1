"""What the arm is told in each control period: the way to the latest target, or to stay, or nothing.

It fails safe. A target is good for as long as it was given for; then the arm comes to rest, on the way if it is not
there yet, and holds. Whatever is wrong with the arm -
silence, a fault, a joint without power, a pressed teach button, angles that are not those it was sent to - blocks it
until a person has looked and calls `resume`; then it begins where the arm is.
"""

from __future__ import annotations

from collections import Counter, deque

import numpy as np

from kc_vla.arm.interface import LIES, ArmError, ArmState, MovedArm
from kc_vla.arm.limiter import MotionLimits, SetPointLimiter
from kc_vla.arm.parking import way_to_rest
from kc_vla.arm.ramp import Ramp
from kc_vla.arm.servo_modes import NOT_ENABLED, Mode, Report, ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.core.rig import JointLimits, Vector

_SENT = 1e-4
"""The arm was sent to its rest pose when no set-point is further than this from it, rad."""
_POWER_S = 3.0
"""How long the joints may take to get their power."""
_ASK_EVERY = 5
"""Control periods between two frames that ask for power, or to let go: one may be lost."""
_NOW_S = 0.2
"""A state that is older does not say where the arm is now: it may have gone on as it was told."""
_LITTLE = 0.1
"""rad of any joint, by which an arm that keeps to its bounds lags behind a target that moves."""
_STILL_HELD = 0.003
"""m by which a gripper may have changed since the arm was blocked: else somebody has opened it."""
_STANDS = 1e-3
"""rad/s, of all set-points."""


class Servo:
    """One arm; one call of `step` in each control period. Not thread-safe.

    Attributes:
        clamped: how often a target was cut, by what cut it.
    """

    def __init__(self, arm: MovedArm, settings: ServoSettings, workspace: Workspace) -> None:
        """Args: `arm` is connected; it gets power with the first `resume`."""
        self._arm, self._settings, self._workspace = arm, settings, workspace
        ones = np.ones(len(arm.rest))
        joints = JointLimits(arm.limits.lowest, arm.limits.highest, np.minimum(arm.limits.speed, settings.speed))
        limits = MotionLimits(joints, settings.acceleration * ones, settings.jerk * ones)
        self._limiter = SetPointLimiter(limits, settings.period, workspace, settings.margin)
        self._mode, self._reason = Mode.BLOCKED, NOT_ENABLED
        self._mute = True
        self._steps = 0
        self._powering_since = 0.0
        self._stepped_at: float | None = None
        self._ramp = Ramp.stay(arm.rest)
        self._way: deque[Vector] = deque()  # to the rest pose, after the end of `_ramp`
        self._gripper = 0.0
        self._is_told = False  # what to do with the gripper
        self._keeps_grip = False
        self._blocked_at = 0.0  # opening of the gripper, m
        self._astray_since: float | None = None
        self.clamped: Counter[str] = self._limiter.clamped

    @property
    def mode(self) -> Mode:
        """What it does."""
        return self._mode

    @property
    def target(self) -> Vector:
        """Where the arm is on its way to (N,), rad."""
        return self._ramp.end

    def resume(self, now: float) -> None:
        """Give the arm power where it has none, begin where it is, and hold: only on a person's word.

        Nothing happens unless the servo is blocked: an arm on its way must not begin anew.

        Raises:
            ArmError: the arm is not fit for it; the text says what to do.
        """
        if self._mode not in (Mode.BLOCKED, Mode.OFF):
            return
        state = self._arm.read()
        if trouble := self._not_to_begin(state):
            raise ArmError(f"the arm is not enabled: {trouble}")
        # What is held is held by pressing on it: the gripper of an arm that kept its power is told what it was told.
        still = abs(state.gripper - self._blocked_at) < _STILL_HELD
        self._keeps_grip = self._is_told and still and bool(state.powered.all())
        self._mode, self._reason, self._mute, self._powering_since = Mode.POWERING, "getting power", True, now

    def aim(self, angles: Vector, gripper: float, now: float, seconds: float) -> None:
        """Be at `angles` (N,), rad, with the gripper at `gripper`, m, in `seconds` from `now`, s; then hold. Where that
        is too short a time for the way the arm comes to rest on it.

        Nothing happens while the servo is blocked or parks.

        Raises:
            ValueError: a number that is not finite, or no time to move in.
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
        """Come to rest as soon as the bounds allow, and hold; the way to the rest pose is given up, too."""
        if self._mode is Mode.POWERING:  # what has power holds by itself
            self._mode, self._reason = Mode.BLOCKED, reason
        elif self._mode not in (Mode.BLOCKED, Mode.OFF):
            self._stay(self._limiter.stopping_point())
            self._mode, self._reason = Mode.HOLD, reason

    def park(self, now: float) -> None:
        """Set out for the rest pose, slowly; `parked` tells when the arm is there.

        Raises:
            ArmError: there is no way there inside the workspace; the arm holds.
        """
        if self._mode not in (Mode.HOLD, Mode.FOLLOW):
            return
        start = self._limiter.stopping_point()
        way = way_to_rest(start, self._arm.rest, self._workspace, self._settings.margin)
        if way is None:
            self._stay(start)
            self._mode, self._reason = Mode.HOLD, "no way to the rest pose stays inside the workspace"
            raise ArmError(f"{self._reason}: move the arm elsewhere first")
        self._way, self._limiter.held_back = deque(way), ""
        self._ramp = Ramp.slow(start, self._way.popleft(), now, self._settings.park_speed)
        self._mode, self._reason = Mode.PARK, "parking"

    def parked(self, report: Report) -> bool:
        """Whether the arm lies at its rest pose by this report."""
        if report.mode is not Mode.PARK or report.set_point is None:
            return False
        sent, there = np.abs(report.set_point - self._arm.rest), np.abs(report.state.angles - self._arm.rest)
        return bool(sent.max() < _SENT and there.max() < LIES)

    def let_go(self) -> None:
        """Take the power of an arm that lies at its rest pose; nothing else is sent to it until `resume`.

        Raises:
            ArmError: it does not lie there, or does not tell where it is; it keeps its power.
        """
        state = self._arm.read()
        if trouble := self._trouble(state):
            raise ArmError(trouble)
        if self._mode is not Mode.PARK or not self._lies(state):
            raise ArmError("the arm does not lie at its rest pose")
        self._mode, self._reason, self._mute = Mode.OFF, "it lies without power", True

    def step(self, now: float) -> Report:
        """Do one control period at the time `now`, s."""
        state = self._arm.read()
        stalled = 0.0 if self._stepped_at is None else now - self._stepped_at
        self._stepped_at = now
        self._steps += 1
        if self._mode is Mode.OFF:
            self._stay_off(state)
        elif self._mode is Mode.POWERING:
            self._get_power(state, now)
        elif self._mode is Mode.BLOCKED:
            self._mute |= self._is_lost(state)
        elif trouble := self._stalled(stalled) or self._trouble(state) or self._strayed(state, now):
            self._block(state, trouble)
        elif self._mode is Mode.FOLLOW and self._ramp.over(now) > self._settings.grace:
            self._expire()
        elif self._mode is Mode.PARK:
            self._go_on_parking(now)
        if self._mute:  # what is sent to an arm that cannot be seen may be followed later, from anywhere
            return Report(self._mode, self._reason, state, None)
        way = self._limiter.next(self._ramp.at(now), self._ramp.speeds(now))
        set_point = np.clip(way, self._arm.limits.lowest, self._arm.limits.highest)  # it may lie a little beyond them
        if self._steps % self._settings.command_every == 0:
            self._arm.command(set_point, self._gripper)
        return Report(self._mode, self._reason, state, set_point, self._limiter.held_back)

    def _expire(self) -> None:
        """Nobody asks for the motion any more: what is left of it is done if it is little, and else given up."""
        if np.abs(self._ramp.end - self._limiter.angles).max() > _LITTLE:
            self._stay(self._limiter.stopping_point())
        self._mode, self._reason = Mode.HOLD, "no new target"

    def _get_power(self, state: ArmState, now: float) -> None:
        if trouble := self._not_to_begin(state):
            self._mode, self._reason = Mode.BLOCKED, trouble
        elif state.powered.all() and state.obeys:
            self._stay(state.angles)
            self._limiter.begin(state.angles)
            self._gripper = min(self._gripper, state.gripper) if self._keeps_grip else state.gripper
            self._mute, self._astray_since = False, None
            self._mode, self._reason = Mode.HOLD, "ready"
        elif now - self._powering_since > _POWER_S:
            self._mode, self._reason = Mode.BLOCKED, self._trouble(state)
        elif self._steps % _ASK_EVERY == 0:
            self._arm.give_power()

    def _stay_off(self, state: ArmState) -> None:
        if self._steps % _ASK_EVERY == 0 and state.powered.any() and self._lies(state):
            self._arm.take_power()

    def _block(self, state: ArmState, trouble: str) -> None:
        astray = (np.abs(state.angles - self._limiter.angles) > self._settings.astray) & (state.age <= _NOW_S)
        self._stay(np.where(astray, state.angles, self._limiter.stopping_point()))  # no pressing on
        self._mute = self._is_lost(state)
        self._mode, self._reason, self._blocked_at = Mode.BLOCKED, trouble, state.gripper

    def _go_on_parking(self, now: float) -> None:
        if self._limiter.held_back and np.abs(self._limiter.speeds).max() < _STANDS:
            self._stay(self._limiter.angles)
            self._mode, self._reason = Mode.HOLD, f"the way to the rest pose crosses the {self._limiter.held_back}"
        elif self._way and self._ramp.over(now) > 0.0:
            self._ramp = Ramp.slow(self._ramp.end, self._way.popleft(), now, self._settings.park_speed)

    def _is_lost(self, state: ArmState) -> bool:
        return state.age > self._settings.stale_after or not state.obeys

    def _lies(self, state: ArmState) -> bool:
        return bool(np.abs(state.angles - self._arm.rest).max() < LIES)

    def _stay(self, angles: Vector) -> None:
        self._way.clear()
        self._ramp = Ramp.stay(np.clip(angles, self._arm.limits.lowest, self._arm.limits.highest))

    def _silence(self, state: ArmState) -> str:
        if state.age <= self._settings.stale_after:
            return ""
        why = state.line or "look at its cable, its power and the bus"
        return f"nothing has come from the arm for {state.age:.2f} s: {why}"

    def _not_to_begin(self, state: ArmState) -> str:
        return self._unwell(state) or state.doubt

    def _unwell(self, state: ArmState) -> str:
        return self._silence(state) or "; ".join(state.faults)

    def _trouble(self, state: ArmState) -> str:
        if trouble := self._unwell(state):
            return trouble
        if not state.powered.all():
            joint = int(np.flatnonzero(~state.powered)[0]) + 1
            return f"joint {joint} has no power: support the arm, then look at its driver"
        return "" if state.obeys else "the arm does not obey the bus: is its teach button pressed?"

    def _stalled(self, seconds: float) -> str:
        """A loop that stood still knows nothing of what happened meanwhile: what waited for it looks old."""
        return f"its control loop stood still for {seconds:.1f} s" if seconds > self._settings.stalled_after else ""

    def _strayed(self, state: ArmState, now: float) -> str:
        far = np.abs(state.angles - self._limiter.angles)
        if far.max() <= self._settings.astray or state.age > _NOW_S:
            self._astray_since = None
            return ""
        self._astray_since = now if self._astray_since is None else self._astray_since
        if now - self._astray_since < self._settings.astray_after:
            return ""
        joint = int(far.argmax())
        return (
            f"joint {joint + 1} is {np.degrees(far[joint]):.0f} degrees from where it was sent: "
            "is something in its way, or does another program command the arm?"
        )
