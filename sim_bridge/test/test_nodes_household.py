"""The nodes of the household, each a process of its own: instructions by action, stopped, replaced, and killed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import kc_vla_sim_entry
import psutil
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from node_process import running
from person import Person
from rclpy.qos import qos_profile_action_status_default

from kc_vla.core import topics
from kc_vla.launching.parameter_file import SIMULATED
from kc_vla.ros import qos
from kc_vla.ros.base import CANNOT_START
from kc_vla_msgs.msg import ObjectDetections
from kc_vla_msgs.srv import LookAround
from kc_vla_sim.household.growth import home_sequence

_SOAK = 1000
_MOST_GROWN = 16 * 1024 * 1024
"""Bytes from the 600th to the 1,000th instruction."""
HOUSEHOLD, PLANNER = "kc_vla_sim.nodes.household", "kc_vla.nodes.planner"


def test_a_parameter_file_may_name_each_node_of_the_simulators() -> None:
    assert {name for name, each in vars(kc_vla_sim_entry).items() if isinstance(each, partial)} == SIMULATED


@pytest.fixture
def person() -> Iterator[Person]:
    with Person() as somebody:
        yield somebody


def test_a_skill_is_done_told_refused_and_stopped(person: Person, tmp_path: Path) -> None:
    with running(HOUSEHOLD, tmp_path / "log", scene="'1'", pace=10.0):
        seen = person.hear(ObjectDetections, topics.DETECTIONS, qos.STATE)
        around = person.call(LookAround, topics.LOOK_AROUND, LookAround.Request())
        assert around.at in {area.id for area in around.areas}

        def dance() -> None:
            wrong = person.result(person.do("Dance", "Apple_1")).result
            assert "no skill" in wrong.reason

        # Nobody keeps detections for a reader whom it does not know yet.
        person.until(lambda: dance() or seen)
        goal = person.do("Explore", around.areas[-1].id)
        assert not person.do("Explore", around.at).accepted  # it has one body
        done = person.result(goal).result
        assert done.done
        assert done.walked > 0
        there = {each.detection.object_id for each in done.seen}
        person.until(lambda: {each.object_id for each in seen[-1].detections} == there)
        person.until(lambda: person.home["robot"] == around.areas[-1].id)
        away = person.do("GoToPlace", around.at)
        away.cancel_goal_async()
        stopped = person.result(away)
        assert stopped.status == GoalStatus.STATUS_CANCELED
        assert stopped.result.reason == "it was stopped"
        assert person.home["robot"] == around.areas[-1].id


@pytest.mark.nightly
def test_an_instruction_is_stopped_and_another_takes_its_place(person: Person, tmp_path: Path) -> None:
    store = {"store": str(tmp_path / "memory.db")}
    with running(HOUSEHOLD, tmp_path / "home", scene="'1'", pace=4.0), running(PLANNER, tmp_path / "log", **store):
        goal = person.say("wash an apple")
        person.until(lambda: person.heard("explore", "apple"))
        goal.cancel_goal_async()
        stopped = person.result(goal)
        assert stopped.status == GoalStatus.STATUS_CANCELED
        assert "a person said stop" in stopped.result.reason
        first = person.say("put a potato into the fridge")
        person.until(lambda: person.heard("plan", "fridge"))
        second = person.say("go to the sink")
        replaced = person.result(first)
        assert not replaced.result.success
        assert "another instruction came" in replaced.result.reason
        done = person.result(second)
        assert done.status == GoalStatus.STATUS_SUCCEEDED
        assert done.result.planner == "grammar"
        assert done.result.skills > 0


@pytest.mark.nightly
def test_a_skill_ends_when_the_planner_is_killed_and_the_next_planner_goes_on(person: Person, tmp_path: Path) -> None:
    store = {"store": str(tmp_path / "memory.db")}
    with running(HOUSEHOLD, tmp_path / "home", scene="'1'", pace=20.0):
        with running(PLANNER, tmp_path / "log", **store) as planner:
            person.say("pick up an apple")
            person.until(lambda: person.heard("skill", "Explore"))
            planner.kill()
            planner.wait()
        with running(PLANNER, tmp_path / "log", **store):
            done = person.result(person.say("go to the sink"))
            assert done.result.success, done.result.reason


@pytest.mark.nightly  # the middleware takes its time to tell that somebody is dead
def test_the_skill_of_a_planner_that_is_killed_stops_where_it_is(person: Person, tmp_path: Path) -> None:
    with running(HOUSEHOLD, tmp_path / "home", scene="'1'", pace=0.05):  # a skill takes minutes
        around = person.call(LookAround, topics.LOOK_AROUND, LookAround.Request())
        with running(PLANNER, tmp_path / "log", store=str(tmp_path / "memory.db")) as planner:
            told = person.hear(GoalStatusArray, f"{topics.DO_SKILL}/_action/status", qos_profile_action_status_default)
            person.say("pick up an apple")
            person.until(
                lambda: told and any(each.status == GoalStatus.STATUS_EXECUTING for each in told[-1].status_list)
            )
            planner.kill()
            planner.wait()
        person.until(lambda: "its client has ended" in (tmp_path / "home").read_text())
        assert person.home["robot"] == around.at  # as if it had not begun, but for the time
        assert person.do("Explore", around.at).accepted


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_a_thousand_instructions_leave_no_skill_running_and_memory_flat(person: Person, tmp_path: Path) -> None:
    asked = home_sequence(1, 50)
    store = {"store": str(tmp_path / "memory.db"), "map_id": "home"}
    with (
        running(HOUSEHOLD, tmp_path / "home", scene="home1", pace=0.0) as home,
        running(PLANNER, tmp_path / "log", **store) as planner,
    ):
        sizes = []
        for number in range(_SOAK):
            goal = person.say(asked.tasks[number % len(asked.tasks)].instruction)
            if number % 10 == 7:  # somebody changes his mind
                goal.cancel_goal_async()
            result = person.result(goal).result
            assert result.success or result.reason, number
            del person.steps[:]
            if number % (_SOAK // 10) == _SOAK // 10 - 1:
                sizes.append([psutil.Process(each.pid).memory_info().rss for each in (home, planner)])
        again = person.do("Explore", person.home["robot"])
        assert again.accepted  # nothing is being done any more
        assert person.result(again).result.done
    half = len(sizes) // 2
    for before, after in zip(sizes[half], sizes[-1], strict=True):
        assert after < before + _MOST_GROWN, sizes


@pytest.mark.nightly
def test_a_home_that_there_is_not_and_a_store_in_use_are_told_in_a_line(person: Person, tmp_path: Path) -> None:
    with running(HOUSEHOLD, tmp_path / "home", scene="castle") as home:
        assert home.wait() == CANNOT_START
    assert "there is no scene 'castle'" in (tmp_path / "home").read_text()
    store = {"store": str(tmp_path / "memory.db"), "startup_timeout": 60.0}
    with running(PLANNER, tmp_path / "one", **store):
        person.until(lambda: (tmp_path / "memory.db").exists())
        with running(PLANNER, tmp_path / "other", **store) as other:
            assert other.wait() == CANNOT_START
    assert "memory.db" in (tmp_path / "other").read_text()
