"""Instructions carried out by an emulated Piper: cameras, perception, planner, skills, CAN bus, with what goes wrong.

The nodes, the vendor's SDK and the bus are the real ones. The images are drawn, and tests/support/piper_table.py says
what a hand does to a thing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box_scene import on_table
from nightly import at_night
from piper_table import PiperTable
from rclpy.action import ActionClient
from robot import Robot, check_what_the_arm_saw
from seen_desk import BOXES
from stack import PIPER, Stack

from kc_vla.core import topics
from kc_vla_msgs.action import ExecuteInstruction

APPLE = on_table("apple", 0.3, 0.1, (0.045, 0.045, 0.05))
_ASK_AGAIN_S = 15.0
INSTRUCTION = "put the apple onto the tray"


def table_with_an_apple() -> PiperTable:
    return PiperTable(driver="/drawn/", movable={"apple": APPLE})


def arguments(folder: Path, table: PiperTable, **more: object) -> dict[str, object]:
    return {
        "arm": "emulated",
        "planner": "true",
        "cameras": table.cameras_file(folder),
        "detector": "vision_msgs",
        "detector_options": f"{{boxes: [{BOXES}]}}",
        "memory_store": folder / "memory.db",
        **more,
    }


@pytest.mark.parametrize("instruction", ["pick up the apple", *at_night(INSTRUCTION)])
def test_an_emulated_piper_does_what_it_is_asked(tmp_path: Path, instruction: str) -> None:
    table = table_with_an_apple()
    given = arguments(tmp_path, table, instruction=instruction)
    with table, Stack(tmp_path, given, launch_file=PIPER, environment={"ROS_HOME": str(tmp_path)}) as stack:
        table.until(lambda: not stack.is_running)
        assert stack.finish() == 0, stack.tail()
        assert table.is_in_tray("apple") == (instruction == INSTRUCTION)
        assert table.highest > 0.1
        assert stack.find(f"'{instruction}': done")
        check_what_the_arm_saw(stack)


class TableRobot(Robot):
    """A Piper at its table that is given instructions, one after the other."""

    def __init__(self, folder: Path, table: PiperTable) -> None:
        super().__init__(folder, arguments(folder, table), table)
        self.table = table
        self._planner = ActionClient(table.node, ExecuteInstruction, topics.EXECUTE_INSTRUCTION)

    def instruct(self, instruction: str = INSTRUCTION) -> Any:
        """Give an instruction, and return the future of its result; a planner that was killed answers nothing."""
        table = self.table
        while True:
            table.until(self._planner.server_is_ready)
            sent = self._planner.send_goal_async(ExecuteInstruction.Goal(instruction=instruction))
            given_up = time.monotonic() + _ASK_AGAIN_S
            table.until(lambda: sent.done() or time.monotonic() > given_up)  # noqa: B023
            if sent.done() and sent.result().accepted:
                return sent.result().get_result_async()

    def result(self, asked: Any) -> ExecuteInstruction.Result:
        """Wait for the end of an instruction."""
        self.table.until(asked.done)
        return asked.result().result

    def hear(self, pattern: str, since: int = 0) -> Any:
        """Wait for a line, while the world goes on."""
        return self.table.until(lambda: self.find(pattern, since))

    def holds_still(self) -> None:
        """Check that the arm comes to rest, and stays there for a while."""

        def angles() -> np.ndarray:
            self.states.clear()
            self.table.until(lambda: len(self.states) > 5)
            return np.array(self.states[-1].position)[:6]

        last = angles()
        for _ in range(60):
            before, last = last, angles()
            if np.abs(last - before).max() < 0.002:
                break
        rested = last
        for _ in range(5):
            assert np.abs(angles() - rested).max() < 0.01


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TableRobot]:
    folder, table = tmp_path_factory.mktemp("piper_skills"), table_with_an_apple()
    with table, TableRobot(folder, table) as robot:
        robot.hear("the arm has power")
        yield robot
        robot.press_ctrl_c()
        table.until(lambda: not robot.is_running)
        assert robot.finish() == 0
        check_what_the_arm_saw(robot, steps_at_once=10)


@pytest.fixture
def robot(launched: TableRobot) -> TableRobot:
    """The same, with the apple on the table again and nothing in the hand."""
    table = launched.table
    table.slippery, table.silent, table.each_look = False, False, lambda: None
    table.drop()
    table.movable["apple"] = APPLE
    table.highest = 0.0
    return launched


def when_it_is_carried(table: PiperTable) -> bool:
    return bool(table.held) and table.tool[2] > 0.09


@pytest.mark.nightly
def test_an_emergency_stop_in_the_middle_holds_and_after_it_the_work_goes_on(robot: TableRobot) -> None:
    table, asked = robot.table, robot.instruct()
    table.until(lambda: when_it_is_carried(table))
    assert "stopped" in robot.call("/arm/e_stop")
    robot.holds_still()
    stopped = robot.result(asked)
    assert not stopped.success
    assert "emergency stop" in stopped.reason
    assert table.held == "apple"
    assert "released" in robot.call("/arm/release_e_stop")
    robot.holds_still()  # nothing is done that nobody asks for
    again = robot.result(robot.instruct())
    assert again.success, again.reason
    assert table.is_in_tray("apple")


@pytest.mark.nightly
def test_what_falls_out_of_the_hand_is_picked_up_again(robot: TableRobot) -> None:
    table, asked = robot.table, robot.instruct()
    table.until(lambda: when_it_is_carried(table))
    table.drop()
    result = robot.result(asked)
    assert result.success, result.reason
    assert table.is_in_tray("apple")


@pytest.mark.nightly
def test_a_thing_that_somebody_moves_is_found_where_it_is_then(robot: TableRobot) -> None:
    table, begun, asked = robot.table, robot.position, robot.instruct()
    table.until(lambda: 0.05 < table.tool[2] < 0.12 and abs(table.tool[0] - 0.3) < 0.03)
    table.movable["apple"] = on_table("apple", 0.26, 0.0, APPLE.size)
    result = robot.result(asked)
    assert result.success, result.reason
    assert robot.find("PickupObject.*: done, grasps that missed before: [12]", begun)
    assert table.is_in_tray("apple")


@pytest.mark.nightly
def test_without_a_planner_the_arm_holds_and_the_next_one_goes_on(robot: TableRobot) -> None:
    table, begun = robot.table, robot.position
    robot.instruct()
    table.until(lambda: when_it_is_carried(table))
    robot.kill("planner")
    # The middleware notices a killed process after up to 20 s. The skill may be done by then, and no other follows.
    robot.hear(
        "the client that asked for it is gone: the arm holds|skill_server.*(PickupObject|PutObject).*: done", begun
    )
    robot.holds_still()
    result = robot.result(robot.instruct())
    assert result.success, result.reason
    assert table.is_in_tray("apple")


@pytest.mark.nightly
def test_without_perception_a_skill_ends_or_waits_and_the_work_is_done_when_it_is_back(robot: TableRobot) -> None:
    table, asked = robot.table, robot.instruct()
    table.until(lambda: when_it_is_carried(table))
    robot.kill("perception")
    result = robot.result(asked)
    if not result.success:
        assert "perception has reported nothing" in result.reason or "not seen" in result.reason
        result = robot.result(robot.instruct())
    assert result.success, result.reason
    assert table.is_in_tray("apple")


@pytest.mark.nightly
def test_a_skill_server_that_was_killed_leaves_the_arm_where_it_is(robot: TableRobot) -> None:
    table, begun, asked = robot.table, robot.position, robot.instruct()
    table.until(lambda: when_it_is_carried(table))
    robot.kill("skill_server")
    robot.hear("the arm holds: the chunk is used up", begun)
    robot.holds_still()
    assert table.held == "apple"
    result = robot.result(asked)
    assert robot.find("the robot's node is gone: it has said nothing of the skill for 10 s", begun)
    if result.success:
        assert table.is_in_tray("apple")
    else:  # the new one does not know what is in the hand
        assert "hand" in result.reason
