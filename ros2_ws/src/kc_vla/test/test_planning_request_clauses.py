"""What people wish for in place of telling what to do: the plan is that of the command that it comes to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import PlanningError, Request

SAME = [
    # a thing at a place
    ("I want the mug on the desk", "put the mug on the desk"),
    ("I would like two pencils in the drawer, please.", "put two pencils in the drawer"),
    ("Have a watch inside a box on the round table", "put a watch inside a box on the round table"),
    ("The mug should be on the desk", "put the mug on the desk"),
    ("Mugs belong in the cabinet", "put mugs in the cabinet"),
    ("Can the apple go in the fridge?", "put the apple in the fridge"),
    ("There should be a mug on the desk", "put a mug on the desk"),
    ("I want the mug with a pen in it on the desk", "put the mug with a pen in it on the desk"),
    ("I want the mug you washed on the table", "put the mug you washed on the table"),
    ("On the desk, put a mug", "put a mug on the desk"),
    ("Into the sink with the mug!", "put the mug into the sink"),
    ("I want the mug in the sink and the pen in the drawer", "put the mug in the sink and put the pen in the drawer"),
    # a thing in a state
    ("Have the apple washed", "wash the apple"),
    ("get the potato heated up in the microwave", "heat up the potato in the microwave"),
    ("I need the lamp on", "turn on the lamp"),
    ("Put the lamp on and take the book", "turn on the lamp and take the book"),
    ("I'd like to have the lamp switched on", "switch on the lamp"),
    ("Let the apple be sliced", "slice the apple"),
    ("let the apple cool down", "cool down the apple"),
    ("Make sure that the fridge is closed", "close the fridge"),
    ("The apple needs washing", "wash the apple"),
    ("the plate needs a good scrub", "scrub the plate"),
    ("give the mug a rinse and put it on the table", "rinse the mug and put it on the table"),
    ("I want the bread in slices", "slice the bread"),
    ("I want the sliced bread on a plate", "put the sliced bread on a plate"),
    # more than one
    ("I'd like an apple washed and put in the bowl", "wash an apple and put it in the bowl"),
    ("I need an apple cold and in the bowl", "cool an apple and put it in the bowl"),
    ("have the lamp off and the mug put in the sink", "turn off the lamp and put the mug in the sink"),
    ("wash the apple and make sure it is on the table afterwards", "wash the apple and put it on the table"),
    ("put the apple on the table once it is washed", "wash the apple, then put it on the table"),
    ("leave the glass on the counter after it has been microwaved", "microwave the glass, then put it on the counter"),
    # to have
    ("I need a clean mug", "bring me a clean mug"),
    ("Could I have a cold apple?", "bring me a cold apple"),
    # courtesy
    ("Would you mind washing the mug?", "wash the mug"),
    ("I was wondering if you could bring me a mug", "bring me a mug"),
    ("It would be nice if you could put the mug on the desk", "put the mug on the desk"),
    ("Why don't you wash an apple, if possible", "wash an apple"),
    ("Don't forget to close the fridge", "close the fridge"),
    ("your next task is to wash the plate, thank you", "wash the plate"),
    ("Briefly chill an apple", "chill an apple"),
]
"""Wishes, and the commands that they come to."""


@pytest.mark.parametrize(("wish", "command"), SAME)
def test_a_wish_is_planned_as_the_command_that_it_comes_to(wish: str, command: str) -> None:
    planner = GrammarPlanner()
    assert planner.plan(Request(wish)).calls == planner.plan(Request(command)).calls


@pytest.mark.parametrize(
    "said",
    [
        "the mug is on the table",
        "I don't want the mug on the desk",
        "the mug should not be on the desk",
        "make sure that no mug is on the desk",
        "if the lamp is off, turn it on",
        "I want you",
        "let there be peace",
        "I would like to eat an apple",
    ],
)
def test_what_is_no_wish_is_refused_and_not_guessed(said: str) -> None:
    with pytest.raises(PlanningError, match="not understood"):
        GrammarPlanner().plan(Request(said))


_WORDS = """i want would like have let make sure see to it that is are be the a mug apple lamp desk and , then on off in
washed put sliced should needs washing you if please clean cold with of not once after"""


@tried(300, 1500)
@given(st.lists(st.sampled_from(_WORDS.split()), min_size=1, max_size=60).map(" ".join))
def test_whatever_is_wished_there_is_a_plan_or_a_line(wish: str) -> None:
    try:
        told = str(GrammarPlanner().plan(Request(wish)).calls[0])
    except PlanningError as error:
        told = str(error)
    assert told.isprintable()
