"""An xArm 7 through the whole control process and the vendor's own SDK, against an emulated control box.

What counts is what came over the wire: no set-point is further from the last than the velocity limit allows, the first
one is where the arm is, and nothing is sent that nobody may follow.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from control_box import ADDRESS, ControlBox

from kc_vla.arm.interface import ArmError
from kc_vla.arm.kinds import ARMS, choose_arm
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.leaving import Leaving
from kc_vla.arm.servo_modes import Mode, ServoSettings
from kc_vla.arm.session import ArmSession, Failure, Gravity
from kc_vla.arm.stop_latch import StopLatch
from kc_vla.arm.wiring import Wiring
from kc_vla.core.options import OptionError
from kc_vla.core.robot import Robot, load_robot

ROBOT = Path(__file__).parents[1] / "kc_vla_xarm/robots/xarm7.yaml"
SPEED, PERIOD_S, EVERY = 1.0, 0.005, 2
STEP = SPEED * PERIOD_S * EVERY
"""rad that a set-point may be from the one before."""
SINGLE = 1e-5
"""rad, of what a number of the wire is rounded to."""
RAISED = np.array([0.3, -0.3, 0.2, 0.6, 0.1, 0.5, -0.4])
PATIENCE_S = 60.0


class Desk:
    """A session with the arm of a control box, and what it said."""

    def __init__(self, box: ControlBox, patience: float = 5.0, robot: Robot | None = None) -> None:
        self.box, self.stopped = box, False
        self.said: list[tuple[Gravity, str]] = []
        wiring = Wiring(
            "xarm", robot or load_robot(str(ROBOT)), {"address": ADDRESS, "port_offset": box.offset}, None, patience
        )
        # A busy machine may let the control loop stand still for longer than it may beside a real arm.
        settings = ServoSettings(PERIOD_S, EVERY, SPEED, stalled_after=5.0, stale_after=1.0, grace=0.5)
        self.session = ArmSession(wiring, settings, 100.0, 0, lambda: self.stopped, self._say)

    def _say(self, gravity: Gravity, text: str) -> None:
        self.said.append((gravity, text))

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.said)

    @property
    def mode(self) -> Mode | None:
        return self.session.told.report.mode if self.session.told is not None else None

    def angles(self) -> np.ndarray:
        assert self.session.told is not None
        return np.asarray(self.session.told.report.state.angles)

    def until(self, done: Callable[[], object], patience: float = PATIENCE_S) -> None:
        end = time.monotonic() + patience
        while not done():
            assert time.monotonic() < end, f"{self.text}\n{self.mode} {self.session.blocked} {self.box.ask('log')}"
            self.session.poll()
            time.sleep(0.005)

    def run(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def connect(self) -> None:
        self.until(lambda: self.session.ready and self.session.told is not None)

    def go(self, goal: np.ndarray, opening: float = 0.03) -> None:
        """Be led there, as by a policy's chunks."""

        def is_there() -> bool:
            self.session.set_target(goal, opening, 0.2)
            return bool(np.abs(self.angles() - goal).max() < 0.01)

        self.until(is_there)

    def resume(self) -> str:
        """Return what a person is told who lets it move again; empty if it does."""
        if why := self.session.begin_to_resume():
            return why
        self.until(lambda: self.session.resumed() is not None)
        return self.session.resumed() or ""

    def is_blocked(self, words: str) -> None:
        self.until(lambda: self.mode is Mode.BLOCKED and words in self.session.blocked)

    def reset(self) -> None:
        answer = self.session.ask("reset", False)
        assert answer is not None
        self.until(lambda: answer.done)
        answer.result()
        self.until(lambda: not self.session.own_stop)

    def leave(self) -> Leaving:
        leaving = Leaving(self.session)
        self.until(lambda: not leaving.step(hurried=False))
        return leaving

    def close(self) -> None:
        """Have nothing more to do with the arm, and wait until its process has gone."""
        self.session.hang_up()
        self.until(lambda: self.session.ended)

    def check_wire(self) -> dict:
        """See that nothing came over the wire that an arm could not follow."""
        log = self.box.ask("log")
        assert max(log["steps"]) <= STEP + SINGLE, log
        assert log["first"] <= STEP + SINGLE, log
        return log


