"""States from images, asked of a server over HTTP: what is sent, what comes back, and what the memory makes of it."""

from __future__ import annotations

import random
import re
import time
from typing import Any

import numpy as np
import pytest
from drawn_states import ALL, SIDE, Drawn, drawing, looks_and_says, scene, seen_in, sent_image
from hypothesis import given
from hypothesis import strategies as st
from nightly import at_night, tried
from openai_server import OpenAiServer

from kc_vla.media.images import file_pixels
from kc_vla.memory.images.crop import PixelBox
from kc_vla.memory.images.store import CropLimits, CropStore
from kc_vla.memory.served import ServerError, ServerSettings
from kc_vla.memory.short_term.memory import ShortTermMemory, UnitEvent
from kc_vla.memory.short_term.state_reader import StateQuestion, StateReader
from kc_vla.memory.short_term.unit import ObjectState, Position, Unit, UnitError, state_of

TASK = "wash the mug and put it in the cupboard"
MARGIN = 10
"""px that a crop has around a drawing on each side."""


def settings(server: OpenAiServer, **more: Any) -> ServerSettings:
    return ServerSettings(**{"model": "sees-well", "base_url": server.url, "timeout_s": 5.0, "retries": 2, **more})


class Robot:
    """A short-term memory with crops, which sees drawings, and a clock that a test sets."""

    def __init__(self, settings: ServerSettings | None = None, **options: Any) -> None:
        self.now = 0.0
        self.memory, self.crops = ShortTermMemory(300), CropStore(None, CropLimits(margin=MARGIN / SIDE))
        self.crops.follow(self.memory)
        self.reader = StateReader(settings, clock=lambda: self.now, **options)

    def see(self, name: str, drawn: Drawn, stamp: float, state: str = "", left: int = 60, top: int = 70) -> Unit:
        """See a thing; the detector says `state` of it."""
        box = PixelBox(left, top, left + SIDE, top + SIDE)
        image = self.crops.put(name, scene(drawn, left, top), box, stamp)
        colour, place = {"colour": drawn.colour}, Position(0, 0, 0)
        unit = Unit(drawn.object_type, name, place, stamp, state_of(state), attributes=colour, image=image)
        return self.memory.observe(unit).unit

    def look(self) -> StateQuestion | None:
        """Ask what is due, and take the answer in."""
        question = self.reader.next(self.memory, self.crops)
        if question is not None:
            self.reader.take_in(self.memory, self.reader.ask(question))
        return question


MUG = Drawn("Mug", "red", "dirty")


