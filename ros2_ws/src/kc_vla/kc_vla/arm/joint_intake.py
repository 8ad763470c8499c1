"""Joint states of third-party drivers: taken in by name, whole or in parts, and only where they can be true."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla.arm.outside import unbelievable
from kc_vla.core.robot import Robot, Vector
from kc_vla.core.robot_interface import RobotInterface

_AHEAD_NS = 10_000_000_000
"""So far ahead of this process's clock a stamp may be: two machines do not quite agree."""
_LATE_S = 0.1
"""So old a joint state may be when it comes before this is said."""
_LEAP, _LEAP_TIMES, _LEAP_PERIOD_S = 0.1, 2.0, 0.05
"""How far a joint may have gone from one message to the next: so many rad, and what it covers at so many times its top
speed in that time, or in this one, s, if that is shorter."""
_FORGOTTEN_S = 2.0
"""After so long without a message that could be true the next is believed: any arm counts as lost by then."""
_SURE_S = 1.0
"""Time, s, for which messages must agree with the joint velocities before a person may begin there."""
_GRIPPER_S = 2.0
"""Time without a message of the gripper after which it counts as lost, s."""
_MOST_TOLD, _MOST_NAMES = 120, 64


@dataclass(frozen=True, eq=False)
class MeasuredJoints:
    """The state of N joints, by the messages of a third-party driver.

    Attributes:
        age: time since the oldest of these values was measured, s; infinite while one is missing.
        angles: joint angles (N,), rad.
        speeds: joint velocities (N,), rad/s.
        share: width of the gripper as a share, 0 closed .. 1 open.
        faults: faults, in words.
        refusal: reason why the latest message was left out, or is old; empty if neither.
        doubt: reason why the arm must not begin from these angles yet; empty if it may.
    """

    age: float
    angles: Vector
    speeds: Vector
    share: float
    faults: tuple[str, ...]
    refusal: str
    doubt: str = ""


