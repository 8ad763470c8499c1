"""A session with the emulated Piper: a stop counts in every second of it, and what is said of the arm is true."""

import os
import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from emulated_piper import EmulatedPiper
from nightly import at_night
from piper import KINEMATICS, PIPER, REST
from watched_session import Watched

from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.leaving import Leaving
from kc_vla.arm.servo_modes import Mode, ServoSettings
from kc_vla.arm.session import ArmSession, Failure, Gravity
from kc_vla.arm.wiring import Wiring
from kc_vla.core.robot import load_robot

PATIENCE_S = 60.0
RAISED = np.radians([10.0, 90.0, -60.0, 0.0, 20.0, 5.0])
PRIORITY = 50
"""Where the user may: other work must not make the arm late."""
LEFT = "The arm keeps its power"


class Harness(Watched):
    """A session, what it said, and the arm it is about."""

    def __init__(self, emulator: EmulatedPiper | None, path: Path, stopped: bool = False, robot: str = "piper") -> None:
        super().__init__(PATIENCE_S, stopped)
        self.emulator = emulator
        wiring = Wiring("piper", load_robot(robot), {"channel": str(path), "bus": INTERFACE})
        settings = ServoSettings(speed=1.5)
        self.session = ArmSession(wiring, settings, 100.0, PRIORITY, lambda: self.stopped, self.say)
        self.leaving: Leaving | None = None

    def angles(self) -> np.ndarray:
        assert self.emulator is not None
        return self.emulator.view.angles

    def stands(self) -> bool:
        self.run(0.5)
        before = self.angles()
        self.run(0.7)
        return bool(np.abs(self.angles() - before).max() < 1e-3)

    def raise_it(self) -> None:
        self.until(lambda: self.session.ready and self.session.told is not None)
        self.until(self._is_raised)

    def _is_raised(self) -> bool:
        self.session.set_target(RAISED, 0.0, 0.05)
        return bool(np.abs(self.angles() - RAISED).max() < 0.01)

    def resume(self) -> None:
        assert self.session.begin_to_resume() == ""
        self.until(lambda: self.session.resumed() is not None)
        assert self.session.resumed() == ""

    def stop(self) -> None:
        """As the emergency stop does it."""
        self.stopped = True
        self.session.halt("emergency stop")

    def leave(self, hurried: bool = False, until: Callable[[], object] = lambda: False) -> bool:
        """Begin or go on to leave; whether it is over."""
        self.leaving = self.leaving or Leaving(self.session)
        over = False

        def step() -> bool:
            nonlocal over
            over = not self.leaving.step(hurried)
            return over or bool(until())

        self.until(step)
        return over

    @contextmanager
    def frozen(self) -> Iterator[None]:
        os.kill(self.session._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.session._process.pid, signal.SIGCONT)


@pytest.fixture
def harness(bus_path: Path) -> Iterator[Harness]:
    with EmulatedPiper(bus_path) as emulator:
        harness = Harness(emulator, bus_path)
        yield harness
        harness.session.hang_up()


def is_parking(harness: Harness) -> Callable[[], bool]:
    """It is on its way to the rest pose and not yet there."""

    def now() -> bool:
        told = harness.session.told
        far = np.abs(harness.angles() - REST).max()
        return told is not None and told.report.mode is Mode.PARK and 0.4 < far < 1.2

    return now


def held_at_height(harness: Harness) -> bool:
    assert harness.emulator is not None
    return bool(harness.emulator.view.powered.all()) and bool(np.abs(harness.angles() - REST).max() > 0.3)


def test_it_gives_power_where_the_arm_lies_moves_parks_and_lets_go(harness):
    harness.raise_it()
    assert harness.leave()
    assert not harness.emulator.view.powered.any()
    np.testing.assert_allclose(harness.angles(), REST, atol=0.05)
    assert harness.said[-1] == (Gravity.NEWS, "the arm is parked and has no power")
    assert not harness.leaving.kept_power
    assert " 0 times disabled while raised" in harness.emulator.view.watch


