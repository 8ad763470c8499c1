"""What the arm is told in each control period: the way to the latest target, or to stay, or nothing.

It fails safe. A target is good for as long as it was given for, then the arm holds. Whatever is wrong with the arm -
silence, a fault, a joint without power, a pressed teach button, angles that are not those it was sent to - blocks it
until a person has looked and calls `resume`; then it begins where the arm is.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kc_vla.arm.interface import LIES, ArmError, ArmState, JointLimits, MovedArm, Vector
from kc_vla.arm.limiter import MotionLimits, SetPointLimiter
from kc_vla.arm.workspace import Workspace


class Mode(StrEnum):
    """What the servo does."""

    HOLD = "hold"
    FOLLOW = "follow"
    PARK = "park"
    BLOCKED = "blocked"


_SENT = 1e-4
"""The arm was sent to its rest pose when no set-point is further than this from it, rad."""


@dataclass(frozen=True)
class ServoSettings:
    """Bounds of the motion, and of what is put up with.

    Attributes:
        period: of control, s.
        command_every: the arm is sent its set-point in every so many-th control period.
        speed: of any joint, rad/s; the arm's own limit counts where it is narrower.
        acceleration: rad/s2.
        jerk: rad/s3.
        park_speed: on the way to the rest pose, rad/s.
        stale_after: age of the arm's state beyond which it counts as lost, s.
        astray: distance of a joint from where it was sent that is too far, rad.
        astray_after: for so long, s.
        grace: how long the arm keeps to an old target's end before this is called a hold, s.
        lowest, highest: corners of the workspace, see `Workspace`.
    """

    period: float = 0.005
    command_every: int = 1
    speed: float = 1.5
    acceleration: float = 8.0
    jerk: float = 80.0
    park_speed: float = 0.3
    stale_after: float = 0.2
    astray: float = 0.3
    astray_after: float = 0.3
    grace: float = 0.05
    lowest: tuple[float, float, float] = Workspace.lowest
    highest: tuple[float, float, float] = Workspace.highest


@dataclass(frozen=True, eq=False)
class Report:
    """What was done in one control period.

    Attributes:
        mode: what the servo does.
        reason: why it holds or is blocked, in words.
        state: what the arm told of itself.
        set_point: angles of this period (N,), rad; None if the arm must not be sent any.
    """

    mode: Mode
    reason: str
    state: ArmState
    set_point: Vector | None


@dataclass(frozen=True, eq=False)
class _Ramp:
    """A straight way in joint space, `begun` at a time in s and of some `seconds`."""

    start: Vector
    end: Vector
    begun: float
    seconds: float

    @classmethod
    def stay(cls, angles: Vector) -> _Ramp:
        return cls(np.array(angles, float), np.array(angles, float), 0.0, 1.0)

    def at(self, now: float) -> Vector:
        share = min(max((now - self.begun) / self.seconds, 0.0), 1.0)
        return np.asarray(self.start + share * (self.end - self.start))

    def speeds(self, now: float) -> Vector:
        return np.asarray((self.end - self.start) / self.seconds * (now < self.begun + self.seconds))

    def over(self, now: float) -> float:
        """Seconds since it has ended."""
        return now - self.begun - self.seconds


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
        self._limiter = SetPointLimiter(
            MotionLimits(joints, settings.acceleration * ones, settings.jerk * ones), settings.period
        )
        self._mode, self._reason = Mode.BLOCKED, "not enabled yet"
        self._mute = True
        self._steps = 0
        self._ramp = _Ramp.stay(arm.rest)
        self._gripper = 0.0
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

    def resume(self) -> None:
        """Give the arm power where it has none, begin where it is, and hold: only on a person's word.

        Nothing happens unless the servo is blocked: an arm on its way must not begin anew.

        Raises:
            ArmError: the arm is not fit for it; the text says what to do.
        """
        if self._mode is not Mode.BLOCKED:
            return
        self._arm.enable()
        state = self._arm.read()
        if trouble := self._trouble(state):
            raise ArmError(trouble)
        self._stay(state.angles)
        self._limiter.begin(state.angles)
        self._gripper, self._mute, self._astray_since = state.gripper, False, None
        self._mode, self._reason = Mode.HOLD, "ready"

    def aim(self, angles: Vector, gripper: float, now: float, seconds: float) -> None:
        """Be at `angles` (N,), rad, with the gripper at `gripper`, m, in `seconds` from `now`, s; then hold.

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
        self._ramp = _Ramp(self._ramp.at(now), np.array(angles, float), now, seconds)
        self._gripper, self._mode, self._reason = gripper, Mode.FOLLOW, ""

    def halt(self, reason: str) -> None:
        """Come to rest as soon as the bounds allow, and hold; the way to the rest pose is given up, too."""
        if self._mode is not Mode.BLOCKED:
            self._stay(self._limiter.stopping_point())
            self._mode, self._reason = Mode.HOLD, reason

    def park(self, now: float) -> None:
        """Set out for the rest pose, slowly; `parked` tells when the arm is there."""
        if self._mode in (Mode.HOLD, Mode.FOLLOW):
            start = self._ramp.at(now)
            seconds = max(
                float(np.abs(self._arm.rest - start).max()) / self._settings.park_speed, self._settings.period
            )
            self._ramp = _Ramp(start, self._arm.rest, now, seconds)
            self._mode, self._reason = Mode.PARK, "parking"

    def parked(self, report: Report) -> bool:
        """Whether the arm lies at its rest pose by this report."""
        if report.mode is not Mode.PARK or report.set_point is None:
            return False
        sent, there = np.abs(report.set_point - self._arm.rest), np.abs(report.state.angles - self._arm.rest)
        return bool(sent.max() < _SENT and there.max() < LIES)

    def step(self, now: float) -> Report:
        """Do one control period at the time `now`, s."""
        state = self._arm.read()
        lost = state.age > self._settings.stale_after or not state.obeys
        if self._mode is Mode.BLOCKED:
            self._mute |= lost
        elif trouble := self._trouble(state) or self._strayed(state, now):
            astray = np.abs(state.angles - self._limiter.angles) > self._settings.astray
            self._stay(np.where(astray, state.angles, self._limiter.stopping_point()))  # no pressing on
            self._mute = lost
            self._mode, self._reason = Mode.BLOCKED, trouble
        elif self._mode is Mode.FOLLOW and self._ramp.over(now) > self._settings.grace:
            self._mode, self._reason = Mode.HOLD, "no new target"
        if self._mute:  # what is sent to an arm that cannot be seen may be followed later, from anywhere
            return Report(self._mode, self._reason, state, None)
        way = self._limiter.next(self._ramp.at(now), self._ramp.speeds(now))
        set_point = np.clip(way, self._arm.limits.lowest, self._arm.limits.highest)  # it may lie a little beyond them
        if self._steps % self._settings.command_every == 0:
            self._arm.command(set_point, self._gripper)
        self._steps += 1
        return Report(self._mode, self._reason, state, set_point)

    def _stay(self, angles: Vector) -> None:
        self._ramp = _Ramp.stay(np.clip(angles, self._arm.limits.lowest, self._arm.limits.highest))

    def _trouble(self, state: ArmState) -> str:
        if state.age > self._settings.stale_after:
            return f"nothing has come from the arm for {state.age:.2f} s: look at its cable, its power and the bus"
        if state.faults:
            return "; ".join(state.faults)
        if not state.powered.all():
            joint = int(np.flatnonzero(~state.powered)[0]) + 1
            return f"joint {joint} has no power: support the arm, then look at its driver"
        return "" if state.obeys else "the arm does not obey the bus: is its teach button pressed?"

    def _strayed(self, state: ArmState, now: float) -> str:
        far = np.abs(state.angles - self._limiter.angles)
        if far.max() <= self._settings.astray:
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
