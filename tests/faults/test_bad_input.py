"""Arguments that cannot be: one clear line, a quick and clean end, an exit code that says so.

What a node refuses is tested with that node alone: test_nodes_refusals.py, test_nodes_camera.py, test_bridge_node.py.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from finished_run import FinishedRun
from nightly import at_night
from stack import PIPER, Stack

DESK = Path(__file__).parents[2] / "launch" / "desk"


def assert_refused(stack: Stack, line: str) -> None:
    """It ended by itself with exit code 1, said `line` once and in the end, and no traceback."""
    assert stack.finish() == 1
    assert "Traceback" not in stack.text
    said = stack.text.splitlines()
    assert sum(line in x for x in said) <= 2, stack.text
    assert any(line in x for x in said[-2:]), stack.text
    assert sum("process has died" in x for x in said) <= 1, stack.text


def test_a_value_that_cannot_be(launch: Callable[..., Stack]) -> None:
    """In a node that is started again when it ends, but not for this."""
    refused = launch(selector="learned", models="/nowhere")
    assert_refused(refused, "no models in /nowhere: /nowhere/registry.yaml cannot be read")


@pytest.mark.nightly  # the robot that refuses it: sim_bridge/test/test_protocol.py
def test_a_task_that_the_simulator_does_not_play(launch: Callable[..., Stack]) -> None:
    stack = launch(task="spatial")
    assert stack.finish() == 1
    assert "Traceback" not in stack.text
    assert "stopped: the toy robot plays counting alone, not spatial: use the simulator maniskill" in stack.text


def test_a_word_that_is_no_choice(launch: Callable[..., Stack]) -> None:
    assert_refused(launch(mode="sideways"), '"mode" provided value "sideways" is not valid')


def test_a_missing_parameter_file(launch: Callable[..., Stack], tmp_path: Path) -> None:
    assert_refused(launch(params=tmp_path / "none.yaml"), "none.yaml' does not exist")


def test_a_file_that_holds_no_parameters(launch: Callable[..., Stack]) -> None:
    assert_refused(launch(params="/etc/passwd"), "'/etc/passwd' is no parameter file")


def test_an_argument_that_does_not_exist(launch: Callable[..., Stack]) -> None:
    """It may be meant for something else: a warning, with the name that is probably meant, and the launch goes on."""
    stack = launch(sede=3, task="folding")
    stack.wait_for(r"does not declare the launch argument 'sede'; did you mean 'seed'\?")
    assert_refused(stack, "unknown task 'folding': choose one of counting")


@pytest.mark.parametrize(
    ("robot", "arguments", "line"),
    [
        *at_night(
            (None, {}, "cameras.yaml cannot be read"),
            ("third_person: {}", {}, "cameras.yaml must name third_person and wrist"),
            ("third_person: {}\nwrist: {widht: 9}", {}, "there is no parameter 'widht': did you mean 'width'?"),
        ),
        ("third_person: {}\nwrist: {}", {"arm": "piper", "can": "none0"}, "can:=none0: there is no such CAN interface"),
    ],
)
def test_robots_that_cannot_be(tmp_path: Path, robot: str | None, arguments: dict[str, object], line: str) -> None:
    file = tmp_path / "cameras.yaml"
    if robot is not None:
        file.write_text(robot.replace("{}", f"{{source: {DESK / 'wrist.mp4'}}}"))
    given = {"cameras": file, "arm": "emulated", **arguments}
    with Stack(tmp_path / "runs", given, launch_file=PIPER, environment={"ROS_HOME": str(tmp_path)}) as stack:
        assert_refused(stack, line)


@pytest.mark.nightly
def test_replay_of_a_torn_bag_plays_what_is_there(
    launch: Callable[..., Stack], toy_run: FinishedRun, tmp_path: Path
) -> None:
    """The arm stands still where the recording ends: the task fails in its own words, and nothing breaks."""
    (whole,) = toy_run.bag.glob("*.mcap")
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(whole.read_bytes()[: whole.stat().st_size // 3])  # its index is a good part of it
    run = FinishedRun.of(launch(seed=3, policy="replay", bag=torn, report="none"))
    assert run.exit_code == 1
    assert run.episode.result is not None
    assert run.episode.result.reason == "time limit"
    assert "Traceback" not in run.text