def test_a_stop_while_it_is_parked_keeps_it_where_it_is(harness):
    harness.raise_it()
    harness.leave(until=is_parking(harness))
    harness.stop()
    assert harness.leave()
    assert harness.leaving.kept_power
    assert held_at_height(harness)
    height = KINEMATICS.flange(harness.angles())[2, 3]
    assert harness.said[-1] == (
        Gravity.PROBLEM,
        f"not parked: the emergency stop is set. {LEFT} (flange at {height:.2f} m): "
        "support it before you switch it off",
    )
    assert harness.stands()


def test_a_person_in_a_hurry_gets_an_arm_that_stands_and_holds(harness):
    harness.raise_it()
    harness.leave(until=is_parking(harness))
    assert harness.leave(hurried=True)
    assert harness.leaving.kept_power
    assert held_at_height(harness)
    assert harness.said[-1][1].startswith(f"not parked: interrupted once more. {LEFT}")
    assert harness.stands()


def test_two_presses_at_once_do_not_even_begin_to_park(harness):
    harness.raise_it()
    there = harness.angles()
    assert harness.leave(hurried=True)
    assert harness.stands()
    np.testing.assert_allclose(harness.angles(), there, atol=0.02)
    assert held_at_height(harness)


def test_a_stop_while_it_connects_keeps_it_without_power(bus_path):
    harness = Harness(None, bus_path)  # there is no arm yet: its bus is waited for
    harness.run(0.5)
    harness.stop()
    with EmulatedPiper(bus_path) as harness.emulator:
        harness.until(lambda: harness.session.ready)
        harness.run(0.5)
        assert not harness.emulator.view.powered.any()
        assert harness.said[-1] == (Gravity.NEWS, "the arm has no power: the emergency stop is set")
        assert harness.session.begin_to_resume() == (
            "not resumed: the emergency stop is set: call arm/release_e_stop first"
        )
        assert harness.session.blocked == "not enabled yet: call arm/resume"  # which is told once the stop is released
        assert harness.leave()
        assert harness.said[-1] == (Gravity.NEWS, "the arm has no power")


def test_a_stop_while_it_gets_power_ends_that(harness):
    harness.emulator.ask("unpowered 6")  # it gets no power: it is asked for again and again
    harness.until(lambda: harness.session.told is not None and harness.session.told.report.mode is Mode.POWERING)
    harness.stop()
    harness.until(lambda: harness.session.ready)
    assert harness.stands()
    assert not harness.emulator.view.powered.all()
    assert harness.leave()
    left = harness.emulator.view.powered.any()
    assert harness.leaving.kept_power == left
    assert harness.said[-1][1].startswith(f"not parked: the emergency stop is set. {LEFT}") == left


def test_an_interrupt_while_it_gets_power_ends_without_power(harness):
    harness.until(lambda: harness.session.arm is not None)
    assert harness.leave()
    assert not harness.emulator.view.powered.any()
    assert harness.said[-1][1] == "the arm is parked and has no power"


def test_an_interrupt_while_it_connects_ends_at_once(bus_path):
    harness = Harness(None, bus_path)
    assert harness.leave()
    assert harness.said == []
    assert not harness.leaving.kept_power


def test_a_process_that_hangs_holds_nobody_up_and_a_stop_meant_for_it_is_not_lost(harness):
    harness.raise_it()
    with harness.frozen():
        harness.until(lambda: "hangs" in harness.text)
        harness.stop()
        assert "the emergency stop is set" in harness.session.begin_to_resume()
        harness.stopped = False
        assert harness.session.begin_to_resume() == "not resumed: the arm's own process hangs"
        harness.stopped = True
        there = harness.angles()
    assert harness.stands()
    np.testing.assert_allclose(harness.angles(), there, atol=0.02)
    assert harness.leave()
    assert held_at_height(harness)


def test_an_arm_is_not_left_parking_by_a_process_that_hangs(harness):
    harness.raise_it()
    harness.leave(until=is_parking(harness))
    with harness.frozen():
        harness.leave(until=lambda: "keeps its power" in harness.text)
        there = harness.angles()
        assert "not parked: the arm's own process hangs" in harness.text
    harness.until(lambda: harness.session.ended)
    assert harness.stands()
    np.testing.assert_allclose(harness.angles(), there, atol=0.05)
    assert held_at_height(harness)