class JointIntake:
    """The filter between a third-party driver's joint states and the arm that they describe.

    Messages come from another thread than the one that reads.
    """

    def __init__(self, interface: RobotInterface, robot: Robot) -> None:
        """Wait for the first message.

        Args:
            interface: the driver's names and units.
            robot: whose joints they are.
        """
        self._interface, self._robot = interface, robot
        names = (*interface.joints, interface.gripper.joint)
        self._columns = {name: number for number, name in enumerate(names)}
        count = len(names)
        self._lock = threading.Lock()
        self._values, self._speeds = np.zeros(count), np.zeros(count)
        self._stamps_ns = [-1] * count
        self._at = np.full(count, -np.inf)
        self._refusal = f"no joint states come on {interface.state}: start the robot's driver first"
        self._heard: set[str] = set()
        self._leapt, self._leapt_at = "", -np.inf

    def take(
        self,
        names: Sequence[str],
        positions: Sequence[float],
        velocities: Sequence[float],
        stamp_ns: int,
        now_ns: int,
        at: float,
    ) -> None:
        """Take in a message.

        Args:
            names: of joints, ours among others in any order.
            positions: one for each, in the driver's units.
            velocities: likewise; where there are others, or they are not finite, the positions tell.
            stamp_ns: when it was measured, 0 where the driver does not say.
            now_ns: what time it is by the clock of the stamps.
            at: steady time at which it came, s.
        """
        with self._lock:
            self._refusal = self._trouble(names, positions, stamp_ns, now_ns) or self._impossible(names, positions, at)
            if self._refusal:
                return
            self._heard |= set(names[: max(0, _MOST_NAMES - len(self._heard))])
            late = max(0.0, (now_ns - stamp_ns) / 1e9) if stamp_ns else 0.0
            measured_at = at - late
            if late > _LATE_S:
                self._refusal = (
                    f"joint states on {self._interface.state} are stamped {late:.2f} s before they come: do the clocks "
                    "of the machines agree, and use_sim_time?"
                )
            for place, name in enumerate(names):
                column = self._columns.get(name)
                if column is not None:
                    told = velocities[place] if len(velocities) == len(names) else np.nan
                    self._set(column, float(positions[place]), float(told), stamp_ns, measured_at)

    def untold(self) -> str:
        """Return which joints were never reported, and the names that were; empty if all were."""
        with self._lock:
            missing = [name for name, column in self._columns.items() if not np.isfinite(self._at[column])]
            heard = sorted(self._heard)
        if not missing:
            return ""
        return (
            f"joint states on {self._interface.state} tell nothing of {', '.join(missing)}: they name "
            f"{', '.join(heard)[:_MOST_TOLD]}"
        )

    def felt(self, now: float) -> MeasuredJoints:
        """Return the measured state at the steady time `now`, s."""
        with self._lock:
            values, speeds, at, refusal = self._values.copy(), self._speeds.copy(), self._at.copy(), self._refusal
            leapt, sure_in = self._leapt, self._leapt_at + _SURE_S - now
        unit, gripper = self._interface.radians, self._interface.gripper
        angles = values[:-1] * unit
        age = now - at
        untold = f"nothing is told of the gripper's joint '{gripper.joint}' on {self._interface.state}"
        faults = (untold,) if age[-1] > _GRIPPER_S else ()
        doubt = f"{leapt}: wait until what it tells has been steady for {_SURE_S:g} s" if sure_in > 0.0 else ""
        share = gripper.share(values[-1])
        return MeasuredJoints(float(age[:-1].max()), angles, speeds[:-1] * unit, share, faults, refusal, doubt)

    def _trouble(self, names: Sequence[str], positions: Sequence[float], stamp_ns: int, now_ns: int) -> str:
        topic = self._interface.state
        if len(names) != len(positions):
            return f"joint states on {topic} name {len(names)} joints and give {len(positions)} positions"
        ours = [name for name in names if name in self._columns]
        if not ours:
            told = ", ".join(names)[:_MOST_TOLD] or "none"
            return f"joint states on {topic} name {told}, and the robot's interface {', '.join(self._columns)}"
        if len(set(ours)) < len(ours):
            return f"joint states on {topic} name a joint twice"
        for name, position in zip(names, positions, strict=True):
            if name in self._columns and not np.isfinite(position):
                return f"joint states on {topic} give {position} for '{name}'"
        if stamp_ns and stamp_ns - now_ns > _AHEAD_NS:
            return (
                f"joint states on {topic} are stamped {(stamp_ns - now_ns) / 1e9:.0f} s ahead: do the clocks of the "
                "machines agree, and use_sim_time?"
            )
        since = [stamp_ns - self._stamps_ns[self._columns[name]] for name in ours] if stamp_ns else []
        if any(-_AHEAD_NS < ahead <= 0 for ahead in since):  # or overtaken; a clock may be set back
            return f"joint states on {topic} repeat an old stamp"
        return ""

    def _set(self, column: int, value: float, speed: float, stamp_ns: int, at: float) -> None:
        passed = (stamp_ns - self._stamps_ns[column]) / 1e9 if stamp_ns else at - self._at[column]
        if not np.isfinite(speed):
            first = not np.isfinite(self._at[column]) or passed <= 0.0
            speed = 0.0 if first else (value - self._values[column]) / passed
        self._values[column], self._speeds[column], self._at[column] = value, speed, at
        self._stamps_ns[column] = stamp_ns or self._stamps_ns[column]

    def _impossible(self, names: Sequence[str], positions: Sequence[float], at: float) -> str:
        """Return which joint is reported where it cannot be, or cannot have come to; empty if none is.

        A joint outside of its limits may be there: what becomes of it is the servo's business.
        """
        limits, unit = self._robot.limits, self._interface.radians
        last = self._values[:-1] * unit
        angles = np.clip(last, limits.lowest, limits.highest)
        ours = {name: self._columns[name] for name in names if self._columns.get(name, len(last)) < len(last)}
        for name, position in zip(names, positions, strict=True):
            if name in ours:
                angles[ours[name]] = position * unit
        if where := unbelievable(angles, limits, self._interface.joints):
            return where
        for name, joint in ours.items():
            passed = at - self._at[joint]
            leap = abs(angles[joint] - last[joint])
            if leap > _LEAP + _LEAP_TIMES * limits.speed[joint] * min(passed, _LEAP_PERIOD_S) and np.isfinite(passed):
                self._leapt = f"'{name}' is told to have leapt by {np.degrees(leap):.0f} degrees"
                self._leapt_at = at
                if passed < _FORGOTTEN_S:
                    return self._leapt
        return ""
