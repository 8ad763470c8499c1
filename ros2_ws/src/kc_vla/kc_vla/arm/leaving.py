"""How a session with an arm ends: parked and without power; or, where that cannot be, held where it is, with power.

An arm whose power others see to is not parked: it comes to rest, and its driver holds it.
"""

from __future__ import annotations

import time
from enum import Enum, auto

import numpy as np

from kc_vla.arm.control_process import Told
from kc_vla.arm.last_words import LEFT, NO_POWER
from kc_vla.arm.remote import Answer
from kc_vla.arm.servo_modes import NOT_ENABLED, Mode
from kc_vla.arm.session import ERRORS, PATIENCE_S, ArmSession, Failure, Gravity

_OFF_S = 3.0
"""How long a joint may take to lose its power."""
_REST_S, _STILL = 1.0, 0.02
"""How long coming to rest may take, and rad/s of any joint of an arm that stands."""
_SILENT_S = 3.0
"""So long nothing may come from the arm's own process before it is left.

All processes end together. For a pause that a busy machine makes the arm would be left raised. A person who cannot wait
interrupts once more.
"""
_TAKEN_S = 0.5
"""After so long the process has taken in what it was asked."""
_FAREWELL_S = 5.0
"""How long the process may take to end."""


class _Phase(Enum):
    WATCHING = auto()
    PARKING = auto()
    RELEASING = auto()
    HALTING = auto()
    ENDING = auto()


class Leaving:
    """The shutdown of a session with an arm; call `step` again and again until it returns False.

    Attributes:
        kept_power: the arm was left with power.
    """

    def __init__(self, session: ArmSession) -> None:
        """Begin."""
        self._session = session
        self._phase, self._since = _Phase.WATCHING, time.monotonic()
        self._began = self._since
        self._asked: Answer | None = None
        self._why = ""
        self.kept_power = False

    def step(self, hurried: bool) -> bool:
        """Go on; whether there is more to do. Args: `hurried`: a person has no time to see the arm parked."""
        if self._phase is not _Phase.ENDING:
            try:
                self._go_on(hurried)
            except ERRORS as error:
                self._give_up(str(error))
        return not (self._session.ended or self._waited(_FAREWELL_S)) if self._phase is _Phase.ENDING else True

    def _go_on(self, hurried: bool) -> None:
        session, told = self._session, self._session.told
        why = self._interrupted(hurried)
        if session.arm is None or session.failure is Failure.LOST:
            self._end()  # nothing was begun, or nobody is there who could park it
        elif not hurried and session.silent < _SILENT_S and (told is None or told.at <= self._began):
            return  # what was told before may not be so any more
        elif told is None:
            self._leave_it("not parked: the arm's own process hangs", session.arm.had_power)
        elif self._phase is _Phase.RELEASING:
            self._release(told.report.mode is Mode.OFF and not session.has_power)
        elif self._phase is _Phase.HALTING:
            self._wait_for_rest(told)
        elif why:
            self._halt(why)
        elif not session.ready or told.report.mode is Mode.POWERING:
            return  # it is just being given power: only when that is there can it be taken again
        elif self._phase is _Phase.PARKING:
            self._park()
        elif not session.arm.shutdown_message and told.report.reason == NOT_ENABLED:
            self._leave_to_its_driver()  # it was not touched
        elif told.report.mode is Mode.BLOCKED:
            self._leave_it(f"not parked: {told.report.reason}", session.has_power)
        elif not session.arm.shutdown_message:
            self._halt("")
        else:
            self._enter(_Phase.PARKING, "park")

    def _park(self) -> None:
        told, asked = self._session.told, self._asked
        assert told is not None
        if asked is not None and asked.done:
            asked.result()
            if told.parked:
                self._enter(_Phase.RELEASING, "release")
            elif told.at > self._since + _TAKEN_S and told.report.mode is not Mode.PARK:
                self._give_up(f"the rest pose was not reached: {told.report.reason}")
        if self._phase is _Phase.PARKING and self._waited(PATIENCE_S):
            self._give_up(f"the rest pose was not reached in {PATIENCE_S:g} s")

    def _wait_for_rest(self, told: Told) -> None:
        """Leave the arm as soon as it stands, or after a while."""
        stands = told.at > self._since and np.abs(told.report.state.speeds).max() < _STILL
        if stands and not self._why:
            self._leave_to_its_driver()
        elif stands or self._session.silent > _SILENT_S or self._waited(_REST_S):
            self._leave_it(f"not parked: {self._why or 'it does not come to rest'}", self._session.has_power)

    def _release(self, is_off: bool) -> None:
        if self._asked is not None and self._asked.done:
            self._asked.result()
        if is_off:
            assert self._session.arm is not None
            self._session.say(Gravity.NEWS, self._session.arm.shutdown_message)
            self._end()
        elif self._waited(_OFF_S):
            self._give_up("the arm lies, but a joint keeps its power")

    def _interrupted(self, hurried: bool) -> str:
        if self._session.stopped():
            return "the emergency stop is set"
        if hurried:
            return "interrupted once more"
        return "the arm's own process hangs" if self._session.silent > _SILENT_S else ""

    def _halt(self, why: str) -> None:
        self._session.halt(why or "its controller ends")
        self._why, self._phase, self._since = why, _Phase.HALTING, time.monotonic()

    def _leave_to_its_driver(self) -> None:
        self._session.say(Gravity.NEWS, LEFT)
        self._end()

    def _leave_it(self, reason: str, has_power: bool) -> None:
        """Give the parking up, or end if the arm is disabled and so nothing is to be parked."""
        if has_power:
            self._give_up(reason)
        else:
            self._session.say(Gravity.NEWS, NO_POWER)
            self._end()

    def _give_up(self, reason: str) -> None:
        self.kept_power = True
        self._session.say(Gravity.PROBLEM, f"{reason}. {self._session.keeps_power()}")
        self._end()

    def _end(self) -> None:
        self._session.hang_up()
        self._phase, self._since = _Phase.ENDING, time.monotonic()

    def _enter(self, phase: _Phase, name: str) -> None:
        self._phase, self._since, self._asked = phase, time.monotonic(), self._session.ask(name)

    def _waited(self, seconds: float) -> bool:
        return time.monotonic() > self._since + seconds
