"""The table of arm drivers: a driver of another package moves an arm, and a broken one is told in one line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from piper import PIPER, REST
from plugin import install
from watched_session import Watched

from kc_vla.arm.kinds import ARMS, choose_arm
from kc_vla.arm.leaving import Leaving
from kc_vla.arm.servo_modes import Mode, ServoSettings
from kc_vla.arm.session import ArmSession, Failure
from kc_vla.arm.wiring import Wiring
from kc_vla.core.options import OptionError
from kc_vla.core.robot import DriverChoice, Robot, RobotError, load_robot
from kc_vla.core.share import share
from kc_vla.core.tables import TableError
from kc_vla.machine.finding import Level
from kc_vla.machine.open_tables import look_at_table
from kc_vla.ros.controller_parameters import ControllerParameters

THERE = REST + np.array([0.2, 0.3, -0.2, 0.1, 0.0, 0.1])
DRIVER = """
from dataclasses import dataclass
import numpy as np
from kc_vla.arm.interface import ArmState
from kc_vla.arm.kinds import ArmKind, Timing
from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.options import option

@dataclass(frozen=True)
class Options:
    desk: str = option("on which desk it stands")
    slack: float = option("rad", 0.0, low=0.0, high=1.0)

class Ideal:
    firmware, warnings, shutdown_message, has_brakes = "1.0", (), "the ideal arm sleeps", False
    def __init__(self, robot, options):
        self.limits, self.home_pose, self.kinematics = robot.limits, robot.rest, Kinematics(robot.links)
        self.angles, self.gripper, self.powered = robot.rest.copy(), 0.0, False
    def connect(self): pass
    def check_identity(self): pass
    def may_be_enabled(self): return self.powered
    def enable(self): self.powered = True
    def disable(self): self.powered = False
    def read_state(self):
        if self.gripper > 0.06:
            raise KeyError("a bug of the driver")
        return ArmState(0.0, self.angles.copy(), np.zeros(6), self.gripper, np.full(6, self.powered), True, ())
    def set_target(self, angles, gripper): self.angles, self.gripper = angles.copy(), gripper
    def reset(self): pass
    def close(self): pass
    def reconnect(self): pass
    def diagnostics(self): return {"desk": "left"}

def bad(wiring, options):
    raise KeyError("libvendor")

IDEAL = ArmKind("an ideal arm", Options, lambda wiring, options: Ideal(wiring.robot, options),
                lambda robot, options: f"ideal-{options.desk}", lambda robot, options: Timing(command_rate=50.0))