@pytest.mark.parametrize("count", [40, *at_night(200)])
def test_of_many_crops_each_is_sent_as_it_is_and_each_state_comes_back(count: int) -> None:
    chance = random.Random(0)
    chosen = {f"thing-{at}": drawn for at, drawn in enumerate(chance.sample(ALL, count))}
    with OpenAiServer(says=looks_and_says(MARGIN)) as server:
        robot = Robot(settings(server), a_minute=6)
        for name, drawn in chosen.items():
            robot.see(name, drawn, 1.0, left=chance.randrange(20, 200), top=chance.randrange(20, 120))
        names = list(chosen)
        for batch in (names[: count // 2], names[count // 2 :]):
            robot.reader.begin(TASK, batch)
            for _ in batch:
                assert robot.look() is not None
                robot.now += 10.0
            assert robot.look() is None  # nothing is new
    for at, (name, drawn) in enumerate(chosen.items()):
        unit, request = robot.memory[name], server.asked[at]
        assert (unit.state.value, unit.state_source) == (drawn.state, "image: sees-well")
        assert (unit.attributes, unit.stamp) == ({"colour": drawn.colour}, 1.0)
        assert (request["model"], request["temperature"], request["max_completion_tokens"]) == ("sees-well", 0, 500)
        assert repr(TASK) in request["messages"][-1]["content"][0]["text"]
        data = sent_image(request)
        assert data == robot.crops.read(unit.image)
        assert len(data) < 20_000
        pixels = file_pixels(data)[MARGIN : MARGIN + SIDE, MARGIN : MARGIN + SIDE]
        assert np.abs(pixels.astype(float) - drawing(drawn)).mean() < 6
        assert seen_in(data, MARGIN) == drawn
    assert len(server.asked) == count
    assert robot.reader.tally == {"asked": count, "read": count}


def test_only_objects_of_interest_are_asked_about() -> None:
    with OpenAiServer(says=looks_and_says(MARGIN)) as server:
        robot = Robot(settings(server))
        robot.see("mug-1", MUG, 1.0)
        robot.see("mug-2", MUG, 1.0)
        assert robot.look() is None
        robot.reader.begin(TASK, ["mug-2", "mug-3"])
        question = robot.look()
        assert question is not None
        assert question.object_id == "mug-2"
        assert robot.look() is None
    assert robot.memory["mug-1"].state is ObjectState.NONE


def test_where_no_server_is_configured_nothing_is_asked_and_nothing_claimed() -> None:
    robot = Robot(None)
    robot.see("mug-1", MUG, 1.0)
    robot.reader.begin(TASK, ["mug-1"])
    assert robot.look() is None
    reading = robot.reader.ask(StateQuestion("mug-1", "Mug", TASK, b"", 1.0))
    assert reading.state is None
    assert "no vision-language model is configured" in reading.problem
    assert robot.reader.take_in(robot.memory, reading) is None
    assert robot.memory["mug-1"].state is ObjectState.NONE
    assert robot.memory["mug-1"].state_source == robot.reader.source == ""
    assert robot.reader.tally == {}


def completion(content: Any, **more: Any) -> tuple[int, Any]:
    message = {"role": "assistant", "content": content, **more}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return 200, {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((200, "{this is no JSON"), "something else than the API says|no text"),
        ((200, {"choices": []}), "no text"),
        ((200, iter([b'{"id": "1", "choi'])), "something else than|broke its answer off|no text"),
        ((500, "oops"), "answered 500"),
        ((401, {"error": {"message": "wrong key"}}), "answered 401: .*wrong key"),
        (completion(None, refusal="I cannot help with that."), "an empty text"),
        (completion("I'm sorry, but I can't look at that."), "gave no state of mug"),
        (completion("RESULT\nmug: melted"), "gave no state of mug"),
        (completion("RESULT\nplate: dirty"), "gave no state of mug"),
        (completion("RESULT\nmug: dirty\nmug: cleaned"), "gave no state of mug"),
        (completion('{"mug": "dirty"}'), "gave no state of mug"),
        (completion("Step 1. A red mug. Step 2. The mug is"), "gave no state of mug"),
    ],
)
def test_an_answer_that_says_no_state_changes_nothing_and_is_reported_in_a_line(
    answer: tuple[int, Any], told: str
) -> None:
    with OpenAiServer() as server:
        server.answers = [answer]
        robot = Robot(settings(server))
        before = robot.see("mug-1", MUG, 1.0)
        robot.reader.begin(TASK, ["mug-1"])
        question = robot.reader.next(robot.memory, robot.crops)
        assert question is not None
        reading = robot.reader.ask(question)
        assert reading.state is None
        assert robot.reader.take_in(robot.memory, reading) is None
    assert "\n" not in reading.problem
    assert len(reading.problem) < 400
    assert re.search(told, reading.problem)
    assert robot.memory["mug-1"] == before
    assert len(server.asked) == 1  # what failed is not repeated beyond the budget
    assert robot.reader.tally == {"asked": 1, "failed": 1}


def test_a_server_that_is_slow_or_away_is_given_up_after_its_time() -> None:
    with OpenAiServer(slow_s=30) as server:
        robot = Robot(settings(server, timeout_s=0.2))
        robot.see("mug-1", MUG, 1.0)
        robot.reader.begin(TASK, ["mug-1"])
        question = robot.reader.next(robot.memory, robot.crops)
        assert question is not None
        began = time.monotonic()
        assert "did not answer within 0.2 s, 1 times" in robot.reader.ask(question).problem
        assert time.monotonic() - began < 15
    away = StateReader(ServerSettings("m", "http://127.0.0.1:9/v1"))
    assert "cannot be reached" in away.ask(question).problem


@pytest.mark.parametrize("said", ["Mug: Dirty.", "- **mug**: `dirty`", "* 'Mug': dirty", "mug:dirty", "_Mug_ : dirty"])
def test_what_a_model_puts_around_its_answer_does_not_matter(said: str) -> None:
    with OpenAiServer(says=lambda messages: f"RESULT mug: on\nRESULT:\n{said}\n") as server:
        robot = Robot(settings(server))
        robot.see("mug-1", MUG, 1.0)
        robot.reader.begin(TASK, ["mug-1"])
        robot.look()
    assert robot.memory["mug-1"].state is ObjectState.DIRTY


@pytest.mark.parametrize("object_type", ["Men's shoe", "Mug: red", "cup-3", "x" * 200])
def test_an_object_of_any_name_is_understood(object_type: str) -> None:
    says = lambda messages: f"RESULT\n{object_type}: dirty"  # noqa: E731
    with OpenAiServer(says=says) as server:
        reading = StateReader(settings(server)).ask(
            StateQuestion("a", object_type, TASK, b"\xff\xd8\xff" + bytes(10), 1.0)
        )
    assert reading.problem == ""
    assert reading.state is ObjectState.DIRTY


def test_a_state_of_the_detector_is_believed_and_costs_no_question() -> None:
    with OpenAiServer(says=looks_and_says(MARGIN)) as server:
        robot = Robot(settings(server), again_s=0.0)
        robot.reader.begin(TASK, ["mug-1"])
        robot.see("mug-1", MUG, 1.0, state="cleaned")
        assert robot.look() is None  # the detector has said it of this very image
        robot.see("mug-1", MUG, 5.0)
        robot.look()
        assert (robot.memory["mug-1"].state.value, robot.memory["mug-1"].state_source) == ("dirty", "image: sees-well")
        robot.see("mug-1", MUG, 6.0, state="heated")
        assert (robot.memory["mug-1"].state.value, robot.memory["mug-1"].state_source) == ("heated", "")


def test_an_answer_that_comes_late_gives_way_to_what_was_seen_meanwhile() -> None:
    with OpenAiServer(says=looks_and_says(MARGIN)) as server:
        robot = Robot(settings(server))
        robot.see("mug-1", MUG, 1.0)
        robot.see("mug-2", MUG, 1.0)
        robot.reader.begin(TASK, ["mug-1", "mug-2"])
        questions = [robot.reader.next(robot.memory, robot.crops) for _ in range(2)]
        readings = [robot.reader.ask(each) for each in questions if each is not None]
    robot.see("mug-1", MUG, 2.0, state="cleaned")
    robot.memory.refute("mug-2")
    late = robot.reader.take_in(robot.memory, readings[0])
    assert late is not None
    assert late.happened is UnitEvent.REFUSED
    assert late.unit.state is ObjectState.CLEANED
    assert "its state was seen 1 s after the image was taken" in late.reason
    assert robot.reader.take_in(robot.memory, readings[1]) is None
    assert "mug-2" not in robot.memory


def test_a_model_that_sees_no_state_leaves_the_one_that_is_known() -> None:
    with OpenAiServer(says=lambda messages: "RESULT\nmug: none") as server:
        robot = Robot(settings(server))
        robot.see("mug-1", MUG, 1.0, state="cleaned")
        before = robot.see("mug-1", MUG, 5.0)
        robot.reader.begin(TASK, ["mug-1"])
        question = robot.reader.next(robot.memory, robot.crops)
        assert question is not None
        change = robot.reader.take_in(robot.memory, robot.reader.ask(question))
    assert change is not None
    assert change.happened is UnitEvent.REFUSED
    assert robot.memory["mug-1"] == before


@given(
    steps=st.lists(st.tuples(st.floats(0, 20), st.integers(0, 4)), max_size=80),
    a_minute=st.integers(1, 8),
    again_s=st.floats(0, 30),
)
@tried(25, 1000)
def test_no_minute_has_more_questions_than_its_budget(
    steps: list[tuple[float, int]], a_minute: int, again_s: float
) -> None:
    robot = Robot(ServerSettings("m", "http://127.0.0.1:9/v1"), a_minute=a_minute, again_s=again_s)
    robot.reader.begin(TASK, [f"mug-{each}" for each in range(5)])
    asked: list[tuple[float, str]] = []
    for at, (later, number) in enumerate(steps):
        robot.now += later
        robot.see(f"mug-{number}", MUG, 2.0 * at)
        while question := robot.reader.next(robot.memory, robot.crops):
            asked.append((robot.now, question.object_id))
    for at, (when, name) in enumerate(asked):
        assert sum(when <= other < when + 60 for other, _ in asked[at:]) <= a_minute
        assert all(other >= when + again_s for other, same in asked[at + 1 :] if same == name)


@pytest.mark.parametrize(("a_minute", "again_s"), [(0, 1.0), (1, -1.0), (1, float("nan"))])
def test_a_budget_that_makes_no_sense_is_refused(a_minute: int, again_s: float) -> None:
    with pytest.raises(UnitError, match="give 1 and 0 s or more"):
        StateReader(None, a_minute, again_s)
    with pytest.raises(ServerError, match="without a model"):
        StateReader(ServerSettings(""))


def test_a_detector_without_states_takes_none_away_that_an_image_showed() -> None:
    memory = ShortTermMemory(10)
    for stamp in (1.0, 2.0):
        memory.observe(Unit("Mug", "mug-1", Position(0, 0, 0), stamp), whole=True)
    assert memory.read_state("mug-1", ObjectState.DIRTY, "image: m", 1.5).happened is UnitEvent.MERGED
    memory.observe(Unit("Mug", "mug-1", Position(1, 0, 0), 3.0), whole=True)
    assert (memory["mug-1"].state, memory["mug-1"].state_source) == (ObjectState.DIRTY, "image: m")
    assert memory.read_state("mug-1", ObjectState.CLEANED, "image: m", 2.5).happened is UnitEvent.MERGED
    memory.observe(Unit("Mug", "mug-1", Position(1, 0, 0), 4.0, ObjectState.FILLED), whole=True)
    assert (memory["mug-1"].state, memory["mug-1"].state_source) == (ObjectState.FILLED, "")


def test_what_read_a_state_is_kept_with_it_and_goes_with_it() -> None:
    memory = ShortTermMemory(10)
    seen = Unit("Mug", "mug-1", Position(0, 0, 0), 1.0)
    memory.observe(seen)
    memory.read_state("mug-1", ObjectState.DIRTY, "image: m", 1.0)
    memory.observe(Unit("Mug", "mug-1", Position(1, 0, 0), 2.0, area="kitchen"))
    assert (memory["mug-1"].state, memory["mug-1"].state_source) == (ObjectState.DIRTY, "image: m")
    memory.observe(Unit("Mug", "mug-1", Position(1, 0, 0), 3.0, ObjectState.CLEANED))
    assert (memory["mug-1"].state, memory["mug-1"].state_source) == (ObjectState.CLEANED, "")
    memory.observe(Unit("Mug", "mug-1", Position(1, 0, 0), 4.0, image="a.jpg"), whole=True)
    assert (memory["mug-1"].state, memory["mug-1"].image) == (ObjectState.NONE, "a.jpg")
    memory.observe(Unit("Mug", "mug-1", Position(1, 0, 0), 5.0), whole=True)
    assert memory["mug-1"].image == "a.jpg"
    assert not memory["mug-1"].area
    assert memory.read_state("mug-1", ObjectState.DIRTY, "image: m", 4.5).happened is UnitEvent.REFUSED
    memory.refute("mug-1")
    assert memory.state_seen("mug-1") == float("-inf")
    with pytest.raises(KeyError):
        memory.read_state("mug-1", ObjectState.DIRTY, "image: m", 9.0)
