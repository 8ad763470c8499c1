"""The graph around a Piper and what goes wrong with it: the arm holds, tells why, moves on at a person's word."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
import yaml
from nightly import at_night
from node_process import Peer
from robot import SAW, Robot, check_what_the_arm_saw, second_controller
from stack import PIPER, Stack

from kc_vla_msgs.srv import ResetArm
from tests.support.piper import REST

PARAMETERS = Path(__file__).parents[2] / "launch" / "params" / "piper.yaml"


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Robot]:
    """A Piper that moves, parked with Ctrl-C after all tests; whatever they did, it never had cause to jump or fall."""
    folder = tmp_path_factory.mktemp("piper")
    with Peer() as peer, Robot(folder, {}, peer) as robot:
        robot.wait_for("NO ARM: there is no CAN interface 'can0', so an EMULATED Piper moves")
        robot.wait_for("keyframe 0 'start' confirmed")
        robot.wait_until_it_moves()
        yield robot
        robot.press_ctrl_c()
        assert robot.finish() == 0
        # One of five commands was lost for a while: the arm sees the step over those that did not come, and among some
        # thousand commands five in a row are no wonder.
        check_what_the_arm_saw(robot, steps_at_once=10)


@pytest.fixture
def robot(launched: Robot) -> Iterator[Robot]:
    """The same, well again after each test, also after one that has failed."""
    yield launched
    launched.ask_for("none")
    launched.call("/arm/release_e_stop")
    launched.call("/arm/resume")


def run_for_eight_seconds(folder: Path, arguments: Mapping[str, object]) -> None:
    with Stack(
        folder / "runs", {"duration": 8.0, **arguments}, launch_file=PIPER, environment={"ROS_HOME": str(folder)}
    ) as run:
        run.wait_for("episode counting-.* ended after 8")
        assert run.finish() == 0
        check_what_the_arm_saw(run)


@pytest.mark.nightly
def test_a_policy_that_asks_for_too_much_and_too_soon_gets_what_the_arm_can_do(tmp_path: Path) -> None:
    poses = [
        {"joints": [sign * angle for angle in (300, 200, -300, 200, -200, 300)], "gripper": 0.5, "seconds": 0.1}
        for sign in (1, -1)
    ]
    script = tmp_path / "script.yaml"
    script.write_text(yaml.safe_dump(poses))
    run_for_eight_seconds(tmp_path, {"script": script})


def test_an_arm_that_was_stopped_is_not_parked_nor_resumed_nor_given_power_by_the_next_start(tmp_path: Path) -> None:
    parameters = yaml.safe_load(PARAMETERS.read_text())
    parameters["piper_emulator"] = {"ros__parameters": {"stay": 2.0}}  # nobody will park it
    file = tmp_path / "params.yaml"
    file.write_text(yaml.safe_dump(parameters))
    with Peer() as peer, Robot(tmp_path, {"params": file}, peer) as robot:
        robot.wait_for("keyframe 0 'start' confirmed")
        robot.wait_until_it_moves()
        assert "stopped" in robot.call("/arm/e_stop")
        assert robot.stands()
        assert "not resumed: the emergency stop is set" in robot.call("/arm/resume")
        robot.press_ctrl_c()
        assert robot.finish() == 0
    assert "not parked: the emergency stop is set. The arm keeps its power" in robot.text.splitlines()[-1]
    saw = SAW.search(robot.text)
    assert saw
    assert (int(saw["raised"]), saw["powered"]) == (0, " It still had power.")
    with Peer() as peer, Robot(tmp_path, {"params": file, "output": tmp_path / "elsewhere"}, peer) as robot:
        robot.wait_for("the arm has no power: the emergency stop is set")
        assert "released" in robot.call("/arm/release_e_stop")
        assert "the arm moves again" in robot.call("/arm/resume")
        robot.press_ctrl_c()
        assert robot.finish() == 0


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("bus_off 2", "nothing has come from the arm .* the bus is off after too many errors"),
        ("collision 2", "collision"),
        *at_night(
            ("unplugged 2", "nothing has come from the arm .* put the adapter back"),
            ("silence", "nothing has come from the arm"),
            ("hot 3", "joint 3: motor overheating"),
            ("unpowered 5", "joint 5 has no power"),
        ),
    ],
)
def test_a_fault_of_the_arm_blocks_it_until_a_person_resumes(robot: Robot, fault: str, words: str) -> None:
    begun = robot.position
    robot.ask_for(fault)
    robot.wait_for(f"the arm is blocked until arm/resume is called: .*({words})", begun)
    if fault.startswith(("bus_off", "unplugged")):
        robot.wait_for("the arm answers again", begun)
    robot.ask_for("none")
    assert robot.stands(limp=5 if fault.startswith("unpowered") else None)
    assert "the arm moves again" in robot.call("/arm/resume")
    robot.wait_until_it_moves()


def test_an_arm_that_is_not_well_is_not_resumed(robot: Robot) -> None:
    begun = robot.position
    robot.ask_for("collision 4")
    robot.wait_for("the arm is blocked until arm/resume is called", begun)
    assert "not enabled: collision" in robot.call("/arm/resume")
    robot.ask_for("none")
    assert "the arm moves again" in robot.call("/arm/resume")


def test_a_fifth_of_all_frames_lost_does_not_stop_it(robot: Robot) -> None:
    begun = robot.position
    robot.ask_for("loss 0.2")
    robot.wait_until_it_moves()
    robot.ask_for("none")
    assert robot.find("the arm is blocked", begun) is None


def test_a_policy_that_stalls_is_not_waited_for_with_old_targets(robot: Robot) -> None:
    begun = robot.position
    robot.pause("policy_server")
    try:
        robot.wait_for("the arm holds: the chunk is used up", begun)
        assert robot.stands()
    finally:
        robot.resume("policy_server")
    robot.wait_for("the arm moves again", begun)
    robot.wait_until_it_moves()


def test_an_emergency_stop_holds_until_it_is_released(robot: Robot) -> None:
    begun = robot.position
    assert "stopped" in robot.call("/arm/e_stop")
    robot.wait_for("the arm holds: emergency stop", begun)
    assert robot.stands()
    assert "released" in robot.call("/arm/release_e_stop")
    robot.wait_until_it_moves()


@pytest.mark.nightly
def test_a_second_controller_is_refused(robot: Robot) -> None:
    begun = robot.position
    told = subprocess.run(second_controller(), capture_output=True, text=True, check=False, timeout=60)
    assert "another controller has the arm" in told.stderr
    assert robot.find("the arm is blocked", begun) is None
    robot.wait_until_it_moves()


def test_a_camera_that_stalls_leaves_nothing_to_do(robot: Robot) -> None:
    begun = robot.position
    robot.pause("camera")
    try:
        robot.wait_for("the arm holds: the chunk is used up", begun)
        robot.wait_for("no full observation of frame .* are all cameras", begun)
        assert robot.stands()
    finally:
        robot.resume("camera")
    robot.wait_for("the arm moves again", begun)
    robot.wait_until_it_moves()


@pytest.mark.parametrize("part", [*at_night("node"), "control process"])
def test_a_controller_that_was_killed_finds_the_arm_with_power_and_waits_for_a_person(robot: Robot, part: str) -> None:
    begun = robot.position
    node = robot.pid("arm_controller")
    children = Path(f"/proc/{node}/task/{node}/children").read_text().split()
    os.kill(node if part == "node" else int(children[0]), signal.SIGKILL)
    robot.wait_for("the arm was found with power", begun)
    assert robot.stands()
    assert np.abs(robot.angles() - REST).max() > 0.1  # it has not fallen
    assert "the controller before did not end in order" in robot.call("/arm/resume")
    assert "released" in robot.call("/arm/release_e_stop")
    assert "the arm moves again" in robot.call("/arm/resume")
    robot.wait_until_it_moves()


@pytest.mark.parametrize("fault", ["own_stop", *at_night("teach")])
def test_a_stop_of_the_arms_own_is_left_by_a_reset_of_a_supported_arm(robot: Robot, fault: str) -> None:
    begun = robot.position
    robot.ask_for("supported")
    robot.ask_for(fault)
    robot.wait_for("the arm is blocked until arm/reset, then arm/resume are called: the arm", begun)
    if fault == "teach":
        robot.ask_for("none")
        robot.ask_for("supported")
    assert "arm/reset first" in robot.call("/arm/resume")
    refused = robot.peer.call(ResetArm, "/arm/reset", ResetArm.Request())
    assert not refused.success
    assert "the arm FALLS from where it is" in refused.message
    done = robot.peer.call(ResetArm, "/arm/reset", ResetArm.Request(supported=True))
    assert done.success, done.message
    assert "the arm moves again" in robot.call("/arm/resume")
    robot.wait_until_it_moves()
