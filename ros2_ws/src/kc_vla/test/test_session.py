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
from kc_vla.core.rig import load_rig

PATIENCE_S = 60.0
RAISED = np.radians([10.0, 90.0, -60.0, 0.0, 20.0, 5.0])
PRIORITY = 50
"""Where the user may: other work must not make the arm late."""
LEFT = "The arm keeps its power"


class Rig(Watched):
    """A session, what it said, and the arm it is about."""

    def __init__(self, emulator: EmulatedPiper | None, path: Path, stopped: bool = False, rig: str = "piper") -> None:
        super().__init__(PATIENCE_S, stopped)
        self.emulator = emulator
        wiring = Wiring("piper", load_rig(rig), {"channel": str(path), "bus": INTERFACE})
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
def rig(bus_path: Path) -> Iterator[Rig]:
    with EmulatedPiper(bus_path) as emulator:
        rig = Rig(emulator, bus_path)
        yield rig
        rig.session.hang_up()


def is_parking(rig: Rig) -> Callable[[], bool]:
    """It is on its way to the rest pose and not yet there."""

    def now() -> bool:
        told = rig.session.told
        far = np.abs(rig.angles() - REST).max()
        return told is not None and told.report.mode is Mode.PARK and 0.4 < far < 1.2

    return now


def held_at_height(rig: Rig) -> bool:
    assert rig.emulator is not None
    return bool(rig.emulator.view.powered.all()) and bool(np.abs(rig.angles() - REST).max() > 0.3)


def test_it_gives_power_where_the_arm_lies_moves_parks_and_lets_go(rig):
    rig.raise_it()
    assert rig.leave()
    assert not rig.emulator.view.powered.any()
    np.testing.assert_allclose(rig.angles(), REST, atol=0.05)
    assert rig.said[-1] == (Gravity.NEWS, "the arm is parked and has no power")
    assert not rig.leaving.kept_power
    assert " 0 times disabled while raised" in rig.emulator.view.watch


def test_a_stop_while_it_is_parked_keeps_it_where_it_is(rig):
    rig.raise_it()
    rig.leave(until=is_parking(rig))
    rig.stop()
    assert rig.leave()
    assert rig.leaving.kept_power
    assert held_at_height(rig)
    height = KINEMATICS.flange(rig.angles())[2, 3]
    assert rig.said[-1] == (
        Gravity.PROBLEM,
        f"not parked: the emergency stop is set. {LEFT} (flange at {height:.2f} m): "
        "support it before you switch it off",
    )
    assert rig.stands()


def test_a_person_in_a_hurry_gets_an_arm_that_stands_and_holds(rig):
    rig.raise_it()
    rig.leave(until=is_parking(rig))
    assert rig.leave(hurried=True)
    assert rig.leaving.kept_power
    assert held_at_height(rig)
    assert rig.said[-1][1].startswith(f"not parked: interrupted once more. {LEFT}")
    assert rig.stands()


def test_two_presses_at_once_do_not_even_begin_to_park(rig):
    rig.raise_it()
    there = rig.angles()
    assert rig.leave(hurried=True)
    assert rig.stands()
    np.testing.assert_allclose(rig.angles(), there, atol=0.02)
    assert held_at_height(rig)


def test_a_stop_while_it_connects_keeps_it_without_power(bus_path):
    rig = Rig(None, bus_path)  # there is no arm yet: its bus is waited for
    rig.run(0.5)
    rig.stop()
    with EmulatedPiper(bus_path) as rig.emulator:
        rig.until(lambda: rig.session.ready)
        rig.run(0.5)
        assert not rig.emulator.view.powered.any()
        assert rig.said[-1] == (Gravity.NEWS, "the arm has no power: the emergency stop is set")
        assert rig.session.begin_to_resume() == (
            "not resumed: the emergency stop is set: call arm/release_e_stop first"
        )
        assert rig.session.blocked == "not enabled yet: call arm/resume"  # which is told once the stop is released
        assert rig.leave()
        assert rig.said[-1] == (Gravity.NEWS, "the arm has no power")


def test_a_stop_while_it_gets_power_ends_that(rig):
    rig.emulator.ask("unpowered 6")  # it gets no power: it is asked for again and again
    rig.until(lambda: rig.session.told is not None and rig.session.told.report.mode is Mode.POWERING)
    rig.stop()
    rig.until(lambda: rig.session.ready)
    assert rig.stands()
    assert not rig.emulator.view.powered.all()
    assert rig.leave()
    left = rig.emulator.view.powered.any()
    assert rig.leaving.kept_power == left
    assert rig.said[-1][1].startswith(f"not parked: the emergency stop is set. {LEFT}") == left


