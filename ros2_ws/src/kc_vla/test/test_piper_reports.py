"""What a Piper reports of itself is looked at before it gets power: limits, firmware, flange, and where it is."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from emulated_piper import running_emulator, wait_for
from hypothesis import given
from hypothesis import strategies as st
from piper import KINEMATICS, LIMITS, OLDER, PIPER, TABLE, UNHURRIED

from kc_vla.arm.emulator.arm import EmulatedArm
from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.emulator.frames import limits_frame
from kc_vla.arm.emulator.process import EmulatorProcess
from kc_vla.arm.interface import ArmError, UnfitArmError
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.piper_firmware import FirmwareText, firmware_of
from kc_vla.arm.piper_flange import misplaced
from kc_vla.arm.piper_models import MODELS, require_limits, require_model, require_piper
from kc_vla.arm.scheduling import control_periods
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import Mode
from kc_vla.arm.workspace import Workspace
from kc_vla.core.chain import Chain
from kc_vla.core.robot import JointLimits, Robot, RobotError, firmware_version, load_robot

NARROW = replace(PIPER, name="mine", limits=replace(LIMITS, highest=np.radians([150.0, 180, 0, 100, 10, 120])))
_FRAMES = 3
"""That carry one set-point of six joints."""
EVERYWHERE = (-2.0, -2.0, -2.0), (2.0, 2.0, 2.0)


@contextmanager
def connected(path: Path, robot: Robot = PIPER) -> Iterator[PiperArm]:
    arm = PiperArm(robot, str(path), INTERFACE, patience=10.0)
    arm.connect()
    try:
        yield arm
    finally:
        arm.close()


@pytest.mark.parametrize(
    ("motors", "highest", "lowest", "speed", "words"),
    [
        (
            (1, 2, 3, 4, 5, 6),
            -1,
            -1,
            3000,
            "joint 1, 2, 3, 4, 5, 6: -0.1 to -0.1 degrees, of which the lower",
        ),
        ((5,), -1, -1, 3000, "joint 5: -0.1 to -0.1 degrees, of which the lower is not below the upper"),
        ((2,), -100, 900, 3000, "joint 2: 90.0 to -10.0 degrees, of which the lower is not below the upper"),
        ((6,), 32767, -32768, 3000, "joint 6: -3276.8 to 3276.7 degrees, which is more than a turn"),
        (
            (3,),
            900,
            100,
            3000,
            "10.0 to 90.0 degrees, and the robot file has -170.0 to 0.0, which leaves no range",
        ),
        ((4,), 1000, -1000, 0, "joint 4: a velocity limit of 0.000 rad/s"),
    ],
)
def test_broken_limits_are_refused_before_the_arm_gets_power(
    bus_path, monkeypatch, motors, highest, lowest, speed, words
):
    told = EmulatedArm._limits

    def limits(self, motor):
        return limits_frame(motor, highest, lowest, speed) if motor in motors else told(self, motor)

    monkeypatch.setattr(EmulatedArm, "_limits", limits)
    with running_emulator(bus_path) as emulator:
        with pytest.raises(UnfitArmError) as refused, connected(bus_path):
            pass
        assert words in str(refused.value)
        assert "It is not enabled: run 'kc-vla setup piper CAN --factory-limits --do'" in str(refused.value)
        assert "\n" not in str(refused.value)
        assert not emulator.arm.body.powered.any()


pairs = st.tuples(st.floats(-7.0, 7.0), st.floats(-7.0, 7.0), st.floats(-1.0, 5.0))


@given(st.lists(pairs, min_size=6, max_size=6))
def test_whatever_limits_are_reported_what_is_taken_leaves_every_joint_a_range_within_the_robot_files(rows):
    lowest, highest, speed = np.array(rows).T
    reported = JointLimits(lowest, highest, speed)
    try:
        require_limits(reported, PIPER)
    except UnfitArmError:
        return
    both = LIMITS.narrowed(reported)
    assert (both.highest - both.lowest >= np.radians(1.0)).all()
    assert (both.speed > 0.0).all()
    assert (lowest < highest).all()


@dataclass
class Pace:
    """How fast the joints of an emulated arm turned, in rad/s, while its set-points came as they are sent.

    A busy machine holds the emulator up; then it gets many set-points at once, which says nothing of who sent them.
    """

    fastest: float = 0.0
    _counts: deque[int] = field(default_factory=lambda: deque(maxlen=40))

    def look(self, emulator: EmulatorProcess) -> None:
        self._counts.append(emulator.watch.commands)
        came = np.diff(self._counts)
        body = emulator.arm.body
        if body.powered.all() and len(came) and came.max() <= 3 * _FRAMES:
            self.fastest = max(self.fastest, float(np.abs(body.speeds).max()))


def lead_back(arm: PiperArm) -> list[tuple[Mode, str]]:
    """Have a person resume an arm that is outside of its limits; the modes that were seen, and why it was blocked."""
    servo = Servo(arm, UNHURRIED, Workspace(arm.kinematics, *EVERYWHERE))
    servo.resume(time.monotonic())
    modes: list[tuple[Mode, str]] = []
    for number, (now, _) in enumerate(control_periods(0.005)):
        report = servo.step(now)
        mode = report.mode, report.reason if report.mode is Mode.BLOCKED else ""
        modes += [mode] if mode not in modes else []
        if report.mode in (Mode.HOLD, Mode.BLOCKED) or number > 6000:
            return modes
    raise AssertionError


LED = [(Mode.POWERING, ""), (Mode.RETURN, ""), (Mode.HOLD, "")]


def saw_no_jump(emulator: EmulatorProcess, pace: Pace) -> bool:
    watch = emulator.watch
    slow = np.degrees(pace.fastest) < 25.0 and np.degrees(pace.fastest) > 5.0
    return watch.out_of_limits == 0 and np.degrees(watch.largest_step) < 0.06 and slow


def test_an_arm_with_a_joint_beyond_its_limit_is_led_back_without_a_jump(bus_path):
    pace = Pace()
    with running_emulator(bus_path, look=pace.look) as emulator:
        body = emulator.arm.body
        body._limits = replace(LIMITS, highest=LIMITS.highest + np.array([0, 0, 0, 0, 0, 1.0]))  # its hard stops
        body.angles[5] = np.radians(140.0)
        with connected(bus_path) as arm:
            assert lead_back(arm) == LED
            wait_for(lambda: np.degrees(emulator.arm.body.angles[5]) < 120.0)
        assert saw_no_jump(emulator, pace)
        assert emulator.watch.commands > 100


def test_a_narrower_robot_file_of_any_name_is_taken_and_the_arm_is_led_inside_it(bus_path):
    pace = Pace()
    with running_emulator(bus_path, look=pace.look) as emulator, connected(bus_path, NARROW) as arm:
        arm.check_identity()
        np.testing.assert_allclose(np.degrees(arm.limits.highest[4]), 10.0)
        assert lead_back(arm) == LED
        wait_for(lambda: np.degrees(emulator.arm.body.angles[4]) < 10.0)
        assert saw_no_jump(emulator, pace)


@pytest.mark.parametrize("model", MODELS)
def test_the_model_is_told_by_links_and_reported_limits_and_not_by_a_files_name(model):
    robot = load_robot(model)
    narrowed = replace(robot.limits, lowest=robot.limits.lowest + 0.2, highest=robot.limits.highest - 0.2)
    require_model(robot.limits, replace(robot, name="mine", limits=narrowed))
    for other in set(MODELS) - {model}:
        with pytest.raises(ArmError, match=f"limits of a {other}, and the robot is mine: say robot:={other}, or give"):
            require_model(load_robot(other).limits, replace(robot, name="mine", limits=narrowed))


@pytest.mark.parametrize(
    ("robot", "words"),
    [
        ("panda_sim", "robot 'panda_sim' has 7 joints, but the driver 'piper' has 6: choose a robot for this driver"),
        (replace(PIPER, name="two", gripper=("left", "right")), "robot 'two' has a gripper of 2 joints"),
        (replace(PIPER, name="bare", links=None), "robot 'bare' has no links"),
    ],
)
def test_a_robot_that_no_piper_can_have_is_refused_in_one_line(robot, words):
    mine = load_robot(robot) if isinstance(robot, str) else robot
    for refuses in (require_piper, PiperArm):
        with pytest.raises(UnfitArmError) as told:
            refuses(mine)
        assert words in str(told.value)
        assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("firmware", "kinematics"),
    [("S-V1.6-12", KINEMATICS), ("S-V1.8-10", KINEMATICS), ("S-V1.6-2", OLDER), ("S-V1.5-22", OLDER)],
)
def test_a_firmware_is_read_whole(bus_path, firmware, kinematics):
    with running_emulator(bus_path, firmware=firmware), connected(bus_path) as arm:
        assert (arm.firmware, arm.warnings) == (firmware, ())
        np.testing.assert_array_equal(arm.kinematics.links.origins, kinematics.links.origins)


def test_a_firmware_that_is_not_understood_is_told_and_no_older_zero_pose_is_taken(bus_path):
    with running_emulator(bus_path, firmware="") as emulator:
        emulator.arm._firmware = "S-V1.5x beta"
        with connected(bus_path) as arm:
            (told,) = arm.warnings
    assert told.startswith("the arm's firmware 'S-V1.5x beta' is not understood: the zero pose of the newest is")
    np.testing.assert_array_equal(arm.kinematics.links.origins, KINEMATICS.links.origins)


names = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 400))


@given(names, names)
def test_firmware_is_compared_by_its_numbers(one, other):
    first, second = (f"S-V{major}.{minor}-{patch}" for major, minor, patch in (one, other))
    assert (firmware_version(first) < firmware_version(second)) == (one < other)
    robot = replace(PIPER, links=KINEMATICS.links, older=(firmware_version(second), OLDER.links))
    assert robot.links_of(first) is (OLDER.links if one < other else KINEMATICS.links)


@given(names, st.text(st.characters(codec="ascii"), max_size=20), st.binary(max_size=3))
def test_a_firmware_is_found_in_an_answer_of_any_length(name, before, after):
    firmware = "S-V{}.{}-{}".format(*name)
    text, answer = FirmwareText(), (before + " " + firmware).encode() + bytes(value % 10 for value in after)
    for k in range(0, len(answer), 8):
        text.take(answer[k : k + 8].ljust(8, b"\0"), 1.0)
    assert text.answer(1.1) == ""  # more may come
    assert firmware_of(text.answer(1.5)) == (firmware if "S-V" not in before else firmware_of(text.answer(1.5)))


@pytest.mark.parametrize("text", ["S-V1.6-1x", "1.6-3", "S-V1.6", "s-v1.6-3", "S-V1.6-3 "])
def test_a_firmware_that_a_person_writes_is_understood_or_refused(text):
    with pytest.raises(RobotError, match=r"is no firmware such as S-V1\.6-3"):
        PIPER.links_of(text)


def changed_links(row: int, column: int, by: float) -> Robot:
    table = TABLE.copy()
    table[row, column] += by
    return replace(PIPER, links=Chain.of_table(table))


def test_a_flange_elsewhere_than_by_our_links_is_told_with_the_likely_cause(bus_path):
    with running_emulator(bus_path, changed_links(5, 2, 0.05)), connected(bus_path) as arm:
        (told,) = arm.warnings
    assert "50 mm away: is a tool length set in the arm, or are the links those of another arm?" in told


@pytest.mark.parametrize(
    ("links", "cause"),
    [
        (load_robot("piper_l").links, "it fits the kinematics of robots/piper_l.yaml"),
        (changed_links(1, 3, 0.2).links, "is a tool length set in the arm"),
        (changed_links(5, 2, 0.015).links, ""),
    ],
)
def test_the_cause_of_a_flange_elsewhere(links, cause):
    raised = np.radians([10.0, 90.0, -60.0, 0.0, 20.0, 5.0])
    reported = type(KINEMATICS)(links).flange(raised)[:3, 3]
    told = misplaced(reported, raised, "S-V1.8-5", PIPER)
    assert (cause in told) if cause else told == ""


def test_a_flange_by_the_zero_pose_of_another_firmware_is_told():
    raised = np.radians([10.0, 150.0, -20.0, 0.0, 20.0, 5.0])
    told = misplaced(OLDER.flange(raised)[:3, 3], raised, "S-V1.8-5", PIPER)
    assert "10 mm away: it fits the zero pose of an older firmware than 'S-V1.8-5'" in told
    assert misplaced(None, raised, "S-V1.8-5", PIPER) == ""
