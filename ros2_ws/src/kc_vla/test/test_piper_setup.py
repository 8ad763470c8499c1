"""`kc-vla setup piper` says what an arm is set to, asks, sends, reads back, and never is half done in silence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from emulated_piper import running_emulator
from piper import PIPER

from kc_vla.arm.emulator.frames import Frame, FrameError, GripperTarget, MotorPower, read_command
from kc_vla.arm.emulator.process import EmulatorProcess
from kc_vla.arm.emulator.setting_frames import Role, read_setting
from kc_vla.arm.interface import UnfitArmError
from kc_vla.arm.piper import PiperArm
from kc_vla.cli import main
from kc_vla.core.robot import load_robot

Setup = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    """One arm for all tests, which is set up again and again; nothing was sent to it that enables or moves it."""
    with running_emulator(tmp_path_factory.mktemp("b") / "bus") as process:
        yield process
        assert process.misunderstood == []
        assert process.watch.set_with_power == process.watch.commands == 0
        assert not process.arm.body.powered.any()


@pytest.fixture
def setup(emulator: EmulatorProcess, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Setup:
    """Run it with a person who gives these answers; return the exit status and all that was printed."""

    def run(*words: str, answers: tuple[str, ...] = ()) -> tuple[int, str]:
        left = list(answers)

        def ask(question: str) -> str:
            print(question)
            return left.pop(0)

        monkeypatch.setattr("builtins.input", ask)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: bool(answers), raising=False)
        status = main(["setup", "piper", str(emulator.bus.path), *words])
        assert not left, "it asked less often"
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return run


def test_a_new_arm_is_offered_a_collision_level_and_shown_that_documents_disagree(
    emulator: EmulatorProcess, setup: Setup
) -> None:
    emulator.faults.ask("unprotected")
    status, said = setup("--do", answers=("n",))
    assert status == 1
    assert "0, 0, 0, 0, 0, 0. the collision level of all joints is 0: the arm detects no collision" in said
    assert "the vendor's documents disagree whether a higher level is more or less sensitive" in said
    assert "not agreed to, and not sent: 1 of 2 changes" in said
    assert emulator.arm.levels == (0,) * 6

    status, said = setup("--do", answers=("y",))
    assert (status, emulator.arm.levels) == (0, (5,) * 6)
    assert "to be sent: frame 0x47A, levels 5, 5, 5, 5, 5, 5; the arm keeps it, and nothing moves" in said
    assert "done: the arm reports the collision levels 5, 5, 5, 5, 5, 5" in said
    assert "CAREFUL: level 0 switches the detection off" in setup("--collision", "0")[1]
    assert emulator.arm.levels == (5,) * 6


def test_the_zero_of_the_gripper_is_set_where_a_person_has_closed_it(emulator: EmulatorProcess, setup: Setup) -> None:
    emulator.faults.ask("gripper_zero 0.004")
    emulator.faults.ask("gripper_unhomed")
    status, said = setup("--gripper-zero", "--yes")
    assert status == 1
    assert "gripper: reports 4.0 mm, and does not know its zero" in said
    assert "nothing was done: there is no terminal to ask in; a person has to be there" in said
    status, said = setup("--gripper-zero", "--do", answers=("y",))
    assert "close the fingers by hand now, until they touch" in said
    assert "done: the gripper reports 0.0 mm, and knows its zero" in said
    assert (status, emulator.arm.gripper.zero, emulator.arm.gripper.width) == (0, 0.0, 0.0)


def test_the_zero_of_a_joint_is_confirmed_and_read_back(emulator: EmulatorProcess, setup: Setup) -> None:
    before = emulator.arm.body.angles.copy()
    emulator.faults.ask("zero_lost 3")
    status, said = setup("--joint-zero", "3", "--do", answers=("y",))
    assert status == 0
    assert "joint 3: reports -5.0" in said
    assert "support the arm: a joint without power gives way" in said
    assert "turn joint 3 by hand to its zero mark" in said
    assert "done: the arm confirmed it; joint 3 reports" in said
    np.testing.assert_allclose(emulator.arm.zero, 0.0, atol=1e-3)
    np.testing.assert_array_equal(emulator.arm.body.angles, before)


def test_broken_limits_become_those_from_the_factory(emulator: EmulatorProcess, setup: Setup) -> None:
    emulator.faults.ask("broken_limits")
    status, said = setup("--factory-limits", "--do", answers=("y",))
    assert status == 0
    assert "joint limits: joint 1: -0.1 to -0.1 degrees, of which the lower is not below the upper; joint 2:" in said
    assert "narrower limits that were set in this arm are lost" in said
    assert "done: the arm confirmed it; joint limits: those of the robot file" in said
    np.testing.assert_array_equal(emulator.arm.limits.lowest, PIPER.limits.lowest)


def test_what_no_arm_reports_is_said_so(emulator: EmulatorProcess, setup: Setup) -> None:
    status, said = setup("--load", "half", "--mount", "left", "--do", answers=("y", "y"))
    assert (status, emulator.arm.load, emulator.arm.mount) == (0, 1, 2)
    assert "done: the arm confirmed the end load 'half'; it does not report it" in said
    assert "a wrong one lets it sag or lift where it is enabled" in said
    assert "done: sent; the arm obeys the bus, and does not report its installation position 'left'" in said


def test_a_mount_on_the_side_becomes_a_robot_file_whose_home_is_where_the_arm_lies(
    emulator: EmulatorProcess, setup: Setup, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    mount = ("--mount", "left", "--write", str(file))
    assert "upright has -z, left and right have +y or -y; --down says it" in setup(*mount)[1]
    assert "say with --floor how far" in setup(*mount, "--down=-y")[1]
    status, said = setup(*mount, "--down=-y", "--floor", "0.4", "--do", answers=("y", "y"))
    assert (status, emulator.arm.mount) == (0, 2)
    assert f"{file} is written: compare its workspace with the place" in said
    robot = load_robot(str(file))
    assert (robot.down, robot.down_axis, robot.driver.options["mount"]) == ((0.0, -1.0, 0.0), "-y", "left")
    assert robot.workspace == ((-0.7, -0.4, 0.0), (0.7, 0.7, 0.9))
    np.testing.assert_allclose(robot.rest, emulator.arm.body.angles, atol=2e-3)
    assert "name a new file" in setup(*mount, "--down=-y", "--floor", "0.4")[1]
    with pytest.raises(UnfitArmError, match="has 'down: -y' and 'mount: upright' of its driver"):
        PiperArm(robot)


def test_a_leader_takes_no_setting_until_it_is_a_follower_and_switched_on_again(
    emulator: EmulatorProcess, setup: Setup
) -> None:
    status, said = setup("--role", "leader", "--do", answers=("y",))
    assert (status, emulator.arm.role) == (0, Role.LEADER)
    assert "CAREFUL: a leader obeys no command and reports no state" in said
    assert "done: the arm is a leader" in said
    status, said = setup("--collision", "3", "--yes")
    assert status == 1
    assert "it is a leader, or only a leader is on this bus" in said
    assert f"'kc-vla setup piper {emulator.bus.path} --role follower --do'" in said
    status, said = setup("--role", "follower", "--yes")
    assert status == 1
    assert "NOT FINISHED: the role 'follower' was sent, and the arm still is a leader. Support it" in said
    emulator.faults.ask("power_cut 0.1")
    status, said = setup("--role", "follower", "--yes")
    assert (status, said.strip().splitlines()[-1]) == (0, "role: follower")


def test_nothing_is_set_while_a_motor_has_power(bus_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running_emulator(bus_path) as emulator:
        emulator.arm.receive(MotorPower((2,), True))
        for words in (("--collision", "3"), ("--load", "half"), ("--mount", "right"), ("--role", "leader")):
            assert main(["setup", "piper", str(bus_path), *words, "--yes"]) == 1
            assert "nothing was sent: the motors have power" in capsys.readouterr().err
        assert (emulator.arm.levels, emulator.arm.load, emulator.arm.mount) == ((5,) * 6, 0, 1)
        assert emulator.arm.body.powered.tolist() == [False, True, False, False, False, False]


@pytest.mark.parametrize(
    ("frame", "data", "words"),
    [
        (0x470, [0xFB, 0, 0, 0], "sets the role 0xfb"),
        (0x470, [0xFA, 0x30, 0, 0], "sets the role 0xfa with offsets 30"),
        (0x475, [8, 0xAE, 0, 0, 0, 0], "there is no motor 8"),
        (0x475, [1, 0x01, 0, 0, 0, 0], "0 and 0xAE are possible"),
        (0x477, [5, 0, 0, 0, 3], "no Piper understands"),
        (0x477, [0, 0, 0, 0xAE, 3], "the end load 3"),
        (0x47A, [1, 1, 1, 1, 1, 9], "0 to 8 exist"),
    ],
)
def test_the_emulator_refuses_what_no_document_has(frame: int, data: list[int], words: str) -> None:
    with pytest.raises(FrameError, match=words):
        read_setting(Frame(frame, bytes(data).ljust(8, b"\0")))


@pytest.mark.parametrize(
    ("frame", "data", "words"),
    [
        (0x151, [1, 1, 0, 0, 0, 4], "the installation position 4"),
        (0x159, [0, 0, 0, 0, 0x13, 0x89, 1, 0], "a torque of 5001 mN m"),
        (0x159, [0, 0, 0, 0, 0, 0, 4, 0], "the code 4"),
    ],
)
def test_the_emulator_refuses_commands_that_there_are_not(frame: int, data: list[int], words: str) -> None:
    with pytest.raises(FrameError, match=words):
        read_command(Frame(frame, bytes(data).ljust(8, b"\0")))


def test_a_gripper_with_power_takes_no_zero(emulator: EmulatorProcess) -> None:
    gripper = emulator.arm.gripper
    gripper.width = 0.01
    gripper.receive(GripperTarget(10_000, 1000, 1, True))
    assert gripper.zero == 0.0
    gripper.lose_power()
    gripper.width = 0.0
