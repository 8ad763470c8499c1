"""One arm from the node's side: connected, watched, led, halted, resumed. Its loop runs in a process of its own.

Nothing here waits: an emergency stop must be heard while the arm is connected, is lost and found again, is parked, and
while its own process hangs. What is said here is said to the operator, so it must be true.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum, auto

from kc_vla.arm.control_process import Greeting, Told
from kc_vla.arm.control_process import main as control
from kc_vla.arm.last_words import NO_POWER
from kc_vla.arm.remote import Answer, Remote, RemoteError
from kc_vla.arm.servo_modes import NOT_ENABLED, Mode, ServoSettings
from kc_vla.arm.wiring import Wiring
from kc_vla.core.rig import Vector

PATIENCE_S = 30.0
"""How long connecting, parking or getting power may take before it is given up, from when the bus is there on."""
HANGS_S = 0.5
"""Without a word of the control process: it does not do its work."""
_THERE_S = 0.5
"""So long an arm that was lost is heard before it counts as there again."""
ERRORS = (RuntimeError, ValueError, OSError)
"""What a call of the control process may raise."""
RESUME, RELEASE = "arm/resume", "arm/release_e_stop"
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
    """See the module; `poll` it often.

    Attributes:
        rig: of the arm.
        arm: what is known of it; None until it is connected.
        told: what its process told last; None at first.
        ready: it was connected, and has got what power it may have.
        lateness: of its control periods, s; whoever keeps count of them takes them away.
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
        process: Callable[[], None] = control,
    ) -> None:
        """Begin to connect; then enable the arm where it lies.

        Args:
            wiring: of the arm.
            settings: of its servo.
            state_rate: Hz of what is told.
            priority: real-time priority of its process, 0 for none.
            stopped: whether an emergency stop is set: the arm gets no power then, and is not resumed.
            say: what a person has to know.
            process: of the kind of arm that it is.
        """
        self.rig, self.stopped, self.say = wiring.rig, stopped, say
        self.arm: Greeting | None = None
        self.told: Told | None = None
        self.ready = False
        self.lateness: list[float] = []
        self.failure: Failure | None = None
        self._stale_after = settings.stale_after
        self._bus_patience = wiring.patience
        self._blocked = ""
        self._lost = False
        self._answers_again = ""
        """The block of which it was told that the arm answers again."""
        self._heard_since: float | None = None
        self._hung_up = False
        self._polled_at = self._listens_since = time.monotonic()
        self._process = Remote(process)
        self._connecting: Answer | None = self.ask("connect", wiring, settings, state_rate, priority)
        self._resuming: Answer | None = None

    @property
    def blocked(self) -> str:
        """Why the arm does not move until a person resumes, or until it is connected; empty if it may."""
        if not self.ready:
            return "the arm is not connected yet"
        return f"{NOT_ENABLED}: call {RESUME}" if self._blocked == NOT_ENABLED else self._blocked

    @property
    def held_back(self) -> str:
        """Why the arm does not go where it is aimed; empty if it does."""
        report = self.told.report if self.told is not None else None
        if report is None or not report.held_back or report.mode is not Mode.FOLLOW:
            return ""
        return f"the arm is held back: the way to its target crosses the {report.held_back}"

    @property
    def silent(self) -> float:
        """Seconds for which its process could have told something, and did not."""
        since = self._listens_since if self.told is None else max(self.told.at, self._listens_since)
        return time.monotonic() - since

    @property
    def has_power(self) -> bool:
        """Whether a joint had power when it was last told."""
        return self.told is not None and bool(self.told.report.state.powered.any())

    @property
    def ended(self) -> bool:
        """Whether its process has ended."""
        return self._process.ended

    def poll(self) -> tuple[Told, float] | None:
        """Take in what has come; what to tell of the arm and how old it is, s; None while it is not seen."""
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

    def aim(self, angles: Vector, opening: float, seconds: float) -> None:
        """Be at `angles` (N,), rad, with the gripper open by `opening`, m, in `seconds`; then hold."""
        self._tell("aim", angles, opening, time.monotonic(), seconds)

    def halt(self, reason: str) -> None:
        """Come to rest now."""
        self._tell("halt", reason)

    def begin_to_resume(self) -> str:
        """Give way to a person's word to go on, of which `resumed` tells; why not, or empty."""
        if self.stopped():
            return f"not resumed: the emergency stop is set: call {RELEASE} first"
        if not self.ready or self._hung_up:
            return "not resumed: the arm is not connected"
        if self.silent > HANGS_S:
            return "not resumed: the arm's own process hangs"
        self._resuming = self.ask("resume")
        return "" if self._resuming is not None else "not resumed: the arm's own process has ended"

    def resumed(self) -> str | None:
        """Why the arm does not move again, empty if it does; None while that is not known."""
        answer, told = self._resuming, self.told
        if answer is None:
            return "the arm's own process has ended"
        if not answer.done:
            return str(late) if (late := answer.overdue(PATIENCE_S)) else None
        try:
            answer.result()
        except ERRORS as error:
            return str(error)
        if told is None or told.at <= answer.came_at or told.report.mode is Mode.POWERING:
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
        """Have nothing more to do with the arm: it comes to rest where it is, and keeps its power if it has any."""
        self._hung_up = True
        self._process.hang_up()

    def keeps_power(self) -> str:
        """What a person has to know of an arm that is left with power."""
        where = ""
        if self.arm is not None and self.told is not None:
            height = self.arm.kinematics.flange(self.told.report.state.angles)[2, 3]
            where = f" (flange at {height:.2f} m)"
        return f"The arm keeps its power{where}: support it before you switch it off"

    def details(self) -> dict[str, object]:
        """What the diagnostics tell of the arm."""
        if self.arm is None:
            return {"arm": "connecting"}
        values: dict[str, object] = {"arm": "no step yet", "rig": self.rig.name, "firmware": self.arm.firmware}
        if told := self.told:
            values |= {"arm": str(told.report.mode), **told.line}
            values |= {f"clamped/{what}": count for what, count in sorted(told.clamped.items())}
        return values

    def _go_on_connecting(self) -> None:
        asked = self._connecting
        if self.arm is not None:
            self._go_on_powering()
        elif asked is None:
            return
        elif late := asked.overdue(PATIENCE_S + self._bus_patience):
            self._fail(Failure.CANNOT_START, str(late))
        elif asked.done:
            try:
                self._greet(asked.result())
            except ERRORS as error:
                self._fail(Failure.CANNOT_START, str(error))

    def _go_on_powering(self) -> None:
        why = self.resumed()
        if why is None:
            return
        if why and not self.stopped():
            self._fail(Failure.CANNOT_START, why)
        else:
            self.say(Gravity.NEWS, "the arm has power" if self.has_power else NO_POWER)
        self.ready = True

    def _greet(self, arm: Greeting) -> None:
        self.arm, self._listens_since = arm, time.monotonic()
        for warning in arm.warnings:
            self.say(Gravity.WARNING, warning)
        if not arm.had_power and not self.stopped():
            self._resuming = self.ask("resume")
            return
        if arm.had_power:
            self.say(Gravity.PROBLEM, f"the arm was found with power: look at it, then call {RESUME}")
        else:
            self.say(Gravity.NEWS, f"{NO_POWER}: the emergency stop is set")
        self.ready = True

    def _seen(self, told: Told) -> tuple[Told, float] | None:
        report, now = told.report, time.monotonic()
        blocked = report.reason if report.mode is Mode.BLOCKED else ""
        if blocked not in ("", NOT_ENABLED, self._blocked):
            self.say(Gravity.PROBLEM, f"the arm is blocked until {RESUME} is called: {blocked}")
            self._answers_again = ""
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