def test_an_interrupt_while_it_gets_power_ends_without_power(rig):
    rig.until(lambda: rig.session.arm is not None)
    assert rig.leave()
    assert not rig.emulator.view.powered.any()
    assert rig.said[-1][1] == "the arm is parked and has no power"


def test_an_interrupt_while_it_connects_ends_at_once(bus_path):
    rig = Rig(None, bus_path)
    assert rig.leave()
    assert rig.said == []
    assert not rig.leaving.kept_power


def test_a_process_that_hangs_holds_nobody_up_and_a_stop_meant_for_it_is_not_lost(rig):
    rig.raise_it()
    with rig.frozen():
        rig.until(lambda: "hangs" in rig.text)
        rig.stop()
        assert "the emergency stop is set" in rig.session.begin_to_resume()
        rig.stopped = False
        assert rig.session.begin_to_resume() == "not resumed: the arm's own process hangs"
        rig.stopped = True
        there = rig.angles()
    assert rig.stands()
    np.testing.assert_allclose(rig.angles(), there, atol=0.02)
    assert rig.leave()
    assert held_at_height(rig)


def test_an_arm_is_not_left_parking_by_a_process_that_hangs(rig):
    rig.raise_it()
    rig.leave(until=is_parking(rig))
    with rig.frozen():
        rig.leave(until=lambda: "keeps its power" in rig.text)
        there = rig.angles()
        assert "not parked: the arm's own process hangs" in rig.text
    rig.until(lambda: rig.session.ended)
    assert rig.stands()
    np.testing.assert_allclose(rig.angles(), there, atol=0.05)
    assert held_at_height(rig)


def test_after_a_stall_nothing_moves_without_a_persons_word(rig):
    rig.raise_it()
    over = threading.Event()

    def keep_aiming() -> None:
        while not over.wait(0.05):
            rig.session.set_target(REST, 0.0, 0.05)

    aimer = threading.Thread(target=keep_aiming)
    with rig.frozen():
        aimer.start()
        rig.run(3.0)
        there = rig.angles()
    rig.until(lambda: rig.session.blocked)
    rig.run(2.0)
    over.set()
    aimer.join()
    assert "stood still for" in rig.session.blocked
    np.testing.assert_allclose(rig.angles(), there, atol=0.01)
    rig.resume()


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
def test_that_the_arm_answers_again_is_said_once_and_when_it_is_true(rig, fault, words, state):
    rig.raise_it()
    again = "the arm answers again; look at it, then call arm/resume"
    rig.emulator.ask(fault)
    rig.until(lambda: rig.session.blocked)
    rig.run(1.5)
    assert again not in rig.text
    assert words in rig.text or words in rig.session.told.report.state.line
    assert rig.session.details()["bus"] == state
    if fault == "silence":
        rig.emulator.ask("none")
    rig.until(lambda: again in rig.text)
    seen = rig.session.poll()
    assert seen is None or seen[1] < 0.2
    rig.run(2.0)
    assert rig.text.count(again) == 1
    if fault == "silence":  # for a moment, as on a busy machine: that it answers is no news
        rig.emulator.ask(fault)
        rig.until(lambda: rig.session.poll() is None)
        rig.emulator.ask("none")
        rig.run(2.0)
        assert rig.text.count(again) == 1
    assert rig.session.details()["bus"] == "error-active"
    assert rig.stands()
    rig.resume()
    rig.until(lambda: not rig.session.blocked)


@pytest.mark.nightly
def test_another_model_than_the_rigs_is_not_moved(bus_path):
    with EmulatedPiper(bus_path) as emulator:
        rig = Rig(emulator, bus_path, rig="piper_h")
        rig.until(lambda: rig.session.failure)
        assert rig.session.failure is Failure.CANNOT_START
        assert "the arm reports the joint limits of a piper, and the robot is piper_h: say robot:=piper" in rig.text
        assert not emulator.view.powered.any()
        assert rig.leave()


def test_a_process_that_was_killed_is_told_and_the_arm_holds(rig):
    rig.raise_it()
    os.kill(rig.session._process.pid, signal.SIGKILL)
    rig.until(lambda: rig.session.failure)
    assert rig.session.failure is Failure.LOST
    assert held_at_height(rig)
    assert rig.leave()


