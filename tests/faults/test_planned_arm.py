"""What goes wrong while a planner has an arm moved: the arm holds, a line says what happened, and the next works."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

import numpy as np
import pytest
from node_process import running
from rclpy.action import ActionClient
from std_msgs.msg import Bool
from workplace import Workplace

from kc_vla.core import topics
from kc_vla_msgs.action import ExecuteInstruction
from kc_vla_msgs.srv import MemoryStatistics

FRAME = "panda_link0"
_PATIENCE_S = 150.0
PLANNER = {"memory": "both", "memory_nodes": True, "memory_clock": "day", "frame": FRAME, "map_id": "kitchen"}
FETCH, OPEN = "pick up the apple", "open the drawer"


class PlannedWorkplace(Workplace):
    """The arm at its place, with a planner, skills and memories in processes of their own."""

    def __init__(self, folder: Path) -> None:
        """Prepare; `folder` is for logs and the store."""
        self._folder, self._planners = folder, 0
        self._nodes, self._planner_node = ExitStack(), ExitStack()

    def __enter__(self) -> PlannedWorkplace:
        """Start all of it."""
        super().__enter__()
        memories = {"robot": "panda_sim"}
        store = str(self._folder / "memory.db")
        for name, given in (("short_term_memory", {}), ("long_term_memory", {"store": store, "map_id": "kitchen"})):
            self._start(self._nodes, name, **memories, **given)
        self._start(self._nodes, "skill_server")
        self.instructions = ActionClient(self.node, ExecuteInstruction, topics.EXECUTE_INSTRUCTION)
        self.start_planner()
        return self

    def __exit__(self, *error: Any) -> None:
        """End it."""
        self.instructions.destroy()
        self._planner_node.close()
        self._nodes.close()
        super().__exit__(*error)

    def _start(self, opened: ExitStack, name: str, **parameters: object) -> Popen[bytes]:
        log = self._folder / f"{name}.log"
        return opened.enter_context(running(f"kc_vla.nodes.{name}", log, **parameters))

    def until(self, done: Callable[[], Any]) -> Any:
        """Serve callbacks until `done()` is true; several processes need longer than one node, on a busy machine."""
        end_s = time.monotonic() + _PATIENCE_S
        while not (found := done()):
            assert time.monotonic() < end_s, f"waited in vain: {self.log('planner')[-2000:]}"
            self._executor.spin_once(timeout_sec=0.02)
        return found

    def start_planner(self) -> None:
        """Start the planner, or start it again."""
        self._planner_node.close()
        self.planner_process = self._start(self._planner_node, "planner", **PLANNER)

    def log(self, name: str) -> str:
        """Return what a node has said."""
        return (self._folder / f"{name}.log").read_text()

    def instruct(self, text: str) -> Any:
        """Give an instruction as soon as the planner accepts one; return the future of its result."""
        goal = ExecuteInstruction.Goal(instruction=text)
        while not (accepted := self._answer(goal)):
            self.until(lambda: self.work() or True)
        return accepted.get_result_async()

    def _answer(self, goal: ExecuteInstruction.Goal) -> Any:
        """Return the accepted goal; None where it is refused, or went to a planner that has just been killed."""
        self.until(lambda: self.work() or self.instructions.server_is_ready())
        sent, until_s = self.instructions.send_goal_async(goal), time.monotonic() + 10.0
        self.until(lambda: self.work() or sent.done() or time.monotonic() > until_s)
        return sent.result() if sent.done() and sent.result().accepted else None

    def result_of(self, asked: Any) -> ExecuteInstruction.Result:
        """Work on until an instruction is over."""
        self.until(lambda: self.work() or asked.done())
        return asked.result().result

    def carry_out(self, text: str) -> ExecuteInstruction.Result:
        """Have an instruction carried out."""
        return self.result_of(self.instruct(text))

    def until_it_moves(self) -> None:
        """Work on until the arm is under way."""
        at = self.kitchen.joints.copy()
        self.until(lambda: self.work() or np.abs(self.kitchen.joints - at).max() > 0.1)

    def stands_still(self) -> bool:
        """Return whether the arm holds, over a second of its time."""
        at, index = self.kitchen.joints.copy(), self.kitchen.index
        self.until(lambda: self.work() or self.kitchen.index > index + 20)
        return bool(np.abs(self.kitchen.joints - at).max() < 0.02)


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlannedWorkplace]:
    with PlannedWorkplace(tmp_path_factory.mktemp("planned")) as place:
        yield place


@contextmanager
def in_the_middle(place: PlannedWorkplace, episode: str) -> Iterator[Any]:
    """Begin an episode, and an instruction; yield its result once the arm is under way."""
    place.begin(episode)
    asked = place.instruct(FETCH)
    place.until_it_moves()
    yield asked


def test_a_planner_that_is_killed_leaves_an_arm_that_holds_and_the_next_one_remembers(
    workplace: PlannedWorkplace,
) -> None:
    with in_the_middle(workplace, "killed"):
        workplace.planner_process.kill()
        # until the middleware misses it, the skill goes on; no other one begins
        ended = r"PickupObject\(apple_1\): (done|the client that asked for it is gone: the arm holds)"
        workplace.until(lambda: workplace.work() or re.search(ended, workplace.log("skill_server")))
        assert workplace.stands_still()
    held = workplace.call(MemoryStatistics, topics.MEMORY_STATISTICS, MemoryStatistics.Request()).held
    assert {"apple_1", "drawer_1"} <= {each.object_id for each in held.units}
    workplace.start_planner()
    result = workplace.carry_out(OPEN)
    assert (result.success, result.reason) == (True, "")
    assert workplace.kitchen.opening > 0.1


@pytest.mark.nightly
def test_an_emergency_stop_ends_the_instruction_and_the_one_after_the_release_is_done(
    workplace: PlannedWorkplace,
) -> None:
    with in_the_middle(workplace, "stopped") as asked:
        workplace.stopped.publish(Bool(data=True))
        result = workplace.result_of(asked)
        assert not result.success
        assert "the emergency stop was set: the arm holds" in result.reason
        assert workplace.stands_still()
        workplace.stopped.publish(Bool(data=False))
        assert workplace.stands_still()  # nothing goes on by itself
    assert workplace.carry_out(FETCH).success
    assert workplace.kitchen.in_hand == "apple_1"


@pytest.mark.nightly
def test_perception_that_ends_ends_the_instruction(workplace: PlannedWorkplace) -> None:
    with in_the_middle(workplace, "blind") as asked:
        workplace.sees = False
        result = workplace.result_of(asked)
        assert not result.success
        assert "perception has reported nothing for 4 s" in result.reason
        assert workplace.stands_still()
        workplace.sees = True
    assert workplace.carry_out(FETCH).success
    assert workplace.kitchen.in_hand == "apple_1"


@pytest.mark.nightly
def test_an_arm_controller_that_is_gone_ends_the_instruction(workplace: PlannedWorkplace) -> None:
    with in_the_middle(workplace, "mute") as asked:
        workplace.sends = False
        result = workplace.result_of(asked)
        assert not result.success
        assert "arm_controller has not asked for set-points for" in result.reason
        workplace.sends = True
        assert workplace.stands_still()
    assert workplace.carry_out(FETCH).success
    assert workplace.kitchen.in_hand == "apple_1"


@pytest.mark.nightly
def test_a_thing_that_a_person_moves_is_taken_where_it_is_then(workplace: PlannedWorkplace) -> None:
    with in_the_middle(workplace, "moved") as asked:
        workplace.kitchen.move("apple_1", (0.45, -0.25, 0.038))
        result = workplace.result_of(asked)
    assert (result.success, result.reason) == (True, "")
    assert workplace.kitchen.in_hand == "apple_1"
