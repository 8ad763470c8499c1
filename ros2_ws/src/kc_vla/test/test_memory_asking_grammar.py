"""Questions in many words: what each asks for, what is refused, and what is no question but a request."""

from __future__ import annotations

import pytest

from kc_vla.memory.asking.grammar import is_question, read_question
from kc_vla.memory.asking.question import Order, PlacePhrase, QuestionError, QuestionKind

WHERE = [
    "Where is the mug?",
    "where's the mug?",
    "do you know where the mug is",
    "Could you tell me where the mug is, please?",
    "any idea where the mug might be?",
    "where did you last see the mug?",
    "where have you put the mug?",
    "the mug, where is it?",
    "I can't find the mug",
    "what is the mug on?",
    "in which room is the mug?",
    "what's the location of the mug?",
    "where do you think the mug is?",
    "where has the mug gone?",
    "is the mug in the sink or in the fridge?",
]
CONTENTS = [
    "what is on the table?",
    "what's on the table",
    "which things are on the table?",
    "is there anything on the table?",
    "tell me what is on the table",
    "list everything on the table",
    "what can you see on the table?",
    "what do you have on the table?",
]
THERE = [
    "is there a mug in the kitchen?",
    "are there any mugs in the kitchen?",
    "have you seen a mug in the kitchen?",
    "do we have a mug in the kitchen?",
    "did you come across a mug in the kitchen?",
    "isn't there a mug in the kitchen?",
    "do you know if there is a mug in the kitchen?",
    "does the kitchen have a mug?",
]
LAST = [
    "what did I use last?",
    "what have you used most recently?",
    "which thing was used last?",
    "what was the last thing you used?",
    "what did you last use",
]
REQUESTS = [
    "can you bring me the mug?",
    "could you please wash the cup?",
    "would you mind opening the fridge",
    "is it possible for you to bring me a mug?",
    "are you able to open the fridge?",
    "may I have an apple?",
    "what I want is a mug",
    "why don't you wash the mug?",
    "how about a mug?",
    "where possible, wash the mugs",
    "when the fridge is open, close it",
    "if the lamp is off, turn it on",
    "I was wondering if you could bring me a mug",
    "is the mug dirty? if so wash it",
    "where is the mug? Bring it to me",
    "have the mug washed",
    "do the dishes",
    "find the mug",
    "make sure the fridge is closed",
    "wash the mug",
    "",
]


@pytest.mark.parametrize("text", WHERE)
def test_where_something_is_is_asked_in_many_ways(text: str) -> None:
    question = read_question(text)
    assert question.asked is QuestionKind.WHERE
    assert question.thing.removeprefix("the ") == "mug"


@pytest.mark.parametrize("text", CONTENTS)
def test_what_is_in_a_place_is_asked_in_many_ways(text: str) -> None:
    question = read_question(text)
    assert (question.thing, question.place) == ("", PlacePhrase("on", "the table"))


@pytest.mark.parametrize("text", THERE)
def test_whether_there_is_something_is_asked_in_many_ways(text: str) -> None:
    question = read_question(text)
    assert question.asked is QuestionKind.IS_THERE
    assert question.thing.removesuffix("s") == "mug"
    assert question.place == PlacePhrase("in", "the kitchen")


@pytest.mark.parametrize("text", LAST)
def test_what_was_used_last_is_asked_in_many_ways(text: str) -> None:
    question = read_question(text)
    assert (question.asked, question.action, question.order) == (QuestionKind.WHICH, "handled", Order.LAST)


@pytest.mark.parametrize(
    ("text", "asked", "thing", "states"),
    [
        ("is the fridge open?", QuestionKind.IS, "the fridge", {"opened"}),
        ("is the knife on the dining table clean?", QuestionKind.IS, "the knife on the dining table", {"cleaned"}),
        ("is the door of the fridge closed?", QuestionKind.IS, "the fridge", {"closed"}),
        ("have you left the fridge open?", QuestionKind.IS, "the fridge", {"opened"}),
        ("does the plate need washing?", QuestionKind.IS, "the plate", {"dirty"}),
        ("which of the cups needs to be washed?", QuestionKind.WHICH, "the cups", {"dirty"}),
        ("which mug is the dirty one?", QuestionKind.WHICH, "mug", {"dirty"}),
        ("how many of the plates are dirty?", QuestionKind.HOW_MANY, "the plates", {"dirty"}),
        ("is the mug clean or dirty?", QuestionKind.CONDITION, "the mug", set()),
        ("in what state is the mug?", QuestionKind.CONDITION, "the mug", set()),
    ],
)
def test_states_are_asked_for(text: str, asked: QuestionKind, thing: str, states: set[str]) -> None:
    question = read_question(text)
    assert (question.asked, question.thing, question.states) == (asked, thing, states)


def test_what_was_done_is_told_from_what_is_so() -> None:
    assert read_question("was the mug washed?").action == "cleaned"
    assert read_question("did you turn the lamp on?").action == "on"
    assert read_question("is the mug washed?").action == ""
    assert read_question("which cup has not been washed?").not_states == {"cleaned"}
    assert read_question("what did you put in the fridge?").place == PlacePhrase("in", "the fridge")
    assert read_question("when was the last time you saw the laptop?").action == "seen"
    assert read_question("are all mugs clean?").every


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("what is left of the blue mug?", PlacePhrase("left of", "the blue mug")),
        ("what's to the right of the pot?", PlacePhrase("right of", "the pot")),
        ("what is underneath the table?", PlacePhrase("under", "the table")),
        ("what is between the fridge and the sink?", PlacePhrase("between", "the fridge and the sink")),
        ("is there a mug upstairs?", PlacePhrase("", "upstairs")),
    ],
)
def test_relations_are_taken_apart(text: str, place: PlacePhrase) -> None:
    assert read_question(text).place == place


@pytest.mark.parametrize(
    "text",
    [
        *(
            "who used the knife?",
            "why is the fridge open?",
            "how much does the mug cost?",
            "what is love?",
            "is it clean?",
        ),
        *(
            "where are the mug and the plate?",
            "is there a knife or a fork?",
            "is anyone in the kitchen?",
            "",
            "?",
            "   ",
        ),
        *("how old is the table?", "what time is the meeting?", "x" * 301),
    ],
)
def test_what_nothing_remembered_can_answer_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(QuestionError) as refused:
        read_question(text)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text", [*WHERE[:6], *CONTENTS[:4], *THERE[:5], *LAST, "who was here?", "did you wash the cup?"]
)
def test_a_question_is_known_as_one(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", REQUESTS)
def test_a_request_is_no_question(text: str) -> None:
    assert not is_question(text)
