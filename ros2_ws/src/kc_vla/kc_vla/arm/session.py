"""One arm from the node's side: connected, watched, led, halted, resumed. Its loop runs in a process of its own.

Nothing here waits: an emergency stop must be heard while the arm is connected, is lost and found again, is parked, and
while its own process hangs. What is said here is said to the operator, so it must be true.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum, auto

from kc_vla.arm.control_process import Handshake, Told
from kc_vla.arm.control_process import main as control
from kc_vla.arm.interface import COLLISION, JOINT_ERROR
from kc_vla.arm.last_words import KEPT, NO_POWER
from kc_vla.arm.progress import Patience
from kc_vla.arm.remote import Answer, Remote, RemoteError
from kc_vla.arm.servo_modes import NOT_ENABLED, SWITCHED_OFF, Mode, ServoSettings
from kc_vla.arm.wiring import Wiring
from kc_vla.arm.workspace import Workspace
from kc_vla.core import topics
from kc_vla.core.robot import Vector

PATIENCE_S = 30.0
"""How long connecting, parking or getting power may take before it is given up, from when the bus is there on."""
HANGS_S = 0.5
"""Without a word of the control process: it does not do its work."""
_THERE_S = 0.5
"""So long an arm that was lost is heard before it counts as there again."""
ERRORS = (RuntimeError, ValueError, OSError)
"""What a call of the control process may raise."""
RESUME, RELEASE, RESET = topics.RESUME, topics.RELEASE_E_STOP, topics.RESET
"""What a person calls."""


class Gravity(Enum):
    """How grave it is what is said."""

    NEWS = auto()
    WARNING = auto()
    PROBLEM = auto()


class Failure(Enum):
    """Why there is nothing more to do."""

    CANNOT_START = auto()
    """There is no arm, or it is not fit to move: another try would not help."""
    LOST = auto()
    """Its own process has ended; another one may find the arm."""


Say = Callable[[Gravity, str], None]


class ArmSession:
    """A session with one arm, seen from the node; call `poll` often.

    Attributes:
        robot: of the arm.
        arm: what is known of it; None until it is connected.
        told: last report of its process; None at first.
        ready: it was connected, and is enabled as far as it may be.
        lateness: lateness of its control periods, s; the caller takes them away.
        failure: why there is nothing more to do; None while there is.
    """

    def __init__(
        self,
        wiring: Wiring,
        settings: ServoSettings,
        state_rate: float,
        priority: int,
        stopped: Callable[[], bool],
        say: Say,
    ) -> None:
        """Begin to connect; then enable the arm where it lies.

        Args:
            wiring: of the arm.
            settings: of its servo.
            state_rate: reports per second, Hz.
            priority: real-time priority of its process, 0 for none.
            stopped: whether an emergency stop is set: the arm is not enabled then, and not resumed.
            say: what a person has to know.
        """
        self.robot, self.stopped, self.say = wiring.robot, stopped, say
        self.arm: Handshake | None = None
        self.told: Told | None = None
        self.ready = False
        self.lateness: list[float] = []
        self.failure: Failure | None = None
        self._stale_after = settings.stale_after
        self._blocked = ""
        self._lost = self._compliant = False
        self._answers_again = ""
        """Reason of the block for which the session has logged that the arm answers again."""
        self._heard_since: float | None = None
        self._hung_up = False
        self._polled_at = self._listens_since = time.monotonic()
        self._process = Remote(control)
        self._starting = Patience(self._process.pid, "the process that connects to the arm", PATIENCE_S)
        self._connecting: Answer | None = self.ask("connect", wiring, settings, state_rate, priority)
        self._resuming: Answer | None = None

    @property
    def blocked(self) -> str:
        """Return why the arm does not move until a person resumes, or until it is connected; empty if it may."""
        if not self.ready:
            return "the arm is not connected yet"
        if self.own_stop:
            return f"{self.own_stop}: call {RESET}, then {RESUME}"
        if self.is_led:
            return f"a hand leads the arm: call {topics.COMPLIANCE} with false to end that"
        return f"{NOT_ENABLED}: call {RESUME}" if self._blocked == NOT_ENABLED else self._blocked

    @property
    def is_led(self) -> bool:
        """Return whether a hand leads the arm, in the mode `compliance`."""
        return self.told is not None and self.told.report.mode is Mode.GUIDE

    @property
    def own_stop(self) -> str:
        """Return which stop of the arm itself holds it until it is reset; empty if none does."""
        return self.told.report.state.own_stop if self.told is not None else ""

    @property
    def held_back(self) -> str:
        """Return why the arm does not reach its target; empty if it does."""
        report = self.told.report if self.told is not None else None
        if report is None or not report.held_back or report.mode is not Mode.FOLLOW:
            return ""
        return f"the arm is held back: the way to its target crosses the {report.held_back}"

    @property
    def silent(self) -> float:
        """Return the seconds for which its process could have reported something, and did not."""
        since = self._listens_since if self.told is None else max(self.told.at, self._listens_since)
        return time.monotonic() - since

    @property
    def has_power(self) -> bool:
        """Return whether any motor was enabled by the last report."""
        return self.told is not None and bool(self.told.report.state.powered.any())

    @property
    def ended(self) -> bool:
        """Return whether its process has ended."""
        return self._process.ended

    def poll(self) -> tuple[Told, float] | None:
        """Take in what has come; return the state of the arm and how old it is, s, or None while it is not seen."""
        if self._hung_up or self.failure is Failure.LOST:
            return None
        now = time.monotonic()
        if now - self._polled_at > HANGS_S / 2:
            self._listens_since = now  # it was not the process that hung
        self._polled_at = now
        try:
            self._process.hear()
            shown = self._process.look()
        except RemoteError as error:
            self._fail(Failure.LOST, f"the arm holds: {error}")
            return None
        for told in shown:
            self.told = told
            self.lateness += told.lateness
        if not self.ready and self.failure is None:
            self._go_on_connecting()
        return self._seen(self.told) if self.arm is not None and self.told is not None else None

    def set_target(self, angles: Vector, opening: float, seconds: float) -> None:
        """Be at `angles` (N,), rad, with the gripper open by `opening`, m, in `seconds`; then hold."""
        self._tell("set_target", angles, opening, time.monotonic(), seconds)

    def halt(self, reason: str) -> None:
        """Come to rest now."""
        self._tell("halt", reason)

    def begin_to_resume(self) -> str:
        """Begin to let the arm move again because a person says so; return why not, or empty.

        `resumed` returns what comes of it.
        """
        if self.stopped():
            return f"not resumed: the emergency stop is set: call {RELEASE} first"
        if not self.ready or self._hung_up:
            return "not resumed: the arm is not connected"
        if self.silent > HANGS_S:
            return "not resumed: the arm's own process hangs"
        if self.own_stop:
            return f"not resumed: {self.own_stop}: call {RESET} first"
        self._resuming = self.ask("resume")
        return "" if self._resuming is not None else "not resumed: the arm's own process has ended"

    def resumed(self) -> str | None:
        """Return why the arm does not move again, empty if it does; None while that is unknown."""
        answer, told = self._resuming, self.told
        if answer is None:
            return "the arm's own process has ended"
        if not answer.done:
            return str(late) if (late := answer.overdue(PATIENCE_S)) else None
        try:
            answer.result()
        except ERRORS as error:
            stays = f". Clear its way; where the arm goes on reporting it, call {RESET}"
            return f"{error}{stays if any(word in str(error) for word in (COLLISION, JOINT_ERROR)) else ''}"
        if told is None or told.at <= answer.came_at or told.report.mode in (Mode.POWERING, Mode.RETURN):
            return None
        if self.stopped():
            return "the arm holds: the emergency stop was set meanwhile"
        return told.report.reason if told.report.mode is Mode.BLOCKED else ""

    def ask(self, name: str, *arguments: object) -> Answer | None:
        """Have the process do something; None if it has ended."""
        try:
            return self._process.ask(name, *arguments)
        except RemoteError as error:
            self._fail(Failure.LOST, f"the arm holds: {error}")
            return None

    def hang_up(self) -> None:
        """Release the arm: it comes to rest where it is, and stays enabled if it is."""
        self._hung_up = True
        self._process.hang_up()

    def keeps_power(self) -> str:
        """Return what a person has to know of an arm that is left enabled."""
        where = ""
        if self.arm is not None and self.told is not None:
            height = Workspace(self.arm.kinematics, down=self.robot.down).height(self.told.report.state.angles)
            where = f" (flange at {height:.2f} m)"
        return f"{KEPT}{where}: support it before you switch it off"

    def details(self) -> dict[str, object]:
        """Return what the diagnostics report of the arm."""
        if self.arm is None:
            return {"arm": "connecting"}
        values: dict[str, object] = {"arm": "no step yet", "robot": self.robot.name, "firmware": self.arm.firmware}
        if told := self.told:
            soft = ", compliant" if told.report.compliant else ""
            values |= {"arm": f"{told.report.mode}{soft}", **told.line}
            values |= {f"clamped/{what}": count for what, count in sorted(told.clamped.items())}
        return values

    def _go_on_connecting(self) -> None:
        asked = self._connecting
        if self.arm is not None:
            self._go_on_powering()
        elif asked is None:
            return
        elif not asked.done and (hangs := self._starting.exhausted):
            self._fail(Failure.CANNOT_START, hangs)
        elif not asked.done and (news := self._starting.news):
            self.say(Gravity.NEWS, news)
        elif asked.done:
            try:
                self._greet(asked.result())
            except ERRORS as error:
                self._fail(Failure.CANNOT_START, str(error))

    def _go_on_powering(self) -> None:
        why = self.resumed()
        if why is None:
            return
        if why and self._can_be_reset:
            self.say(Gravity.PROBLEM, f"the arm is not enabled: {why}")
        elif why and not self.stopped() and not (self.told and self.told.report.outside):
            self._fail(Failure.CANNOT_START, why)
        else:
            self.say(Gravity.NEWS, "the arm has power" if self.has_power else NO_POWER)
        self.ready = True

    @property
    def _can_be_reset(self) -> bool:
        """Return whether a person can reset the arm, so that it has not failed although it is not enabled."""
        state = self.told.report.state if self.told is not None else None
        return state is not None and (bool(state.own_stop) or not (state.in_command_mode or state.faults))

    def _greet(self, arm: Handshake) -> None:
        self.arm, self._listens_since = arm, time.monotonic()
        for warning in arm.warnings:
            self.say(Gravity.WARNING, warning)
        if not arm.had_power and not self.stopped() and not arm.own_stop:
            self._resuming = self.ask("enable")
            return
        if arm.had_power and not arm.own_stop:  # of which is told as soon as it is seen
            way = f"{RELEASE}, then {RESUME}" if self.stopped() else RESUME
            self.say(Gravity.PROBLEM, f"the arm was found with power: look at it, then call {way}")
        elif not arm.own_stop:
            self.say(Gravity.NEWS, f"{NO_POWER}: the emergency stop is set")
        self.ready = True

    def _seen(self, told: Told) -> tuple[Told, float] | None:
        report, now = told.report, time.monotonic()
        blocked = report.reason if report.mode is Mode.BLOCKED else ""
        if blocked not in ("", NOT_ENABLED, self._blocked):
            way = f"{RESET}, then {RESUME} are called" if report.state.own_stop else f"{RESUME} is called"
            self.say(Gravity.PROBLEM, f"the arm is blocked until {way}: {blocked}")
            self._answers_again = ""
        if self._compliant and not report.compliant and report.mode is not Mode.BLOCKED:
            self.say(
                Gravity.NEWS if report.reason == SWITCHED_OFF else Gravity.WARNING, f"the arm holds: {report.reason}"
            )
        self._compliant = report.compliant
        if report.mode is Mode.RETURN:
            blocked = report.reason
            if self._blocked != blocked:
                self.say(Gravity.NEWS, blocked)
        self._blocked = blocked
        hangs, age = self.silent > HANGS_S, now - told.at + report.state.age
        if hangs and not self._lost:
            self.say(Gravity.PROBLEM, "the arm's own process hangs: what the arm does is not known")
        if age > self._stale_after:
            told_of = blocked in ("", NOT_ENABLED, self._answers_again)
            self._heard_since, self._lost = None, self._lost or hangs or not told_of
            return None
        if self._lost:
            self._heard_since = self._heard_since or now
            if now - self._heard_since > _THERE_S:
                self._lost = False
                if blocked:
                    self.say(Gravity.WARNING, f"the arm answers again; look at it, then call {RESUME}")
                    self._answers_again = blocked
        return told, age

    def _tell(self, name: str, *arguments: object) -> None:
        if self._hung_up:
            return
        try:
            self._process.tell(name, *arguments)
        except RemoteError as error:
            self._fail(Failure.LOST, f"the arm holds: {error}")

    def _fail(self, failure: Failure, reason: str) -> None:
        self.failure = self.failure or failure
        self.say(Gravity.PROBLEM, reason)