def test_after_a_stall_nothing_moves_without_a_persons_word(harness):
    harness.raise_it()
    over = threading.Event()

    def keep_aiming() -> None:
        while not over.wait(0.05):
            harness.session.set_target(REST, 0.0, 0.05)

    aimer = threading.Thread(target=keep_aiming)
    with harness.frozen():
        aimer.start()
        harness.run(3.0)
        there = harness.angles()
    harness.until(lambda: harness.session.blocked)
    harness.run(2.0)
    over.set()
    aimer.join()
    assert "stood still for" in harness.session.blocked
    np.testing.assert_allclose(harness.angles(), there, atol=0.01)
    harness.resume()


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("fault", "words", "state"),
    [
        ("silence", "look at its cable", "error-active"),
        *at_night(
            ("bus_off 2.5", "the bus is off after too many errors", "bus-off"),
            ("unplugged 2.5", "is gone: put the adapter back", "gone"),
        ),
    ],
)
def test_that_the_arm_answers_again_is_said_once_and_when_it_is_true(harness, fault, words, state):
    harness.raise_it()
    again = "the arm answers again; look at it, then call arm/resume"
    harness.emulator.ask(fault)
    harness.until(lambda: harness.session.blocked)
    harness.run(1.5)
    assert again not in harness.text
    assert words in harness.text or words in harness.session.told.report.state.line
    assert harness.session.details()["bus"] == state
    if fault == "silence":
        harness.emulator.ask("none")
    harness.until(lambda: again in harness.text)
    seen = harness.session.poll()
    assert seen is None or seen[1] < 0.2
    harness.run(2.0)
    assert harness.text.count(again) == 1
    if fault == "silence":  # for a moment, as on a busy machine: that it answers is no news
        harness.emulator.ask(fault)
        harness.until(lambda: harness.session.poll() is None)
        harness.emulator.ask("none")
        harness.run(2.0)
        assert harness.text.count(again) == 1
    assert harness.session.details()["bus"] == "error-active"
    assert harness.stands()
    harness.resume()
    harness.until(lambda: not harness.session.blocked)


@pytest.mark.nightly
def test_another_model_than_the_robots_is_not_moved(bus_path):
    with EmulatedPiper(bus_path) as emulator:
        harness = Harness(emulator, bus_path, robot="piper_h")
        harness.until(lambda: harness.session.failure)
        assert harness.session.failure is Failure.CANNOT_START
        assert "the arm reports the joint limits of a piper, and the robot is piper_h: say robot:=piper" in harness.text
        assert not emulator.view.powered.any()
        assert harness.leave()


def test_a_process_that_was_killed_is_told_and_the_arm_holds(harness):
    harness.raise_it()
    os.kill(harness.session._process.pid, signal.SIGKILL)
    harness.until(lambda: harness.session.failure)
    assert harness.session.failure is Failure.LOST
    assert held_at_height(harness)
    assert harness.leave()


@pytest.mark.nightly
def test_what_holds_the_arm_back_is_said_while_it_lasts(harness):
    harness.until(lambda: harness.session.ready and harness.session.told is not None)
    above, beyond = np.radians([0.0, 180.0, 0.0, 0.0, 70.0, 0.0]), np.radians([0.0, 90.0, -30.0, 0.0, -70.0, 0.0])

    def aimed(target: np.ndarray, done: Callable[[], object]) -> None:
        def step() -> object:
            harness.session.set_target(target, 0.0, 0.05)
            return done()

        harness.until(step)

    aimed(above, lambda: np.abs(harness.angles() - above).max() < 0.01)
    aimed(beyond, lambda: harness.session.held_back)
    assert harness.session.held_back == (
        "the arm is held back: the way to its target crosses the floor of the workspace"
    )
    aimed(above, lambda: not harness.session.held_back)
    lowest = re.search(r"lowest flange ([-\d.]+) m", harness.emulator.view.watch)
    assert lowest
    assert float(lowest[1]) > 0.0


