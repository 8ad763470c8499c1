"""The graph around a Piper and what goes wrong with it: the arm holds, tells why, moves on at a person's word."""

import getpass
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from emulated_piper import PATIENCE_S
from stack import PIPER, Stack

from kc_vla.arm.piper_limits import REST

SAW = re.compile(
    r"the emulated arm saw: (?P<commands>\d+) joint commands, (?P<outside>\d+) out of limits, largest step "
    r"(?P<step>[\d.]+) degrees, .* (?P<raised>\d+) times disabled while raised\.(?P<powered>.*)"
)
SPEED, PERIOD = 1.0, 0.005
"""max_speed and control_rate of launch/params/piper.yaml."""
ROUNDING = 0.002
"""degrees, twice a unit of the wire."""


def ros2(*words: str) -> str:
    """What a person is told who runs `ros2 ...`."""
    done = subprocess.run(["ros2", *words], capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


def call(service: str) -> str:
    return ros2("service", "call", service, "std_srvs/srv/Trigger", "{}")


def ask_for(fault: str) -> None:
    assert "successful" in ros2("param", "set", "/piper_emulator", "fault", fault)


def angles() -> np.ndarray:
    """Where the joints are, rad; asked for until they are told."""
    until = time.monotonic() + 3 * PATIENCE_S
    while True:
        told = ros2("topic", "echo", "--once", "/joint_states")
        if found := re.search(r"position:\n((?:- .*\n){7})", told):
            return np.array([float(line[2:]) for line in found[1].splitlines()])[:6]
        assert time.monotonic() < until, told


def is_moving() -> bool:
    """Whether the arm is seen on its way just now."""
    return bool(np.abs(angles() - angles()).max() > 0.02)


def stands() -> bool:
    return not (is_moving() or is_moving())


def wait_until_it_moves(stack: Stack) -> None:
    """The script rests in no pose for long."""
    until = time.monotonic() + 3 * PATIENCE_S
    while not is_moving():
        assert time.monotonic() < until, f"the arm does not move:\n{stack.text[-6000:]}"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A Piper that moves, parked with Ctrl-C after all tests; whatever they did, it never had cause to jump or fall."""
    folder = tmp_path_factory.mktemp("piper")
    with Stack(folder / "runs", {}, launch_file=PIPER, environment={"ROS_HOME": str(folder)}) as stack:
        stack.wait_for("NO ARM: there is no CAN interface 'can0', so an EMULATED Piper moves")
        stack.wait_for("keyframe 0 'start' committed")
        wait_until_it_moves(stack)
        yield stack
        stack.press_ctrl_c()
        assert stack.finish() == 0
        # one of five commands was lost for a while: the arm sees the step over those that did not come
        check_what_the_arm_saw(stack, steps_at_once=5)


def check_what_the_arm_saw(stack: Stack, steps_at_once: int = 1) -> None:
    """Nothing that a real arm would have answered with a jump or a fall; it lies without power."""
    saw = SAW.search(stack.text)
    assert saw, stack.text
    assert int(saw["commands"]) > 1000
    assert int(saw["outside"]) == 0
    assert float(saw["step"]) <= steps_at_once * np.degrees(SPEED * PERIOD) + ROUNDING
    assert int(saw["raised"]) == 0
    assert saw["powered"] == ""


def test_without_an_arm_it_enables_moves_and_parks(tmp_path: Path) -> None:
    with Stack(tmp_path / "runs", {"duration": 8.0}, launch_file=PIPER, environment={"ROS_HOME": str(tmp_path)}) as run:
        run.wait_for("episode counting-.* ended after 8")
        assert run.finish() == 0
        check_what_the_arm_saw(run)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("bus_off 2", "nothing has come from the arm"),
        ("silence", "nothing has come from the arm"),
        ("collision 2", "collision"),
        ("hot 3", "joint 3: motor overheating"),
        ("teach", "teach button|teaching"),
    ],
)
def test_a_fault_of_the_arm_blocks_it_until_a_person_resumes(stack: Stack, fault: str, words: str) -> None:
    begun = stack.position
    ask_for(fault)
    stack.wait_for(f"the arm is blocked until arm/resume is called: .*({words})", begun)
    if fault.startswith("bus_off"):
        stack.wait_for("the arm answers again", begun)
    ask_for("none")
    there = angles()
    time.sleep(1.0)
    assert np.abs(angles() - there).max() < 0.005
    assert "the arm moves again" in call("/arm/resume")
    wait_until_it_moves(stack)


def test_an_arm_that_is_not_well_is_not_resumed(stack: Stack) -> None:
    begun = stack.position
    ask_for("collision 4")
    stack.wait_for("the arm is blocked until arm/resume is called", begun)
    assert "not enabled: collision" in call("/arm/resume")
    ask_for("none")
    assert "the arm moves again" in call("/arm/resume")


def test_a_fifth_of_all_frames_lost_does_not_stop_it(stack: Stack) -> None:
    begun = stack.position
    ask_for("loss 0.2")
    wait_until_it_moves(stack)
    ask_for("none")
    assert stack.find("the arm is blocked", begun) is None


def test_a_policy_that_stalls_is_not_waited_for_with_old_targets(stack: Stack) -> None:
    begun = stack.position
    stack.pause("policy_server")
    try:
        stack.wait_for("the arm holds: the chunk is used up", begun)
        assert stands()
    finally:
        stack.resume("policy_server")
    stack.wait_for("the arm moves again", begun)
    wait_until_it_moves(stack)


def test_an_emergency_stop_holds_until_it_is_released(stack: Stack) -> None:
    begun = stack.position
    assert "stopped" in call("/arm/e_stop")
    stack.wait_for("the arm holds: emergency stop", begun)
    assert stands()
    assert "released" in call("/arm/release_e_stop")
    wait_until_it_moves(stack)


def test_a_second_controller_is_refused(stack: Stack) -> None:
    begun = stack.position
    channel = f"{tempfile.gettempdir()}/kc_vla_piper-{getpass.getuser()}-{os.environ.get('ROS_DOMAIN_ID', '0')}"
    parameters = {"arm": "piper", "mode": "realtime", "channel": channel, "bus": "kc_vla_socket"}
    words = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    told = ros2("run", "kc_vla", "arm_controller", "--ros-args", "-r", "__node:=second", *words)
    assert "another controller has the arm" in told
    assert stack.find("the arm is blocked", begun) is None
    wait_until_it_moves(stack)


@pytest.mark.parametrize("part", ["node", "control process"])
def test_a_controller_that_was_killed_finds_the_arm_with_power_and_waits_for_a_person(stack: Stack, part: str) -> None:
    begun = stack.position
    node = stack.pid("arm_controller")
    children = Path(f"/proc/{node}/task/{node}/children").read_text().split()
    os.kill(node if part == "node" else int(children[0]), signal.SIGKILL)
    stack.wait_for("the arm was found with power", begun)
    there = angles()
    time.sleep(1.0)
    assert np.abs(angles() - there).max() < 0.005
    assert np.abs(there - REST).max() > 0.1  # it has not fallen
    assert "the arm moves again" in call("/arm/resume")
    wait_until_it_moves(stack)
