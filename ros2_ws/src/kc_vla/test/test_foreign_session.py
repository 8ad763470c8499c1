"""A session with an arm that a driver of others moves: it moves as it is told, and never on garbage."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from foreign import ForeignRobotProcess
from foreign_robot import KINDS
from nightly import at_night
from node_process import Peer
from piper import UNHURRIED
from trajectory_msgs.msg import JointTrajectory
from watched_session import Watched

from kc_vla.arm.leaving import Leaving
from kc_vla.arm.servo_modes import Mode, ServoSettings
from kc_vla.arm.session import ArmSession, Failure, Gravity
from kc_vla.arm.wiring import Wiring
from kc_vla.core.robot import load_robot

PATIENCE_S = 120.0
ROBOTS = {"joint_trajectory": "ur5e_ros", "forward_command": "six_axis_ros", "joint_state": "piper_ros"}
STEP = {"joint_trajectory": [0.2, -0.1, 0.1, 0.1, 0.1, 0.3], "forward_command": [0.3, 0.1, -0.1, 0.2, -0.1, 0.3]}
STEP["joint_state"] = [0.3, 0.5, -0.4, 0.2, 0.1, 0.3]
"""How far each is sent from where it stands, rad."""
SPEED = 1.0
SAW = re.compile(
    r"the foreign arm saw: (?P<commands>\d+) commands, (?P<refused>\d+) refused, largest step "
    r"(?P<step>[\d.]+) degrees, power (?P<power>on|off)"
)


class Harness(Watched):
    """A session, what it said, and the driver that it is about."""

    def __init__(self, kind: str, process: ForeignRobotProcess, peer: Peer) -> None:
        super().__init__(PATIENCE_S)
        self.kind, self.process, self.peer = kind, process, peer
        self.robot = load_robot(ROBOTS[kind])
        assert self.robot.interface is not None
        every = round(200.0 / self.robot.interface.rate)
        self.settings = replace(UNHURRIED, speed=SPEED, command_every=every)
        self.begin()

    def begin(self) -> None:
        wiring = Wiring("ros", self.robot, patience=60.0)
        self.session = ArmSession(wiring, self.settings, 100.0, 0, lambda: self.stopped, self.say)

    @property
    def goal(self) -> np.ndarray:
        return np.array(KINDS[self.kind][2]) + STEP[self.kind]

    def angles(self) -> np.ndarray:
        assert self.session.told is not None
        return np.asarray(self.session.told.report.state.angles)

    @property
    def mode(self) -> Mode | None:
        return self.session.told.report.mode if self.session.told is not None else None

    def is_told_where_it_is(self) -> bool:
        told = self.session.told
        sent = told.report.set_point if told is not None else None
        return sent is not None and bool(np.abs(sent - self.angles()).max() < 1e-3)

    def connect(self) -> None:
        self.until(lambda: self.session.ready and self.session.told is not None)

    def resume(self) -> str:
        """What a person is told who lets it move again; empty if it does."""
        if why := self.session.begin_to_resume():
            return why
        self.until(lambda: self.session.resumed() is not None)
        return self.session.resumed() or ""

    def go(self, goal: np.ndarray, opening: float = 0.03) -> None:
        def there() -> bool:
            self.session.set_target(goal, opening, 0.05)
            return bool(np.abs(self.angles() - goal).max() < 0.01)

        self.until(there)

    def leave(self) -> Leaving:
        leaving = Leaving(self.session)
        self.until(lambda: not leaving.step(False))
        return leaving


@pytest.fixture(
    params=[
        "joint_trajectory",
        *at_night(*(kind for kind in ROBOTS if kind != "joint_trajectory")),
    ]
)
def harness(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Harness]:
    yield from made(request.param, tmp_path)


@pytest.fixture
def trajectory_harness(tmp_path: Path) -> Iterator[Harness]:
    yield from made("joint_trajectory", tmp_path)


def made(kind: str, folder: Path) -> Iterator[Harness]:
    with Peer() as peer, ForeignRobotProcess(kind, folder / "robot.log") as process:
        harness = Harness(kind, process, peer)
        yield harness
        harness.session.hang_up()


def check_what_it_saw(harness: Harness, power: str) -> None:
    """Nothing that it refused, no step that is faster than the arm may be, whatever was lost on the way."""
    assert harness.robot.interface is not None
    said = harness.process.end()
    saw = SAW.search(said)
    assert saw, said
    assert int(saw["commands"]) > 20
    assert int(saw["refused"]) == 0
    lost = 10  # of commands in a row, on a busy machine
    assert float(saw["step"]) <= lost * np.degrees(SPEED / harness.robot.interface.rate) + 0.1
    assert saw["power"] == power
    assert "fell" not in said
    assert "a number that is none" not in said


def test_it_waits_for_a_person_moves_and_is_left_in_order(harness: Harness) -> None:
    harness.connect()
    assert "the arm was found with power: look at it, then call arm/resume" in harness.text
    harness.session.set_target(harness.goal, 0.03, 0.05)
    harness.run(0.5)
    np.testing.assert_allclose(harness.angles(), KINDS[harness.kind][2], atol=1e-3)  # nobody has resumed
    assert harness.resume() == ""
    harness.go(harness.goal)
    harness.until(
        lambda: harness.session.told is not None and abs(harness.session.told.report.state.gripper - 0.03) < 1e-3
    )
    leaving = harness.leave()
    assert not leaving.kept_power
    if harness.kind == "joint_state":  # the vendor's driver has a switch
        assert harness.said[-1] == (Gravity.NEWS, "the arm is parked, and its driver was told to take its power")
        np.testing.assert_allclose(harness.angles(), harness.robot.rest, atol=0.05)
        check_what_it_saw(harness, "off")
    else:
        assert harness.said[-1] == (Gravity.NEWS, "the arm stands where it is, and its own driver holds it")
        np.testing.assert_allclose(harness.angles(), harness.goal, atol=0.02)
        check_what_it_saw(harness, "on")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("silent", "nothing has come from the arm for .* nothing comes on /joint_states: does its driver run"),
        # What joint states have wrong: told apart in test_joint_intake.py, blocks the arm in test_foreign_robot.py.
        *at_night(
            ("nan", "nothing has come from the arm for .* give nan for '"),
            ("renamed", "nothing has come from the arm for .* name other_.*, and the robot's interface "),
            ("repeated", "nothing has come from the arm for .* repeat an old stamp"),
            ("old", "nothing has come from the arm for .* repeat an old stamp"),
            (
                "far",
                "nothing has come from the arm for .* is reported at .* degrees, more than a full turn outside of its ",
            ),
            ("leapt", "nothing has come from the arm for .* is told to have leapt by"),
            (
                "deaf",
                "nobody listens on /scaled_joint_trajectory_controller/joint_trajectory: is its controller active",
            ),
            ("stuck", "degrees from where it was sent: is something in its way"),
        ),
    ],
)
def test_a_fault_of_its_driver_blocks_it_until_a_person_resumes(
    trajectory_harness: Harness, fault: str, told: str
) -> None:
    harness = trajectory_harness
    harness.connect()
    assert harness.resume() == ""
    far = np.array(KINDS[harness.kind][2]) + np.array([1.0, 0.0, 0.0, 0.0, 0.0, 1.1])
    harness.process.ask_for(fault, harness.peer)

    def blocked() -> bool:
        harness.session.set_target(far, 0.03, 0.05)
        return re.search(f"the arm is blocked until arm/resume is called: .*{told}", harness.text) is not None

    harness.until(blocked)
    if fault == "stuck":
        harness.until(harness.is_told_where_it_is)  # it must not spring when it gets loose
    elif fault not in ("deaf", "leapt"):
        assert harness.resume() != ""
    harness.process.ask_for("none", harness.peer)
    harness.until(lambda: harness.session.told is not None and harness.session.told.report.state.age < 0.1)
    harness.run(0.3)
    before = harness.angles()
    harness.session.set_target(far, 0.03, 0.05)
    harness.run(0.5)
    np.testing.assert_allclose(harness.angles(), before, atol=5e-3)  # it is well, and moves only at a person's word
    harness.until(lambda: harness.resume() == "")
    harness.go(harness.goal)
    check_what_it_saw(harness, "on")


@pytest.mark.nightly  # the same without a process: test_foreign_outside.py
def test_one_outside_of_its_limits_is_reported_and_led_back_by_a_person_alone(tmp_path: Path) -> None:
    kind = "joint_trajectory"
    with Peer() as peer, ForeignRobotProcess(kind, tmp_path / "robot.log") as process:
        harness = Harness(kind, process, peer)
        harness.session.hang_up()
        highest = np.minimum(harness.robot.limits.highest, [0.05, 9.0, 9.0, 9.0, 9.0, 9.0])
        harness.robot = replace(harness.robot, limits=replace(harness.robot.limits, highest=highest))
        harness.until(lambda: harness.session.ended)
        harness.begin()
        harness.connect()
        harness.until(
            lambda: "the arm is blocked until arm/resume is called: joint 1 is at 17.2 degrees" in harness.text
        )
        harness.session.set_target(harness.goal, 0.03, 0.05)
        harness.run(0.5)
        np.testing.assert_allclose(harness.angles(), KINDS[kind][2], atol=1e-3)
        assert harness.session.begin_to_resume() == ""
        modes = []

        def resumed() -> bool:
            modes.append(harness.mode)
            harness.session.set_target(harness.goal, 0.03, 0.05)  # nothing else moves it meanwhile
            return harness.session.resumed() is not None

        harness.until(resumed)
        assert harness.session.resumed() == ""
        assert Mode.RETURN in modes
        led_back = len(modes) - modes[::-1].index(Mode.RETURN)  # once it is, a target counts before the answer is heard
        assert Mode.FOLLOW not in modes[:led_back]
        assert harness.angles()[0] <= 0.05
        inside = np.minimum(harness.goal, highest - 0.01)
        harness.go(inside)
        check_what_it_saw(harness, "on")
        harness.session.hang_up()


def test_an_emergency_stop_brings_it_to_rest_and_keeps_it_there(trajectory_harness: Harness) -> None:
    harness = trajectory_harness
    harness.connect()
    assert harness.resume() == ""
    far = harness.goal + np.array([1.5, 0.0, 0.0, 0.0, 0.0, 1.5])

    def moving() -> bool:
        harness.session.set_target(far, 0.03, 1.0)
        return bool(np.abs(harness.angles() - KINDS[harness.kind][2]).max() > 0.1)

    harness.until(moving)
    harness.stopped = True
    harness.session.halt("emergency stop")
    harness.until(lambda: harness.mode is Mode.HOLD)
    harness.run(1.0)
    before = harness.angles()
    assert np.abs(before - far).max() > 0.3
    harness.run(0.7)
    np.testing.assert_allclose(harness.angles(), before, atol=2e-3)
    assert "the emergency stop is set" in harness.resume()


@pytest.mark.nightly
def test_a_target_below_the_floor_is_not_gone_to(trajectory_harness: Harness) -> None:
    harness = trajectory_harness
    harness.connect()
    assert harness.resume() == ""
    table = harness.goal.copy()
    table[1] = -0.1  # the upper arm level, the rest hangs from it
    table[2] = 1.5
    for _ in range(300):
        harness.session.set_target(table, 0.03, 0.05)
        harness.run(0.01)
        assert harness.session.arm is not None
        assert harness.session.arm.kinematics.frames(harness.angles())[:, 2, 3].min() > 0.0


def test_another_program_that_tells_the_arm_something_blocks_it(trajectory_harness: Harness) -> None:
    harness = trajectory_harness
    harness.connect()
    assert harness.resume() == ""
    assert harness.robot.interface is not None
    rival = harness.peer.node.create_publisher(JointTrajectory, harness.robot.interface.command, 10)
    told = f"another program tells the arm on {harness.robot.interface.command}: end it"
    harness.until(lambda: told in harness.text)
    assert told in harness.resume()
    harness.peer.node.destroy_publisher(rival)
    harness.until(lambda: harness.resume() == "")


@pytest.mark.nightly
def test_a_driver_that_dies_and_comes_back_is_found_again(trajectory_harness: Harness, tmp_path: Path) -> None:
    harness = trajectory_harness
    harness.connect()
    assert harness.resume() == ""
    harness.process.kill()
    harness.until(lambda: "the arm is blocked until arm/resume is called" in harness.text)
    with ForeignRobotProcess(harness.kind, tmp_path / "second.log") as again:
        harness.until(lambda: "the arm answers again" in harness.text)
        harness.until(lambda: harness.resume() == "")
        harness.go(harness.goal)
        harness.process = again
        check_what_it_saw(harness, "on")


@pytest.mark.nightly
def test_a_process_that_was_killed_leaves_the_arm_where_it_is_and_the_next_waits(trajectory_harness: Harness) -> None:
    harness = trajectory_harness
    harness.connect()
    assert harness.resume() == ""
    harness.go(harness.goal)
    os.kill(harness.session._process.pid, signal.SIGKILL)
    harness.until(lambda: harness.session.failure is Failure.LOST)
    harness.said.clear()
    harness.begin()
    harness.connect()
    assert "the arm was found with power" in harness.text
    np.testing.assert_allclose(harness.angles(), harness.goal, atol=0.02)
    harness.until(lambda: harness.resume() == "")  # the middleware takes a while to forget the one that was killed
    harness.go(np.array(KINDS[harness.kind][2]))


@pytest.mark.nightly
def test_a_second_controller_is_refused(trajectory_harness: Harness) -> None:
    harness = trajectory_harness
    harness.connect()
    first = harness.session
    wiring = Wiring("ros", harness.robot, patience=0.0)
    harness.session = ArmSession(wiring, harness.settings, 100.0, 0, lambda: False, harness.say)
    harness.until(lambda: harness.session.failure is Failure.CANNOT_START)
    assert "another controller has the arm" in harness.text
    harness.session.hang_up()
    harness.session = first
    harness.run(1.0)
    assert harness.resume() == ""


def test_without_a_driver_it_says_what_is_missing(tmp_path: Path) -> None:
    said: list[str] = []
    wiring = Wiring("ros", load_robot("ur5e_ros"), patience=0.0)
    session = ArmSession(wiring, ServoSettings(), 100.0, 0, lambda: False, lambda _, text: said.append(text))
    until = time.monotonic() + PATIENCE_S
    while session.failure is None:
        assert time.monotonic() < until
        session.poll()
        time.sleep(0.01)
    session.hang_up()
    wrong = [line for line in said if not line.startswith("waiting for")]  # as on a busy machine
    assert wrong == ["no joint states come on /joint_states: start the robot's driver first"]


def test_a_robot_that_does_not_say_how_it_is_moved_is_refused(tmp_path: Path) -> None:
    said: list[str] = []
    wiring = Wiring("ros", load_robot("piper"), patience=0.0)
    session = ArmSession(wiring, ServoSettings(), 100.0, 0, lambda: False, lambda _, text: said.append(text))
    until = time.monotonic() + PATIENCE_S
    while session.failure is None:
        assert time.monotonic() < until
        session.poll()
        time.sleep(0.01)
    session.hang_up()
    assert "driver 'ros' of robot 'piper', whose file has the driver 'piper': option 'kind' is missing" in said[-1]
