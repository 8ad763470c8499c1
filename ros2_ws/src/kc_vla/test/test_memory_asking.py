"""Answers from what is remembered: what they rest on, what is merely likely, and "I do not know"."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from openai_server import OpenAiServer

from kc_vla.cli import main
from kc_vla.memory.asking.answer import MemoryAnswer
from kc_vla.memory.asking.answering import Asker, Reader, read_by_grammar
from kc_vla.memory.asking.model import ModelReader
from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Area, Floor
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.references.naming import Namer
from kc_vla.memory.served import Server, ServerSettings
from kc_vla.memory.things import KnownThing

AREAS = {
    "a0": Area("a0", "ground", (0.0, 0.0, 0.0), {"a1": 3.0}, "kitchen"),
    "a1": Area("a1", "ground", (3.0, 0.0, 0.0), {"a0": 3.0}, "bedroom"),
    "a2": Area("a2", "upper", (0.0, 0.0, 3.0), {}, "attic"),
}


def thing(name: str, x: float, area: str = "a0", **more: object) -> KnownThing:
    kind = name.rpartition("_")[0]
    colour = more.pop("colour", "")
    attributes = {"colour": colour} if colour else {}
    given = {"seen_s": 100.0, "attributes": attributes, **more}
    return KnownThing(kind, name, (x, 1.0, 0.8), area, **given)  # type: ignore[arg-type]


SAID = """where is what which how many the a mug in on of table dirty not last did you wash left nearest and it
something to drink from kitchen upstairs was there any"""
THINGS = (
    thing("Table_1", 0.0, movable=False),
    thing("Fridge_1", 1.0, movable=False, state="closed"),
    thing("Cabinet_1", 2.0, movable=False, state="closed"),
    thing("Mug_1", 0.1, container="Table_1", relation="on", colour="red", state="dirty"),
    thing("Mug_2", 1.0, container="Fridge_1", relation="in", colour="blue", state="cleaned", handled=90.0,
          effects={"cleaned": 80.0, "in Fridge_1": 90.0}),
    thing("Apple_1", 0.3, container="Table_1", relation="on", colour="red"),
    thing("ButterKnife_1", 3.2, "a1", container="Desk_1", relation="on", confidence=0.5),
    thing("Desk_1", 3.0, "a1", movable=False),
)  # fmt: skip


class Remembered:
    """A memory with these things."""

    namer = Namer(shared_embedder())

    def __init__(self, things: Sequence[KnownThing], looked: dict[str, float] | None = None) -> None:
        self._things, self.looked = things, looked or {}

    def things(self) -> Sequence[KnownThing]:
        return self._things


def ask(
    text: str, things: Sequence[KnownThing] = THINGS, at: str = "a0", reader: Reader = read_by_grammar, **looked: float
) -> MemoryAnswer:
    return Asker(Remembered(things, looked), lambda: HomeSurroundings(AREAS, at, 160.0), reader).ask(text)


def ids(answer: MemoryAnswer) -> list[str]:
    return [each.object_id for each in answer.found]


def test_where_a_thing_is_names_its_place_and_what_that_rests_on() -> None:
    answer = ask("where is the blue mug?")
    assert answer.known
    assert answer.text == "The blue mug (Mug_2) is in the fridge (Fridge_1) in the kitchen (seen 1 minute ago)."
    (rests,) = answer.found
    assert (rests.object_id, rests.container, rests.area, rests.seen_s) == ("Mug_2", "Fridge_1", "a0", 100.0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what is on the table?", ["Apple_1", "Mug_1"]),
        ("which mug is dirty?", ["Mug_1"]),
        ("which cup was washed?", []),
        ("which mug was washed?", ["Mug_2"]),
        ("what did I use last?", ["Mug_2"]),
        ("what did you put in the fridge?", ["Mug_2"]),
        ("nearest mug", ["Mug_1"]),
        ("what red things are there?", ["Apple_1", "Mug_1"]),
        ("is there something to eat?", ["Apple_1"]),
        ("where could I find a knife?", ["ButterKnife_1"]),
        ("is there anything sharp?", ["ButterKnife_1"]),
    ],
)
def test_what_is_asked_for_is_found(text: str, found: list[str]) -> None:
    answer = ask(text)
    assert sorted(ids(answer)) == found
    assert answer.known == bool(found)


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("is the red mug dirty?", True),
        ("is the blue mug dirty?", False),
        ("are all mugs dirty?", False),
        ("is there a mug in the fridge?", True),
        ("is the apple in the fridge?", False),
        ("did you wash a mug?", True),
        ("is the fridge closed?", True),
        ("is the apple sliced?", False),
        ("is the apple dirty?", None),
        ("is there a mug in the bedroom?", None),
        ("is there a mug upstairs?", None),
    ],
)
def test_yes_no_and_i_do_not_know(text: str, yes: bool | None) -> None:
    answer = ask(text)
    assert answer.yes is yes
    assert answer.known == (yes is not None)


def test_a_place_is_empty_only_where_somebody_looked() -> None:
    unseen = ask("what is in the cabinet?")
    assert not unseen.known
    assert "not looked into" in unseen.text
    looked = ask("what is in the cabinet?", Cabinet_1=150.0)
    assert (looked.known, looked.count) == (True, 0)
    assert looked.confidence < 0.8


def test_what_is_unknown_may_be_guessed_and_is_told_to_be_a_guess() -> None:
    answer = ask("where could I find a plate?", (*THINGS, thing("DiningTable_1", 1.5, movable=False)))
    assert (answer.known, answer.guess) == (False, True)
    assert "guess" in answer.text.lower()
    assert answer.confidence <= 0.3
    assert ids(answer) == ["DiningTable_1"]


def test_a_word_that_nothing_says_of_a_thing_lowers_the_confidence() -> None:
    assert ask("where is the wooden mug?").confidence <= 0.5
    assert not ask("where is the purple elephant?").known
    assert not ask("is there a washing machine?", (*THINGS, thing("CoffeeMachine_1", 1.0))).known


def test_left_and_right_are_seen_from_where_the_robot_stands() -> None:
    row = (thing("Pan_1", 1.0), thing("Pot_1", 1.5), thing("Plate_1", 0.5))
    left, right = ask("what is left of the pan?", row), ask("what is right of the pan?", row)
    assert (ids(left), ids(right)) == (["Plate_1"], ["Pot_1"])


def test_when_is_a_time_that_the_memory_has() -> None:
    assert ask("when did you wash the mug?").when_s == 80.0
    assert ask("when did you last see an apple?").when_s == 100.0
    assert not ask("when did you slice the apple?").known


@tried(40, 2000)
@given(
    st.text(max_size=120) | st.lists(st.sampled_from(SAID.split()), max_size=12).map(" ".join),
)
def test_any_text_gets_an_answer_and_an_empty_memory_knows_nothing(text: str) -> None:
    empty = ask(text, ())
    assert not (empty.known and empty.confidence > 0.8)
    assert "\n" not in empty.text
    whole = ask(text)
    assert 0.0 <= whole.confidence <= 1.0
    assert whole.text


def form(**said: object) -> str:
    empty = {"answerable": True, "asked": "where", "thing": "", "states": [], "not_states": [], "preposition": ""}
    more = {"place": "", "action": "", "order": "", "about": "", "colour": "", "negated": False, "every": False}
    return json.dumps({**empty, **more, "guess": False, **said})


@pytest.mark.parametrize(
    ("says", "known", "note"),
    [
        (form(thing="the blue mug"), True, ""),
        (form(answerable=False), False, ""),
        (form(asked="when"), True, "read by the grammar"),
        ("where? no idea", True, "read by the grammar"),
        ('{"asked": "where"}', True, "read by the grammar"),
    ],
)
def test_a_language_model_reads_a_question_and_the_grammar_where_it_cannot(says: str, known: bool, note: str) -> None:
    with OpenAiServer(says=lambda messages: says) as server:
        reader = ModelReader(Server(ServerSettings("m", server.url, 60.0, 0)))
        answer = ask("where is the blue mug?", reader=reader)
    assert answer.known == known
    assert ids(answer) == (["Mug_2"] if known else [])
    assert note in " ".join(answer.notes)


def test_a_stored_memory_is_asked_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        memory = LongTermMemory(store)
        memory.take(SceneGraph("home", [Floor("ground", 0.0), AREAS["a0"], AREAS["a1"]]))
        seen = [
            Detection("DiningTable", (0.0, 1.0, 0.4), (1.0, 1.0, 0.8), movable=False, source_id="DiningTable_1"),
            Detection("Mug", (0.0, 1.0, 0.85), (0.1, 0.1, 0.1), attributes={"colour": "red"}, source_id="Mug_1"),
        ]
        memory.observe("home", seen, 10**9)
    assert main(["memory", "ask", str(path), "where is the mug?"]) == 0
    told = capsys.readouterr().out
    assert "The red mug (Mug_1) is on the dining table (DiningTable_1) in the kitchen" in told
    assert "  Mug_1, on the dining table" in told
    assert main(["memory", "ask", str(path), "where is the unicorn?", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["known"] is False
    assert main(["memory", "ask", str(path), "where is the mug?", "--at", "nowhere"]) == 1
    assert "a0" in capsys.readouterr().err
