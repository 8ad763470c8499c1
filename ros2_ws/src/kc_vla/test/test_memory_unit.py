"""Units of the short-term memory: what they say of themselves, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.memory.short_term.unit import ObjectState, Position, Unit, UnitError, spoken, state_of

HERE = Position(1.0, 2.0, 0.5)


@pytest.mark.parametrize(
    ("name", "words"),
    [("ButterKnife", "butter knife"), ("butter_knife", "butter knife"), ("DVD player", "dvd player"), ("mug", "mug")],
)
def test_a_type_is_said_as_people_write_it(name: str, words: str) -> None:
    assert spoken(name) == words


def test_a_unit_says_what_it_is() -> None:
    unit = Unit("WineGlass", "7", HERE, 3.0, ObjectState.USED_UP, "kitchen", {"place": "on the table", "colour": "red"})
    assert unit.sentence() == "red wine glass, used up, on the table, kitchen"


@pytest.mark.parametrize(
    ("text", "state"), [("used_up", ObjectState.USED_UP), (" Opened ", ObjectState.OPENED), ("", ObjectState.NONE)]
)
def test_a_state_is_known_by_its_name(text: str, state: ObjectState) -> None:
    assert state_of(text) is state


def test_another_state_is_told_with_those_that_there_are() -> None:
    with pytest.raises(UnitError, match=r"there is no state 'melted': give one of heated, .*, none"):
        state_of("melted")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"object_type": " "}, "no type or no id"),
        ({"object_id": ""}, "no type or no id"),
        ({"object_id": " "}, "no type or no id"),
        ({"state": "dirty"}, "is 'dirty': give an ObjectState"),
        ({"attributes": {"colour": "\ud800"}}, "half a letter"),
        ({"position": Position(float("nan"), 0, 0)}, "no number"),
        ({"stamp": float("inf")}, "no number"),
        ({"object_type": "x" * 1_000_000}, "more than 200 letters"),
        ({"attributes": {"colour": "x" * 201}}, "more than 200 letters"),
        ({"attributes": {str(each): "" for each in range(17)}}, "more than 16 attributes"),
        ({"image": "x" * 5000}, "more than 200 letters"),
    ],
)
def test_what_is_no_unit_is_refused_in_a_short_line(changes: dict, told: str) -> None:
    with pytest.raises(UnitError, match=told) as caught:
        Unit(**{"object_type": "Mug", "object_id": "m", "position": HERE, "stamp": 0.0, **changes})
    assert len(str(caught.value)) < 300


@given(st.text(min_size=1, max_size=60).filter(str.strip), st.text(min_size=1, max_size=60))
def test_any_text_is_kept_as_it_came_and_shown_in_one_line(name: str, colour: str) -> None:
    unit = Unit(name, "id", HERE, 0.0, attributes={"colour": colour})
    assert unit.object_type == name
    assert unit.sentence().isprintable()