@pytest.fixture
def desk(box: ControlBox) -> Iterator[Desk]:
    desk = Desk(box)
    yield desk
    desk.close()
    desk.check_wire()


def test_the_row_is_found_by_its_entry_point_and_the_file_names_it() -> None:
    robot = load_robot(str(ROBOT))
    assert robot.driver.type == "xarm"
    assert "xarm" in ARMS.names()
    chosen = choose_arm("xarm", robot, {"address": "10.0.0.5"})
    assert chosen.identity == "xarm-10.0.0.5"
    assert chosen.timing.command_rate == 100.0
    with pytest.raises(OptionError, match=r"'command_rate' is 500\.0: allowed is 50\.\.250"):
        choose_arm("xarm", robot, {"command_rate": 500})


def test_its_links_put_the_flange_where_the_vendor_says() -> None:
    robot = load_robot(str(ROBOT))
    np.testing.assert_allclose(
        Kinematics(robot.links_of("")).flange(np.zeros(7))[:3, 3], [0.206, 0.0, 0.1205], atol=1e-4
    )


def test_it_moves_within_the_velocity_limit_and_is_parked(box: ControlBox, capfd: pytest.CaptureFixture[str]) -> None:
    desk = Desk(box)  # here, as what is started in a fixture is not captured
    desk.connect()
    assert desk.text == "the arm has power"
    desk.go(RAISED, 0.05)
    log = desk.check_wire()
    assert max(log["steps"]) > 0.5 * STEP  # it was led as fast as it may
    desk.until(lambda: abs(desk.box.ask("log")["gripper"] - 500) < 10)
    leaving = desk.leave()
    assert not leaving.kept_power
    assert desk.text.splitlines()[-1] == "the arm is parked, its motors have no power, and its brakes hold it"
    log = desk.check_wire()
    assert not log["enabled"]
    np.testing.assert_allclose(log["angles"], np.zeros(7), atol=1e-3)
    desk.close()
    assert capfd.readouterr().out == ""  # the SDK prints much


def test_an_emergency_stop_halts_it_and_only_a_person_goes_on(desk: Desk, tmp_path: Path) -> None:
    latch = StopLatch(tmp_path / "stop")
    desk.connect()
    desk.session.set_target(RAISED, 0.03, 2.0)
    desk.until(lambda: np.abs(desk.angles()).max() > 0.05)
    latch.set("pressed")
    desk.stopped = True
    desk.session.halt("emergency stop")
    desk.until(lambda: desk.mode is Mode.HOLD)
    desk.run(0.5)
    stood = desk.angles()
    assert np.abs(stood - RAISED).max() > 0.05
    assert "the emergency stop is set" in desk.resume()
    desk.run(0.3)
    np.testing.assert_allclose(desk.angles(), stood, atol=1e-3)
    leaving = desk.leave()
    assert leaving.kept_power
    assert "not parked: the emergency stop is set" in desk.text
    assert StopLatch(tmp_path / "stop").is_set  # the next controller finds it


def test_a_controller_error_blocks_it_until_a_person_resets_and_resumes(desk: Desk) -> None:
    desk.connect()
    desk.session.set_target(RAISED, 0.03, 5.0)
    desk.until(lambda: np.abs(desk.angles()).max() > 0.05)
    desk.box.ask("error", 31)
    desk.is_blocked("the controller reports an error (error 31: Collision Caused Abnormal Current")
    desk.run(0.2)
    sent = desk.box.ask("log")
    desk.run(0.5)
    assert desk.box.ask("log")["count"] == sent["count"]
    assert desk.box.ask("log")["refused"] == sent["refused"]
    assert "call arm/reset first" in desk.resume()
    desk.reset()
    assert desk.mode is Mode.BLOCKED  # a reset moves nothing
    assert desk.resume() == ""
    desk.go(RAISED)
    assert not desk.leave().kept_power


def test_an_emergency_stop_button_takes_the_power_and_is_told_by_name(desk: Desk) -> None:
    desk.connect()
    desk.go(RAISED)
    desk.box.ask("error", 1)
    desk.is_blocked("the arm's own emergency stop is set (error 1: The Emergency Stop Button on the xArm Controller")
    desk.until(lambda: not desk.session.has_power)
    desk.box.ask("error", 0)
    desk.until(lambda: not desk.session.own_stop)
    assert desk.resume() == ""
    desk.go(np.zeros(7))


