"""Plans by grammar of instructions that tell a thing by others, and where the words belong."""

from __future__ import annotations

import pytest

from kc_vla.memory.references.names import same
from kc_vla.memory.references.reference import read, read_related
from kc_vla.memory.references.spatial import Spatial
from kc_vla.memory.references.spatial_phrases import without_relation
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.in_hand import fit
from kc_vla.planning.interface import PlanningError, Request
from kc_vla.planning.scope import check_scope
from kc_vla.planning.skills import Call

PLANS = (
    # which thing is meant
    ("bring me the thing left of the mug", "PickupObject(thing left of mug)"),
    ("take the apple nearest to the sink", "PickupObject(apple nearest to sink)"),
    ("get the nearest apple to the sink", "PickupObject(apple nearest to sink)"),
    ("bring me the nearest mug", "PickupObject(nearest mug)"),
    ("bring me the mug closest to the sink", "PickupObject(mug nearest to sink)"),
    ("pick up the cup between the plate and the toaster", "PickupObject(cup between plate and toaster)"),
    ("get the tomato that is next to the spoon", "PickupObject(tomato next to spoon)"),
    ("fetch the one lying behind the red mug", "PickupObject(thing behind red mug)"),
    ("take the book next to the lamp on the desk", "PickupObject(book next to lamp on desk)"),
    ("bring me the thing right of the egg seen from the door", "PickupObject(thing right of egg seen from door)"),
    ("open the drawer left of the fridge", "OpenObject(drawer left of fridge)"),
    ("turn on the lamp next to the sofa", "SwitchOn(lamp next to sofa)"),
    ("grab a cup next to the plate", "PickupObject(a cup next to plate)"),
    ("bring me something next to the plate", "PickupObject(something next to plate)"),
    ("bring me whatever is left of the mug", "PickupObject(whatever left of mug)"),
    ("bring me the mug on the table next to the plate", "GoToObject(table); PickupObject(mug next to plate)"),
    ("take the mug from the shelf next to the fridge", "GoToObject(shelf next to fridge); PickupObject(mug)"),
    # which thing, and where it goes
    ("put the thing left of the egg into the sink",
     "PickupObject(thing left of egg); PutObject(thing left of egg, sink)"),
    ("bring the cup next to the plate to the table",
     "PickupObject(cup next to plate); PutObject(cup next to plate, table)"),
    ("put the book that is next to the lamp on the bed",
     "PickupObject(book next to lamp); PutObject(book next to lamp, bed)"),
    ("put the apple nearest to the sink on the plate",
     "PickupObject(apple nearest to sink); PutObject(apple nearest to sink, plate)"),
    # where it goes
    ("put the book next to the lamp on the bed", "PickupObject(book); PutObject(book, bed next to lamp)"),
    ("put the book next to the lamp", "PickupObject(book); PutObject(book, place next to lamp)"),
    ("put the book next to the thing left of the lamp",
     "PickupObject(book); PutObject(book, place next to thing left of lamp)"),
)  # fmt: skip


@pytest.mark.parametrize(("instruction", "calls"), PLANS)
def test_words_for_a_relation_belong_to_the_thing_or_to_the_place(instruction: str, calls: str) -> None:
    plan = GrammarPlanner().plan(Request(instruction))
    assert "; ".join(map(str, plan.calls)) == calls
    assert not [note for note in plan.notes if "left out" in note]


def on(object_id: str, container: str) -> ObservedThing:
    kind = object_id.partition("_")[0]
    return ObservedThing(kind, object_id, (0.0, 0.0, 1.0), (0.1, 0.1, 0.1), "", {}, "on", container, "a", True)


@pytest.mark.parametrize(
    ("known", "calls"),
    [
        ((), ["PickupObject(mug)", "PutObject(mug, shelf next to plate)"]),
        ((on("Plate_1", "Shelf_1"),), ["PickupObject(mug)", "PutObject(mug, shelf next to plate)"]),
        ((on("Plate_1", "Table_1"),), ["PickupObject(mug next to plate)", "PutObject(mug next to plate, shelf)"]),
        ((on("Plate_1", "Table_1"), on("Plate_2", "Shelf_1")),
         ["PickupObject(mug)", "PutObject(mug, shelf next to plate)"]),
    ],
)  # fmt: skip
def test_what_is_known_decides_whether_a_relation_is_of_the_thing_or_of_the_place(
    known: tuple[ObservedThing, ...], calls: list[str]
) -> None:
    request = Request("put the mug next to the plate on the shelf", known=known)
    assert list(map(str, GrammarPlanner().plan(request).calls)) == calls


@pytest.mark.parametrize(
    ("instruction", "told"),
    [
        ("bring me two mugs left of the lamp", "name one at a time"),
        ("bring me every mug next to the lamp", "name one at a time"),
        ("wash the mug next to the plate and the fork", "name one place"),
        ("bring me the bigger mug next to the plate", "'bigger'"),
    ],
)
def test_several_things_of_one_relation_are_refused(instruction: str, told: str) -> None:
    with pytest.raises(PlanningError, match=told):
        GrammarPlanner().plan(Request(instruction))


def test_a_reference_has_the_thing_apart_from_how_it_stands_to_others() -> None:
    reference = read_related("red mug left of lamp seen from door")
    assert reference.relation is not None
    assert (reference.words, reference.relation.relation) == (("red", "mug"), Spatial.LEFT_OF)
    assert (reference.relation.others, reference.relation.viewpoint) == (("lamp",), "door")
    assert reference.key != read("red mug").key
    assert reference.bare == read("red mug")
    assert read_related("mug on the table").relation is None
    assert read_related("something to drink from").relation is None


def test_a_thing_that_is_told_by_others_can_be_one_named_without_them() -> None:
    assert without_relation("counter next to sink") == "counter"
    assert same("mug", "mug left of lamp")
    assert not same("lamp", "mug left of lamp")
    assert not same("mug left of lamp", "mug right of lamp")


def test_what_is_held_stands_beside_nothing() -> None:
    held = ObservedThing("Mug", "Mug_1", (0.0, 0.0, 1.0), (0.1, 0.1, 0.1), "", {}, "held", "", "a", True)
    assert fit("mug", held)
    assert not fit("mug next to plate", held)
    plan = GrammarPlanner().plan(Request("bring me the mug next to the plate", in_hand=held))
    assert [call.skill for call in plan.calls] == ["PutObject", "PickupObject"]


def test_a_model_may_tell_by_others_only_what_the_instruction_names() -> None:
    request = Request("bring me the thing left of the mug")
    assert not check_scope([Call("PickupObject", ("thing left of mug",))], request)
    with pytest.raises(PlanningError, match="vase left of mug is neither named"):
        check_scope([Call("PickupObject", ("vase left of mug",))], Request("bring me the mug"))