FAILS = ArmKind("fails", Options, bad, lambda robot, options: "fails")
"""


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ideal_arm.py").write_text(DRIVER)
    rows = {"ideal": "ideal_arm:IDEAL", "fails": "ideal_arm:FAILS", "broken": "no_such_package:ARM"}
    install(tmp_path, monkeypatch, ARMS.group, rows)


class Harness(Watched):
    def __init__(self, driver: str, patience: float = 0.0, robot: Robot = PIPER) -> None:
        super().__init__(60.0)
        wiring = Wiring(driver, robot, {"desk": f"{driver}-desk"}, patience=patience)
        self.session = ArmSession(wiring, ServoSettings(speed=3.0), 100.0, 0, lambda: self.stopped, self.say)


@pytest.fixture
def ideal(others: None) -> Iterator[Harness]:
    harness = Harness("ideal")
    yield harness
    harness.session.hang_up()


def test_an_arm_of_another_package_moves_and_is_parked(ideal: Harness) -> None:
    session = ideal.session
    ideal.until(lambda: session.ready and session.told is not None)

    def is_there() -> bool:
        session.set_target(THERE, 0.02, 0.05)
        assert session.told is not None
        return bool(np.abs(session.told.report.state.angles - THERE).max() < 1e-3)

    ideal.until(is_there)
    leaving = Leaving(session)
    ideal.until(lambda: not leaving.step(hurried=False))
    assert ideal.text.splitlines()[-1] == "the ideal arm sleeps"


def test_one_outside_of_its_limits_gets_no_power_and_is_led_back_by_a_person_alone(others: None) -> None:
    narrow = replace(PIPER.limits, highest=np.where(np.arange(6) == 4, REST[4] - 0.3, PIPER.limits.highest))
    ideal = Harness("ideal", robot=replace(PIPER, limits=narrow))
    session = ideal.session
    ideal.until(lambda: session.ready and session.told is not None and session.blocked)
    assert "joint 5 is at 28.6 degrees, outside of its" in session.blocked
    assert "arm/resume leads it back inside slowly" in session.blocked
    assert not session.has_power
    assert session.begin_to_resume() == ""
    ideal.until(lambda: session.resumed() is not None)
    assert session.resumed() == ""
    assert session.told.report.mode is Mode.HOLD
    assert (session.told.report.state.angles <= narrow.highest).all()
    session.hang_up()


def test_one_controller_at_a_time_has_it(ideal: Harness) -> None:
    ideal.until(lambda: ideal.session.ready)
    second = Harness("ideal")
    second.until(lambda: second.session.failure is Failure.CANNOT_START)
    assert "another controller has the arm on 'ideal-ideal-desk': end it first" in second.text
    second.session.hang_up()
    assert ideal.session.told is None or ideal.session.told.report.mode is Mode.HOLD


def test_a_driver_with_a_bug_ends_its_process_and_the_session_says_so(
    others: None, capfd: pytest.CaptureFixture[str]
) -> None:
    ideal = Harness("ideal")  # here, as what is started in a fixture is not captured
    session = ideal.session
    ideal.until(lambda: session.ready and session.told is not None)

    def is_lost() -> bool:
        session.set_target(REST, 0.065, 0.05)
        return session.failure is Failure.LOST

    ideal.until(is_lost)
    assert ideal.text.splitlines()[-1] == "the arm holds: its own process has ended"
    ideal.until(lambda: session.ended)
    assert "a bug of the driver" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("driver", "words"),
    [
        ("fails", "driver 'fails' fails: KeyError: 'libvendor'"),
        ("broken", "arm driver 'broken' of package 'elsewhere' cannot be loaded from no_such_package:ARM"),
        ("nosuch", "no arm driver 'nosuch': there are piper, ros, broken, fails, ideal"),
    ],
)
def test_a_driver_that_cannot_be_had_is_told_of_in_one_line(others: None, driver: str, words: str) -> None:
    harness = Harness(driver)
    harness.until(lambda: harness.session.failure is Failure.CANNOT_START)
    harness.session.hang_up()
    (said,) = [line for line in harness.text.splitlines() if not line.startswith("waiting for")]
    assert words in said


def test_the_doctor_lists_the_drivers_and_each_that_is_broken(others: None) -> None:
    good, broken = look_at_table("arm drivers")
    assert good.what == "of kc_vla: piper, ros, fails (elsewhere), ideal (elsewhere)"
    assert good.facts["rows"] == {"piper": "kc_vla", "ros": "kc_vla", "fails": "elsewhere", "ideal": "elsewhere"}
    assert (broken.level, "'broken' of package 'elsewhere'" in broken.what) == (Level.WARN, True)


def test_a_robot_file_names_its_driver_with_options(tmp_path: Path, others: None) -> None:
    file = tmp_path / "mine.yaml"
    text = (share("robots") / "piper.yaml").read_text()
    usual = "driver: {type: piper}"
    assert usual in text
    file.write_text(text.replace(usual, "driver: {type: ideal, desk: left}"))
    robot = load_robot(str(file))
    assert robot.driver == DriverChoice("ideal", {"desk": "left"})
    assert choose_arm("ideal", robot).identity == "ideal-left"
    assert choose_arm("ideal", robot, {"desk": "right"}).identity == "ideal-right"
    assert choose_arm("ideal", robot).timing.command_rate == 50.0
    assert choose_arm("piper", robot).identity == "can0"  # what the file says is of another driver
    values = ControllerParameters(arm="ideal", robot=str(file), driver="{desk: right}")
    assert values.chosen_arm().identity == "ideal-right"
    chosen = values.chosen_arm()
    assert values.servo_settings(chosen.robot, chosen.timing).command_every == 4
    with pytest.raises(
        OptionError, match=r"driver 'ideal' of robot '.*': there is no option 'dseck': did you mean 'desk'"
    ):
        choose_arm("ideal", robot, {"dseck": "right"})
    for wrong in ("piper", "{channel: can0}", "{type: 7}"):
        file.write_text(text.replace(usual, f"driver: {wrong}"))
        with pytest.raises(RobotError, match="driver must be a mapping with a type, such as"):
            load_robot(str(file))


def test_a_robot_of_another_driver_is_not_moved_by_a_ros_driver() -> None:
    assert load_robot("piper").driver == DriverChoice("piper")
    assert choose_arm("ros", load_robot("ur5e_ros")).timing.command_rate == 50.0
    words = "driver 'ros' of robot 'piper', whose file has the driver 'piper': option 'kind' is missing"
    with pytest.raises(OptionError, match=words):
        choose_arm("ros", load_robot("piper"))


def test_options_of_a_ros_driver_are_those_of_any_other_row() -> None:
    robot = load_robot("ur5e_ros")
    usual, slow = choose_arm("ros", robot), choose_arm("ros", robot, {"rate": 20, "command": "/other"})
    assert usual.options.interface(robot.joints) == robot.interface
    assert (slow.timing.command_rate, slow.identity) == (20.0, "ros/other")
    assert slow.options.interface(robot.joints).gripper == usual.options.interface(robot.joints).gripper
    with pytest.raises(OptionError, match=r"option 'rate' is 500.0: allowed is 10\.\.200"):
        choose_arm("ros", robot, {"rate": 500})


def test_the_options_of_a_piper_may_be_in_its_file_or_in_the_parameters() -> None:
    robot = replace(PIPER, driver=DriverChoice("piper", {"channel": "can3"}))
    assert choose_arm("piper", robot).identity == "can3"
    assert ControllerParameters(arm="piper", channel="can1").chosen_arm().identity == "can1"
    assert ControllerParameters(arm="piper", channel="can1", driver="{channel: can2}").chosen_arm().identity == "can2"
    with pytest.raises(OptionError, match="write them as"):
        ControllerParameters(arm="piper", driver="can1").chosen_arm()


def test_a_name_that_no_driver_has_is_refused_with_those_that_there_are(others: None) -> None:
    with pytest.raises(TableError, match="no arm driver 'pipr': did you mean 'piper'"):
        choose_arm("pipr", PIPER)