def test_a_silent_control_box_gets_nothing_until_a_person_has_looked(desk: Desk) -> None:
    desk.connect()
    desk.go(RAISED)
    desk.box.ask("silent", True)
    desk.is_blocked("it does not answer: look at the network")
    sent = desk.box.ask("log")["count"]
    desk.box.ask("silent", False)
    desk.until(lambda: desk.resume() == "")
    assert desk.box.ask("log")["count"] >= sent
    desk.go(np.zeros(7))


def test_a_controller_that_answers_no_set_point_blocks_it_and_holds_the_loop_up_once(desk: Desk) -> None:
    desk.connect()
    desk.go(RAISED)
    desk.box.ask("freeze", True)
    desk.is_blocked("it does not answer: look at the network")
    desk.box.ask("freeze", False)
    desk.until(lambda: desk.resume() == "")
    desk.go(np.zeros(7))


@pytest.mark.parametrize(
    ("harm", "words"),
    [(("stop",), "the controller is stopped, by its app"), (("mode", 2), "set the controller's mode to 2")],
)
def test_another_program_that_takes_the_arm_blocks_it(desk: Desk, harm: tuple[object, ...], words: str) -> None:
    desk.connect()
    desk.go(RAISED)
    desk.box.ask(*harm)
    desk.is_blocked(words)
    assert desk.resume() == ""
    desk.go(np.zeros(7))


def test_one_outside_of_its_limits_gets_no_power_and_is_led_back_by_a_person_alone(box: ControlBox) -> None:
    robot = load_robot(str(ROBOT))
    lowest = np.where(np.arange(7) == 5, 0.4, robot.limits.lowest)  # it stands at 0
    desk = Desk(box, robot=replace(robot, limits=replace(robot.limits, lowest=lowest)))
    desk.connect()
    desk.until(lambda: "joint 6 is at 0.0 degrees, outside of its 22.9 to" in desk.session.blocked)
    assert not desk.session.has_power
    desk.session.set_target(RAISED, 0.03, 0.2)
    desk.run(0.5)
    assert desk.box.ask("log")["count"] == 0
    assert desk.resume() == ""
    assert desk.angles()[5] >= 0.4
    steps = desk.check_wire()["steps"]
    assert max(steps) <= ServoSettings().return_speed * PERIOD_S * EVERY + SINGLE
    desk.go(np.maximum(RAISED, lowest + 0.01))
    desk.close()
    desk.check_wire()


def test_an_arm_that_is_found_with_power_waits_for_a_person(desk: Desk) -> None:
    desk.connect()
    desk.go(RAISED)
    desk.close()
    again = Desk(desk.box)
    again.connect()
    assert "the arm was found with power: look at it, then call arm/resume" in again.text
    sent = again.box.ask("log")["count"]
    again.session.set_target(np.zeros(7), 0.0, 1.0)
    again.run(0.5)
    assert again.box.ask("log")["count"] == sent
    assert again.resume() == ""
    again.go(np.zeros(7))
    again.close()


def test_another_model_is_refused(box: ControlBox) -> None:
    box.ask("axis", 6)
    desk = Desk(box)
    desk.until(lambda: desk.session.failure is Failure.CANNOT_START)
    desk.close()
    assert "the arm at 127.0.0.1 has 6 joints, and robot 'xarm7' has 7: choose its robot file" in desk.text


def test_an_address_where_nothing_is_is_told(box: ControlBox) -> None:
    box.close()
    desk = Desk(box, patience=0.0)
    desk.until(lambda: desk.session.failure is Failure.CANNOT_START)
    desk.close()
    assert f"no joint states come from 127.0.0.1, port {30003 + box.offset}" in desk.text


def test_connecting_leaves_the_sockets_of_the_process_as_they_are() -> None:
    from kc_vla_xarm import vendor

    with pytest.raises(ArmError, match=r"no control box answers at 127\.0\.0\.1"):
        vendor.connected(vendor.load(), "127.0.0.1", port_offset=9)
    assert socket.getdefaulttimeout() is None