def test_the_robot_has_its_rest_pose_inside_the_workspace_it_comes_with():
    assert KINEMATICS.flange(PIPER.rest)[2, 3] > ServoSettings().lowest[2]


def reset(harness: Harness, supported: bool) -> str:
    """As the service does it once; why it was not done, empty if it was."""
    asked = harness.session.ask("reset", supported)
    assert asked is not None
    harness.until(lambda: asked.done)
    try:
        asked.result()
    except RuntimeError as error:
        return str(error)
    harness.until(lambda: not harness.session.own_stop and not harness.session.has_power)
    return ""


@pytest.mark.parametrize(("fault", "words"), [("own_stop", "own emergency stop is set"), ("teach", "in teach mode")])
def test_a_stop_of_the_arms_own_has_one_way_back(harness, fault, words):
    harness.raise_it()
    harness.emulator.ask("supported")
    harness.emulator.ask(fault)
    harness.until(lambda: words in harness.session.blocked)
    harness.until(lambda: "blocked until arm/reset, then arm/resume are called: the arm" in harness.text)
    assert harness.session.blocked.endswith(": call arm/reset, then arm/resume")
    assert re.search(f"^not resumed: .*{words}.*: call arm/reset first$", harness.session.begin_to_resume())
    if fault == "teach":
        harness.emulator.ask("none")  # the button is released: that alone frees nothing
        harness.emulator.ask("supported")
        harness.until(lambda: "was in teach mode" in harness.session.blocked)
    refused = reset(harness, supported=False)
    assert re.search(
        r"not reset: .* the arm FALLS from where it is \(flange at 0\.\d\d m\)\. .*supported: true", refused
    )
    assert harness.emulator.view.powered.all()
    assert reset(harness, supported=True) == ""
    assert harness.session.blocked == "not enabled yet: call arm/resume"
    there = harness.angles()
    harness.resume()
    assert harness.stands()
    np.testing.assert_allclose(harness.angles(), there, atol=0.02)
    assert " 0 times disabled while raised" in harness.emulator.view.watch


@pytest.mark.nightly
def test_an_arm_that_is_found_in_its_own_stop_does_not_end_the_session(bus_path):
    with EmulatedPiper(bus_path) as emulator:
        emulator.ask("own_stop")
        harness = Harness(emulator, bus_path)
        harness.until(lambda: harness.session.ready and harness.session.own_stop)
        assert harness.session.failure is None
        assert "call arm/reset first" in harness.session.begin_to_resume()
        assert reset(harness, supported=False) == ""  # it lies: nothing falls
        harness.resume()
        assert harness.leave()
        assert harness.said[-1][1] == "the arm is parked and has no power"


@pytest.mark.nightly
def test_an_arm_that_was_taught_before_it_was_connected_does_not_end_the_session(bus_path):
    with EmulatedPiper(bus_path) as emulator:
        emulator.ask("teach")
        emulator.ask("none")
        harness = Harness(emulator, bus_path)
        harness.until(lambda: harness.session.ready)
        assert harness.session.failure is None
        assert "call arm/reset" in harness.text
        assert reset(harness, supported=True) == ""
        harness.resume()
        harness.session.hang_up()


@pytest.mark.nightly
def test_an_arm_that_is_well_is_not_reset(harness):
    harness.raise_it()
    assert "no stop and no error of its own: call arm/resume" in reset(harness, supported=True)
    assert held_at_height(harness)


@pytest.mark.nightly
def test_a_collision_that_the_arm_goes_on_reporting_is_cleared_by_a_reset(harness):
    harness.raise_it()
    harness.emulator.ask("collision 2")
    harness.until(lambda: "collision" in harness.session.blocked)
    assert harness.session.begin_to_resume() == ""
    harness.until(lambda: harness.session.resumed() is not None)
    assert re.search("not enabled: collision.*goes on reporting it, call arm/reset", harness.session.resumed())
    harness.emulator.ask("supported")
    assert reset(harness, supported=True) == ""
    harness.resume()
