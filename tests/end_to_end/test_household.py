"""The household as a user starts it: an instruction is planned, carried out, remembered, stopped."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from openai_server import OpenAiServer
from stack import HOUSEHOLD, Stack

from kc_vla.bags.reader import BagReader
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store

WASH = "wash an apple, then bring it to the counter"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Callable[..., Stack]]:
    """Start a home, and end it with the test."""
    living: list[Stack] = []

    def start(instruction: str, **arguments: object) -> Stack:
        given = {"scene": "1", "pace": 0.0, "page": "none", **arguments}
        given |= {"instruction": instruction} if instruction else {}
        living.append(Stack(tmp_path, given, launch_file=HOUSEHOLD))
        return living[-1]

    yield start
    for stack in living:
        if stack in Stack.living:
            stack.__exit__(None, None, None)


def test_an_instruction_is_carried_out_and_what_was_seen_outlives_it(
    home: Callable[..., Stack], tmp_path: Path
) -> None:
    first = home(WASH)
    assert first.finish() == 0
    assert first.find("plan +by grammar: PickupObject")
    assert first.find("SwitchOn.*: done")
    assert first.find(f"'{WASH}': done")
    assert first.find("'apple': nothing is remembered")
    assert int(first.wait_for(r"(\d+) explored")[1]) > 0
    with Store(tmp_path / "memory.db", read_only=True) as store:
        apples = [each for each in LongTermMemory(store).objects("1-0") if each.object_type == "Apple"]
    assert any(each.state == "cleaned" for each in apples)
    second = home(WASH)  # the same home again: the apple is where it was at first, and the rest where it stands
    assert second.finish() == 0
    assert not second.find("'sink': nothing is remembered")
    assert second.find(f"'{WASH}': done")


@pytest.mark.nightly  # it looks everywhere
def test_what_cannot_be_understood_or_found_ends_with_a_reason(home: Callable[..., Stack]) -> None:
    odd = home("frobnicate the zorkmid")
    assert odd.finish() == 1
    assert odd.find("not done: .*(frobnicate|zorkmid)")
    nowhere = home("bring me the spaceship")
    assert nowhere.finish() == 1
    assert nowhere.find("not done: .*spaceship.*places")


@pytest.mark.nightly  # test_planning_model.py asks such a server in the suite
def test_a_language_model_plans_and_the_grammar_where_it_cannot(home: Callable[..., Stack]) -> None:
    calls = [{"skill": "PickupObject", "arguments": ["apple"]}]
    with OpenAiServer(lambda messages: json.dumps({"calls": calls, "problem": ""})) as server:
        given = {"llm": "small", "server": server.url}
        asked = home("I would love an apple", **given)
        assert asked.finish() == 0
        assert asked.find("plan +by model: PickupObject\\(apple\\)")
        server.answers += [(500, "out of order")] * 20
        behind = home(WASH, **given)
        assert behind.finish() == 0
    assert behind.find("plan +by grammar")
    assert behind.find("note: planned without the language model")


@pytest.mark.nightly
def test_a_planner_that_is_killed_leaves_no_skill_running_and_a_whole_memory(
    home: Callable[..., Stack], tmp_path: Path
) -> None:
    stack = home(WASH, pace=2.0)
    stack.wait_for("skill +PickupObject.*: done")
    stack.kill("planner")
    assert stack.finish() == 1
    assert stack.find("not done: the planner ended while it carried this out")
    with Store(tmp_path / "memory.db", read_only=True) as store:
        assert any(each.object_type == "Apple" for each in LongTermMemory(store).objects("1-0"))


@pytest.mark.nightly
def test_a_sequence_is_carried_out_shown_live_and_reported(home: Callable[..., Stack], tmp_path: Path) -> None:
    wanted = tmp_path / "wanted.txt"
    wanted.write_text("# two of them\nwash an apple\nI would like the apple in the fridge\n")
    stack = home("", sequence=wanted, page=0, pace=50.0)
    port = int(stack.wait_for(r"live map: open http://localhost:(\d+)")[1])
    stack.wait_for("skill +PickupObject.*: done")
    shown = {}
    while not shown.get("belief", {}).get("things"):  # what is believed is told once in a while
        time.sleep(0.1)
        with urlopen(f"http://localhost:{port}/api/home") as answer:
            shown = json.load(answer)
    assert shown["truth"]["robot"] in shown["truth"]["areas"]
    assert stack.finish() == 0
    [folder] = tmp_path.glob("home-1-0-*")
    first, second = json.loads((folder / "report.json").read_text())
    assert first["remembering"]["explorations"] > 0
    assert second["remembering"]["explorations"] <= second["alone"]["explorations"]
    assert (folder / "way.png").is_file()
    assert "wash an apple" in (folder / "report.md").read_text()
    bag = BagReader(folder / "bag")
    steps = [json.loads(bag.decode(each).data) for each in bag.messages(["/planner/steps"])]
    assert [each["text"] for each in steps if each["kind"] == "begin"] == wanted.read_text().splitlines()[1:]


@pytest.mark.nightly
def test_ctrl_c_stops_the_instruction_in_a_skill(home: Callable[..., Stack]) -> None:
    stack = home(WASH, pace=0.5)
    stack.wait_for("explore")
    stack.press_ctrl_c()
    stack.finish()
    assert not stack.find("'.*': done")
