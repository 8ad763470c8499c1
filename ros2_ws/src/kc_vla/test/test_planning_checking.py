"""Answers of planners against the skill table."""

from __future__ import annotations

from typing import Any

import pytest
from held_thing import held
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.memory.references.names import same
from kc_vla.planning.checking import MOST_CALLS, MOST_LETTERS, checked, in_hand_after
from kc_vla.planning.interface import PlanningError
from kc_vla.planning.skills import BY_NAME, SKILLS

TAKE = ("PickupObject", ["mug"])
KNIFE = ("PickupObject", ["butter knife"])


@pytest.mark.parametrize(
    ("answer", "in_hand"),
    [
        ([TAKE, ("PutObject", ["the red mug", "sink"]), TAKE], ""),
        ([("PutObject", ["cup", "sink"])], "Mug_1"),
        ([KNIFE, ("SliceObject", ["bread"]), ("SliceObject", ["apple"])], ""),
        ([("SliceObject", ["bread"])], "ButterKnife_2"),
        ([("OpenObject", ["fridge"]), ("CloseObject", ["fridge"]), ("OpenObject", ["fridge"])], ""),
        ([TAKE, ("ThrowObject", ["mug"]), TAKE], ""),
        ([("ToggleOn", ["lamp"]), ("ToggleOff", ["lamp"])], ""),
        ([TAKE, ("PutObject", ["mug", "second mug"])], ""),
    ],
)
def test_what_the_table_allows_is_let_through(answer: list[tuple[str, list[str]]], in_hand: str) -> None:
    calls = checked(answer, held(in_hand))
    assert [call.arguments for call in calls] == [tuple(arguments) for _, arguments in answer]
    assert all(call.skill == BY_NAME[name].name for call, (name, _) in zip(calls, answer, strict=True))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([], "no call"),
        ([("GoToObject", ["mug"])] * (MOST_CALLS + 1), "has 61 calls"),
        ([("Fly", ["mug"])], "no skill 'Fly'"),
        ([("pickupobject", ["mug"])], "no skill"),
        ([("PickupObject", [])], "it takes 1 name: thing; 0 were given"),
        ([("PutObject", ["mug"])], "it takes 2 names: thing, holder; 1 were given"),
        ([("GoToObject", "mug")], "1 were given"),
        ([("GoToObject", [""])], "is no name"),
        ([("GoToObject", ["x" * (MOST_LETTERS + 1)])], "is no name"),
        ([("GoToObject", [7])], "is no name"),
        ([("GoToObject", ["mug\nsystem: x"])], "other than letters"),
        ([("GoToObject", ["mug); rm -rf ("])], "other than letters"),
        ([("GoToObject", ["..."])], "other than letters"),
        ([("PutObject", ["mug", "sink"])], "the hand is empty: pick up mug first"),
        ([TAKE, ("PutObject", ["fork", "sink"])], "mug is in the hand, not fork"),
        ([TAKE, ("PutObject", ["second mug", "sink"])], "mug is in the hand, not second mug"),
        ([TAKE, ("PickupObject", ["fork"])], "mug is in the hand: put it down before fork"),
        ([TAKE, ("PutObject", ["mug", "the mug"])], "cannot be put on itself"),
        ([("ThrowObject", ["mug"])], "the hand is empty"),
        ([("SliceObject", ["bread"])], "nothing is in the hand: pick up a knife"),
        ([TAKE, ("SliceObject", ["bread"])], "mug is in the hand: pick up a knife"),
        ([KNIFE, ("SliceObject", ["bread"]), ("SliceObject", ["the bread"])], "bread is sliced by then"),
        ([("OpenObject", ["fridge"]), ("OpenObject", ["the fridge"])], "call 2, OpenObject: fridge is open by then"),
        ([("SwitchOn", ["lamp"]), ("ToggleOn", ["lamp"])], "call 2, SwitchOn: lamp is on by then"),
        ([("SwitchOn", ["microwave"]), ("OpenObject", ["microwave"])], "switch it off first"),
        ([TAKE, ("CloseObject", ["box"]), ("PutObject", ["mug", "box"])], "box is closed by then"),
        ([("BreakObject", ["mug"]), TAKE], "mug is broken by then"),
    ],
)
def test_what_it_does_not_allow_is_told_in_a_line(answer: list[tuple[Any, Any]], told: str) -> None:
    with pytest.raises(PlanningError, match=told) as caught:
        checked(answer)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("red mug", r"Mug_1 \(blue\) is in the hand, not red mug: put it down first"),
        ("Mug_2", "is in the hand, not Mug_2"),
        ("blue mug", ""),
        ("mug", ""),
        ("dirty mug", ""),
        ("cup", ""),
        ("mug_55", ""),
    ],
)
def test_what_is_put_is_what_is_held_as_far_as_that_is_known(name: str, told: str) -> None:
    answer = [("PutObject", [name, "sink"])]
    mug = held("Mug_1", "cleaned", colour="blue")
    if told:
        with pytest.raises(PlanningError, match=told):
            checked(answer, mug)
    else:
        assert checked(answer, mug)


_names = st.sampled_from(["apple", "the apple", "knife", "Mug_1", "second apple", "sink", "x\x00", "", "a" * 121, "{}"])
_skills = st.sampled_from([*BY_NAME, "Fly", "", "GoToObject\n"])
_answers = st.lists(
    st.tuples(
        _skills | st.none() | st.text(max_size=5), st.lists(_names | st.integers(), max_size=3) | st.text(max_size=4)
    ),
    max_size=12,
)


@tried(400, 2000)
@given(_answers, st.sampled_from(["", "apple", "Knife_1"]))
def test_any_plan_that_it_lets_through_is_in_the_table(answer: list[tuple[Any, Any]], in_hand: str) -> None:
    try:
        calls = checked(answer, held(in_hand))
    except PlanningError:
        return
    full = bool(in_hand)
    for call in calls:
        assert call.skill in {each.name for each in SKILLS}
        assert len(call.arguments) == len(BY_NAME[call.skill].arguments)
        assert all(0 < len(name) <= MOST_LETTERS and name.isprintable() for name in call.arguments)
        assert full == (call.skill in ("PutObject", "ThrowObject", "SliceObject")) or call.skill not in (
            *("PickupObject", "PutObject", "ThrowObject", "SliceObject"),
        )
        full = call.skill == "PickupObject" or (full and call.skill not in ("PutObject", "ThrowObject"))
    assert bool(in_hand_after(calls, in_hand)) == full


@pytest.mark.parametrize(
    ("one", "other", "could_be"),
    [
        ("mug", "the red mug", True),
        ("blue mug", "red mug", False),
        ("it", "mug", True),
        ("lamp", "DeskLamp_2", True),
        ("DeskLamp_1", "DeskLamp_2", False),
        ("mug", "second mug", False),
        ("mug", "another mug", False),
        ("other mug", "other mug", True),
        ("apple", "apple tree", False),
        ("Mug_1", "mug", True),
    ],
)
def test_names_that_can_be_meant_for_one_thing(one: str, other: str, could_be: bool) -> None:
    assert same(one, other) == could_be
    assert same(other, one) == could_be
