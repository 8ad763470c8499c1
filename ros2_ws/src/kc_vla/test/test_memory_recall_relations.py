"""Recall of units by what they stand left of, next to or between, from where they are."""

from __future__ import annotations

import pytest

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.recall.recall import Recall
from kc_vla.memory.references.spatial import Viewpoint
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import Position, Unit

NORTH = Viewpoint((0.0, -2.0, 1.0), (0.0, 1.0, 0.0))


@pytest.fixture(scope="module")
def recall() -> Recall:
    """A row of things on a table from left to right: plate, blue mug, cup, fork; a red mug far away."""
    memory = ShortTermMemory(50, "fifo")
    row = (("Plate", -0.4, "white"), ("Mug", 0.0, "blue"), ("Cup", 0.2, "green"), ("Fork", 0.4, "silver"))
    for kind, x, colour in (*row, ("Vase", 3.0, "red")):
        memory.observe(Unit(kind, f"{kind}_1", Position(x, 0.0, 1.0), 1.0, attributes={"colour": colour}))
    memory.observe(Unit("Mug", "Mug_2", Position(3.5, 0.0, 1.0), 1.0, attributes={"colour": "red"}))
    return Recall(memory, shared_embedder())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the thing left of the blue mug", ["Plate_1"]),
        ("the thing right of the blue mug", ["Cup_1", "Fork_1"]),
        ("the fork to the right of the blue mug", ["Fork_1"]),
        ("what is between the blue mug and the fork?", ["Cup_1"]),
        ("the mug nearest to the fork", ["Mug_1", "Mug_2"]),
        ("the cup next to the fork", ["Cup_1"]),
        ("the thing left of the plate", []),
    ],
)
def test_units_are_recalled_by_their_relation(recall: Recall, text: str, wanted: list[str]) -> None:
    found = [each.unit.object_id for each in recall.ask(text, viewpoint=NORTH).found]
    assert found == wanted


def test_where_something_shall_be_brought_is_no_relation_that_it_has(recall: Recall) -> None:
    answer = recall.ask("put the cup next to the vase", viewpoint=NORTH)
    assert answer.found[0].unit.object_id == "Cup_1"
    assert len(answer.found) == 3


def test_without_a_viewpoint_the_nearest_thing_is_taken_and_said_to_be(recall: Recall) -> None:
    answer = recall.ask("the thing left of the blue mug")
    assert "Mug_1" not in [each.unit.object_id for each in answer.found]
    assert answer.confidence <= 0.5
    assert "depends on where one looks from" in answer.notes[-1]


def test_a_text_can_name_its_viewpoint(recall: Recall) -> None:
    answer = recall.ask("the thing in front of the blue mug, seen from the vase")
    assert answer.found[0].unit.object_id == "Cup_1"
    assert answer.confidence > 0.8


def test_a_relation_to_what_nobody_knows_is_not_sure(recall: Recall) -> None:
    assert recall.ask("the thing left of the sofa", viewpoint=NORTH).confidence < 0.3
