"""Relations in what people say, taken apart into the thing, its relation, the others and the viewpoint."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.memory.references.spatial import Spatial
from kc_vla.memory.references.spatial_phrases import SpatialPhrase, read_relation

LEFT, RIGHT, FRONT, BEHIND = Spatial.LEFT_OF, Spatial.RIGHT_OF, Spatial.IN_FRONT_OF, Spatial.BEHIND
NEXT, ON, IN, UNDER, ABOVE = Spatial.NEXT_TO, Spatial.ON, Spatial.IN, Spatial.UNDER, Spatial.ABOVE
NEAR, FAR, BETWEEN = Spatial.NEAREST, Spatial.FARTHEST, Spatial.BETWEEN

PHRASES = [
    ("the thing left of the blue mug", "the thing", LEFT, ["blue mug"], ""),
    ("the thing to the left of the blue mug", "the thing", LEFT, ["blue mug"], ""),
    ("the cup on the left side of the plate", "the cup", LEFT, ["plate"], ""),
    ("the cup on the left-hand side of the plate", "the cup", LEFT, ["plate"], ""),
    ("what is left of the blue mug?", "what", LEFT, ["blue mug"], ""),
    ("what's to the right of the sink", "what", RIGHT, ["sink"], ""),
    ("the plate that is to the right of the fork", "the plate", RIGHT, ["fork"], ""),
    ("the plate right of the fork, seen from the door", "the plate", RIGHT, ["fork"], "door"),
    ("the plate right of the fork from the door", "the plate", RIGHT, ["fork"], "door"),
    ("seen from the door, the plate right of the fork", "the plate", RIGHT, ["fork"], "door"),
    ("the chair in front of the desk as seen from the sofa", "the chair", FRONT, ["desk"], "sofa"),
    ("the chair in front of the desk viewed from the sofa", "the chair", FRONT, ["desk"], "sofa"),
    ("the chair in front of the desk from the viewpoint of the sofa", "the chair", FRONT, ["desk"], "sofa"),
    ("the box behind the door when standing at the window", "the box", BEHIND, ["door"], "window"),
    ("the box behind the sofa from where you stand", "the box", BEHIND, ["sofa"], "robot"),
    ("the box at the back of the shelf", "the box", BEHIND, ["shelf"], ""),
    ("a mug next to the coffee machine", "a mug", NEXT, ["coffee machine"], ""),
    ("a mug right next to the coffee machine", "a mug", NEXT, ["coffee machine"], ""),
    ("the red mug beside the kettle", "the red mug", NEXT, ["kettle"], ""),
    ("the pan near the stove", "the pan", NEXT, ["stove"], ""),
    ("the pan close to the stove", "the pan", NEXT, ["stove"], ""),
    ("the lamp by the bed", "the lamp", NEXT, ["bed"], ""),
    ("something adjacent to the tv", "something", NEXT, ["tv"], ""),
    ("the apple on the table", "the apple", ON, ["table"], ""),
    ("the book on top of the shelf", "the book", ON, ["shelf"], ""),
    ("what is on the plate?", "what", ON, ["plate"], ""),
    ("the egg in the fridge", "the egg", IN, ["fridge"], ""),
    ("the egg inside the fridge", "the egg", IN, ["fridge"], ""),
    ("whatever lies inside of the drawer", "whatever", IN, ["drawer"], ""),
    ("the shoes under the bed", "the shoes", UNDER, ["bed"], ""),
    ("the shoes underneath my bed", "the shoes", UNDER, ["bed"], ""),
    ("the drawer below the sink", "the drawer", UNDER, ["sink"], ""),
    ("the cabinet above the stove", "the cabinet", ABOVE, ["stove"], ""),
    ("the cabinet over the stove", "the cabinet", ABOVE, ["stove"], ""),
    ("mug nearest to the door", "mug", NEAR, ["door"], ""),
    ("the mug that is closest to the door", "the mug", NEAR, ["door"], ""),
    ("the nearest mug to the door", "mug", NEAR, ["door"], ""),
    ("the nearest mug", "mug", NEAR, [], ""),
    ("closest clean cup", "clean cup", NEAR, [], ""),
    ("the cup closest to me", "the cup", NEAR, [], "robot"),
    ("the thing nearest the blue mug", "the thing", NEAR, ["blue mug"], ""),
    ("the chair farthest from the window", "the chair", FAR, ["window"], ""),
    ("the chair furthest away from the window", "the chair", FAR, ["window"], ""),
    ("the farthest chair from the window", "chair", FAR, ["window"], ""),
    ("the cup between the sink and the fridge", "the cup", BETWEEN, ["sink", "fridge"], ""),
    ("what stands in between the sofa and the tv", "what", BETWEEN, ["sofa", "tv"], ""),
    ("the table between the two chairs", "the table", BETWEEN, ["chairs"], ""),
    ("the mug on the table left of the lamp", "the mug on the table", LEFT, ["lamp"], ""),
    ("the cup left of the plate on the table", "the cup", LEFT, ["plate on the table"], ""),
    ("the clean mug on the left", "the clean mug", LEFT, [], ""),
    ("the mug on your right", "the mug", RIGHT, [], "robot"),
    ("the cup on the lamp's left", "the cup", LEFT, ["lamp"], ""),
    ("the lamp that is on", "the lamp that is on", None, [], ""),
    ("something to drink from", "something to drink from", None, [], ""),
    ("a clean plate, not the one on the table", "a clean plate, not the one on the table", None, [], ""),
    ("the left shoe", "the left shoe", None, [], ""),
    ("purple elephant", "purple elephant", None, [], ""),
    ("the mug seen from the door", "the mug", None, [], "door"),
    ("bread cut in slices", "bread cut in slices", None, [], ""),
    ("Mug_2", "Mug_2", None, [], ""),
    ("what did somebody leave in the sink", "what", IN, ["sink"], ""),
    ("a chair as far as possible from the window", "a chair", FAR, ["window"], ""),
    ("hand over the sandwich", "hand over the sandwich", None, [], ""),
    ("something to sit on in summer", "something to sit on in summer", None, [], ""),
    ("the cup that you put on the table", "the cup that you put on the table", None, [], ""),
    ("what can I find in the sink?", "what", IN, ["sink"], ""),
]


@pytest.mark.parametrize(("text", "thing", "relation", "others", "viewpoint"), PHRASES)
def test_a_phrase_is_taken_apart(
    text: str, thing: str, relation: Spatial | None, others: list[str], viewpoint: str
) -> None:
    assert read_relation(text) == SpatialPhrase(thing, relation, tuple(others), viewpoint)


@given(st.text(max_size=100))
def test_whatever_is_said_is_taken_apart(text: str) -> None:
    found = read_relation(text)
    assert found.relation is not None or not found.others