@pytest.mark.nightly
def test_what_holds_the_arm_back_is_said_while_it_lasts(rig):
    rig.until(lambda: rig.session.ready and rig.session.told is not None)
    above, beyond = np.radians([0.0, 180.0, 0.0, 0.0, 70.0, 0.0]), np.radians([0.0, 90.0, -30.0, 0.0, -70.0, 0.0])

    def aimed(target: np.ndarray, done: Callable[[], object]) -> None:
        def step() -> object:
            rig.session.set_target(target, 0.0, 0.05)
            return done()

        rig.until(step)

    aimed(above, lambda: np.abs(rig.angles() - above).max() < 0.01)
    aimed(beyond, lambda: rig.session.held_back)
    assert rig.session.held_back == ("the arm is held back: the way to its target crosses the floor of the workspace")
    aimed(above, lambda: not rig.session.held_back)
    lowest = re.search(r"lowest flange ([-\d.]+) m", rig.emulator.view.watch)
    assert lowest
    assert float(lowest[1]) > 0.0


def test_the_rig_has_its_rest_pose_inside_the_workspace_it_comes_with():
    assert KINEMATICS.flange(PIPER.rest)[2, 3] > ServoSettings().lowest[2]


def reset(rig: Rig, supported: bool) -> str:
    """As the service does it once; why it was not done, empty if it was."""
    asked = rig.session.ask("reset", supported)
    assert asked is not None
    rig.until(lambda: asked.done)
    try:
        asked.result()
    except RuntimeError as error:
        return str(error)
    rig.until(lambda: not rig.session.own_stop and not rig.session.has_power)
    return ""


@pytest.mark.parametrize(("fault", "words"), [("own_stop", "own emergency stop is set"), ("teach", "in teach mode")])
def test_a_stop_of_the_arms_own_has_one_way_back(rig, fault, words):
    rig.raise_it()
    rig.emulator.ask("supported")
    rig.emulator.ask(fault)
    rig.until(lambda: words in rig.session.blocked)
    rig.until(lambda: "blocked until arm/reset, then arm/resume are called: the arm" in rig.text)
    assert rig.session.blocked.endswith(": call arm/reset, then arm/resume")
    assert re.search(f"^not resumed: .*{words}.*: call arm/reset first$", rig.session.begin_to_resume())
    if fault == "teach":
        rig.emulator.ask("none")  # the button is released: that alone frees nothing
        rig.emulator.ask("supported")
        rig.until(lambda: "was in teach mode" in rig.session.blocked)
    refused = reset(rig, supported=False)
    assert re.search(
        r"not reset: .* the arm FALLS from where it is \(flange at 0\.\d\d m\)\. .*supported: true", refused
    )
    assert rig.emulator.view.powered.all()
    assert reset(rig, supported=True) == ""
    assert rig.session.blocked == "not enabled yet: call arm/resume"
    there = rig.angles()
    rig.resume()
    assert rig.stands()
    np.testing.assert_allclose(rig.angles(), there, atol=0.02)
    assert " 0 times disabled while raised" in rig.emulator.view.watch


@pytest.mark.nightly
def test_an_arm_that_is_found_in_its_own_stop_does_not_end_the_session(bus_path):
    with EmulatedPiper(bus_path) as emulator:
        emulator.ask("own_stop")
        rig = Rig(emulator, bus_path)
        rig.until(lambda: rig.session.ready and rig.session.own_stop)
        assert rig.session.failure is None
        assert "call arm/reset first" in rig.session.begin_to_resume()
        assert reset(rig, supported=False) == ""  # it lies: nothing falls
        rig.resume()
        assert rig.leave()
        assert rig.said[-1][1] == "the arm is parked and has no power"


@pytest.mark.nightly
def test_an_arm_that_was_taught_before_it_was_connected_does_not_end_the_session(bus_path):
    with EmulatedPiper(bus_path) as emulator:
        emulator.ask("teach")
        emulator.ask("none")
        rig = Rig(emulator, bus_path)
        rig.until(lambda: rig.session.ready)
        assert rig.session.failure is None
        assert "call arm/reset" in rig.text
        assert reset(rig, supported=True) == ""
        rig.resume()
        rig.session.hang_up()


@pytest.mark.nightly
def test_an_arm_that_is_well_is_not_reset(rig):
    rig.raise_it()
    assert "no stop and no error of its own: call arm/resume" in reset(rig, supported=True)
    assert held_at_height(rig)


@pytest.mark.nightly
def test_a_collision_that_the_arm_goes_on_reporting_is_cleared_by_a_reset(rig):
    rig.raise_it()
    rig.emulator.ask("collision 2")
    rig.until(lambda: "collision" in rig.session.blocked)
    assert rig.session.begin_to_resume() == ""
    rig.until(lambda: rig.session.resumed() is not None)
    assert re.search("not enabled: collision.*goes on reporting it, call arm/reset", rig.session.resumed())
    rig.emulator.ask("supported")
    assert reset(rig, supported=True) == ""
    rig.resume()
