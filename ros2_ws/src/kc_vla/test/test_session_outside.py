"""A session with an arm outside of its joint limits: it is told, not moved, and led back on a person's word alone."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulated_piper import EmulatedPiper
from piper import LIMITS, PIPER, REST, UNHURRIED
from watched_session import Watched

from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.leaving import Leaving
from kc_vla.arm.servo_modes import Mode
from kc_vla.arm.session import ArmSession, Gravity
from kc_vla.arm.wiring import Wiring

NARROW = replace(PIPER, name="mine", limits=replace(LIMITS, highest=np.radians([150.0, 180, 0, 100, 10, 120])))
OUTSIDE = re.compile(r"joint 5 is at 28\.[67] degrees, outside of its -70\.0 to 10\.0")


class Harness(Watched):
    """A session with a Piper that lies, by a robot file with narrower limits."""

    def __init__(self, emulator: EmulatedPiper, path: Path) -> None:
        super().__init__(60.0)
        self.emulator = emulator
        wiring = Wiring("piper", NARROW, {"channel": str(path), "bus": INTERFACE})
        self.session = ArmSession(wiring, UNHURRIED, 100.0, 0, lambda: self.stopped, self.say)

    def mode(self) -> Mode | None:
        told = self.session.told
        return told.report.mode if told is not None else None

    def resume(self) -> str:
        assert self.session.begin_to_resume() == ""
        self.until(lambda: self.session.resumed() is not None)
        return str(self.session.resumed())


@pytest.fixture
def harness(bus_path: Path) -> Iterator[Harness]:
    with EmulatedPiper(bus_path) as emulator:
        harness = Harness(emulator, bus_path)
        yield harness
        harness.session.hang_up()


def test_it_is_told_and_neither_enabled_nor_moved_until_a_person_resumes_and_a_stop_holds_it_on_the_way(harness):
    harness.until(lambda: harness.session.ready)
    harness.run(0.5)
    assert harness.session.failure is None
    assert OUTSIDE.match(harness.session.blocked)
    assert any(gravity is Gravity.PROBLEM and OUTSIDE.search(text) for gravity, text in harness.said)
    harness.session.set_target(REST, 0.0, 0.1)
    harness.run(0.5)
    view = harness.emulator.view
    assert (view.powered.any(), "0 joint commands" in view.watch) == (False, True)

    assert harness.session.begin_to_resume() == ""
    harness.until(lambda: harness.mode() is Mode.RETURN and np.degrees(harness.emulator.view.angles[4]) < 27.0)
    assert "it is led back inside slowly" in harness.session.blocked  # what a policy sends is refused with this
    harness.session.set_target(REST + 1.0, 0.0, 0.1)
    harness.stopped = True
    harness.session.halt("emergency stop")
    harness.until(lambda: harness.session.resumed() is not None)
    assert harness.session.resumed() == "the arm holds: the emergency stop was set meanwhile"
    harness.run(1.0)
    held = np.degrees(harness.emulator.view.angles[4])
    assert held > 10.0
    harness.run(0.5)
    assert abs(np.degrees(harness.emulator.view.angles[4]) - held) < 0.1
    harness.stopped = False

    assert harness.resume() == ""
    assert harness.session.blocked == ""
    assert harness.mode() is Mode.HOLD
    assert np.degrees(harness.emulator.view.angles[4]) < 10.1
    leaving = Leaving(harness.session)
    harness.until(lambda: not leaving.step(False))
    assert leaving.kept_power
    assert "the home pose ('home' in the robot file) is out of the joint limits: joint 5" in harness.text
    view = harness.emulator.view
    assert view.powered.all()
    assert ", 0 out of limits, largest step 0.0" in view.watch
