"""The planner by grammar: instructions and plans that a person would agree with, and whatever else is said."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from held_thing import held
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.planning.checking import MOST_CALLS, checked
from kc_vla.planning.grammar.__main__ import main as printed_plan
from kc_vla.planning.grammar.__main__ import shown
from kc_vla.planning.grammar.lexicon import verbs
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.grammar.replanning import _SO_ALREADY
from kc_vla.planning.interface import Plan, PlanningError, Request, TriedCall
from kc_vla.planning.skills import BY_NAME, Call

_SHORT = {
    "go": "GoToObject",
    "take": "PickupObject",
    "put": "PutObject",
    "open": "OpenObject",
    "close": "CloseObject",
    "on": "SwitchOn",
    "off": "SwitchOff",
    "cut": "SliceObject",
    "break": "BreakObject",
    "throw": "ThrowObject",
    "place": "GoToPlace",
    "explore": "Explore",
}
WASH = "put {0} > sink; on faucet; off faucet; take {0}"
HEAT = (
    "open microwave; put {0} > microwave; close microwave; on microwave; off microwave; "
    "open microwave; take {0}; close microwave"
)
COOL = "open fridge; put {0} > fridge; close fridge; open fridge; take {0}; close fridge"


def plan(instruction: str, **more: object) -> Plan:
    return GrammarPlanner().plan(Request(instruction, **more))  # type: ignore[arg-type]


def calls_of(text: str) -> tuple[Call, ...]:
    """ "take mug; put mug > sink" """
    parts = (each.strip().partition(" ") for each in text.split(";"))
    return tuple(Call(_SHORT[verb], tuple(each.strip() for each in names.split(">"))) for verb, _, names in parts)


def wash(name: str) -> str:
    return WASH.format(name)


def heat(name: str) -> str:
    return HEAT.format(name)


def cool(name: str) -> str:
    return COOL.format(name)


AGREED = [
    # ALFRED's seven kinds, as many say them
    ("Put a pillow on the ottoman.", "take pillow; put pillow > ottoman"),
    ("move a set of keys to the safe", "take keys; put keys > safe"),
    ("Take the pen from the shelf and place it on the desk", "go shelf; take pen; put pen > desk"),
    ("Move the red mug from the table to the left side of the sink.", "go table; take red mug; put red mug > sink"),
    (
        "Place two remotes on the couch",
        "take remote; put remote > couch; take second remote; put second remote > couch",
    ),
    (
        "Grab two pencils and put them in the drawer",
        "take pencil; put pencil > drawer; take second pencil; put second pencil > drawer",
    ),
    ("Put a clean plate in the cabinet", f"take plate; {wash('plate')}; put plate > cabinet"),
    ("wash the fork and put it on the table", f"take fork; {wash('fork')}; put fork > table"),
    ("Rinse off a tomato, then set it in the bowl", f"take tomato; {wash('tomato')}; put tomato > bowl"),
    ("Put a heated potato on the counter", f"take potato; {heat('potato')}; put potato > counter"),
    ("Warm up a cup in the microwave and put it in the sink", f"take cup; {heat('cup')}; put cup > sink"),
    (
        "Put a chilled wine bottle on the dining table",
        f"take wine bottle; {cool('wine bottle')}; put wine bottle > dining table",
    ),
    ("put the lettuce on the counter after cooling it", f"take lettuce; {cool('lettuce')}; put lettuce > counter"),
    ("Examine a book by the light of the floor lamp", "take book; on floor lamp"),
    ("look at the statue under a lit desk lamp", "take statue; on desk lamp"),
    ("Pick up the watch and turn the lamp on", "take watch; on lamp"),
    ("Carry keys while turning on a lamp", "take keys; on lamp"),
    ("Place a mug with a pen in it on the desk", "take pen; put pen > mug; take mug; put mug > desk"),
    ("Put the pen into the cup and place it on the shelf", "take pen; put pen > cup; take cup; put cup > shelf"),
    ("Put an apple in a pot on the table", "take apple; put apple > pot; take pot; put pot > table"),
    # cutting
    ("Slice the bread", "take knife; cut bread; put knife > anywhere"),
    (
        "Cut the apple with the butter knife, put the knife in the sink",
        "take butter knife; cut apple; put knife > sink",
    ),
    (
        "Put a cold slice of tomato on the plate",
        f"take knife; cut tomato; put knife > anywhere; take tomato; {cool('tomato')}; put tomato > plate",
    ),
    (
        "Slice a potato, cook a slice, and throw it away",
        f"take knife; cut potato; put knife > anywhere; take potato; {heat('potato')}; put potato > garbage can",
    ),
    # devices, said step by step
    (
        "open the microwave, put the egg in it, close it, turn it on, turn it off",
        "open microwave; take egg; put egg > microwave; close microwave; on microwave; off microwave",
    ),
    (
        "Put the egg in the fridge, then take it out and put it on the table",
        "take egg; open fridge; put egg > fridge; close fridge; open fridge; take egg; close fridge; put egg > table",
    ),
    ("Fill the kettle with water and put it on the stove", f"take kettle; {wash('kettle')}; put kettle > stove"),
    ("Turn on the faucet and switch it off again", "on faucet; off faucet"),
    # others
    ("wash an apple, then bring it to the table", f"take apple; {wash('apple')}; put apple > table"),
    ("wash the apple in the microwave", f"go microwave; take apple; {wash('apple')}"),
    ("Bring the mug to the kitchen", "take mug; place kitchen"),
    (
        "Take the apple from the table, chill it, return it to the table",
        f"go table; take apple; {cool('apple')}; put apple > table",
    ),
    ("turn on the lamp on the desk", "go desk; on lamp"),
    ("Open the drawer and close the blinds", "open drawer; close blinds"),
    ("Switch the TV off", "off tv"),
    ("Go to the kitchen and look around", "place kitchen; explore kitchen"),
    ("Find the remote and bring it to me", "go remote; take remote"),
    ("Could you please bring me my phone?", "take phone"),
    ("Throw away the newspaper", "take newspaper; put newspaper > garbage can"),
    ("Throw the ball", "take ball; throw ball"),
    ("Break the vase", "break vase"),
    ("Pick up Apple_1 and put it into Bowl_2", "take Apple_1; put Apple_1 > Bowl_2"),
    ("wash a cloth, after that move it to the drawer", f"take cloth; {wash('cloth')}; put cloth > drawer"),
    ("get something to cut with", "take something to cut with"),
    ("put something to read on the table", "take something to read; put something to read > table"),
    ("fetch what you put in the cabinet", "take what you put in the cabinet"),
    (
        "move the thing you put on the bed to the desk",
        "take thing you put on the bed; put thing you put on the bed > desk",
    ),
    ("put the cup that is dirty in the sink", "take cup that is dirty; put cup that is dirty > sink"),
    ("move the piece of jewellery to the safe", "take piece of jewellery; put piece of jewellery > safe"),
    ("put a piece of fruit on the tray", "take a piece of fruit; put a piece of fruit > tray"),
    ("get the towel that is clean and blue", "take towel that is clean and blue"),
    ("bring me something cold", "take something cold"),
    ("Put the red fruit you cut on the table", "take red fruit you cut; put red fruit you cut > table"),
    (
        "put the fork, the knife and the spoon in the sink",
        "take fork; put fork > sink; take knife; put knife > sink; take spoon; put spoon > sink",
    ),
    ("put the pen in the cup and the key in the bowl", "take pen; put pen > cup; take key; put key > bowl"),
    (
        "put the blue mug on the table and the red one in the sink",
        "take blue mug; put blue mug > table; take red mug; put red mug > sink",
    ),
    ("Before putting it on the desk, wash the mug", f"take mug; {wash('mug')}; put mug > desk"),
    ("put the mug, and then the plate, into the sink", "take mug; put mug > sink; take plate; put plate > sink"),
    ("put the orange and the egg on the tray", "take orange; put orange > tray; take egg; put egg > tray"),
    ("put the mug, then the plate, in the sink", "take mug; put mug > sink; take plate; put plate > sink"),
    (
        "take the mug, then the plate, and put them in the sink",
        "take mug; put mug > sink; take plate; put plate > sink",
    ),
]


@pytest.mark.parametrize(("instruction", "agreed"), AGREED, ids=[each[0] for each in AGREED])
def test_plans_that_a_person_would_agree_with(instruction: str, agreed: str) -> None:
    found = plan(instruction)
    assert found.calls == calls_of(agreed)
    assert found.by == "grammar"


@pytest.mark.parametrize(
    ("instruction", "told"),
    [
        ("", "is empty"),
        (" \n\t ", "is empty"),
        ("...", "no words"),
        ("frobnicate the apple", "not understood: 'frobnicate the apple'"),
        ("the apple", "not understood: 'the apple'"),
        ("put the mug in the sink, then the microwave", "'the sink and the microwave': name one place"),
        ("put it on the table", "not clear what is meant"),
        ("put the mug down somewhere nice", "not said where"),
        ("put the mug", "not said where mug is to be put"),
        ("wash the apple and eat the banana", "not understood: 'eat the banana'"),
        ("don't touch the knife", 'not understood: "don\'t"'),
        ("put the apple not in the fridge", "not understood: 'not'"),
        ("if the lamp is off, turn it on", "not understood: 'if'"),
        ("pick up the pen and the pencil", "only one thing can be held"),
        ("clean the kitchen table", "a table cannot be carried"),
        ("heat the milk in the washing machine and the dryer", "not understood"),
        ("make coffee", "not understood: 'make coffee'"),
        ("x" * 1_000_000, "letters"),
        ("put the mug on the table and " * 60, "not understood|calls|letters|words"),
        ("put " + "very " * 200 + "old mug on the table", "not understood"),
    ],
)
def test_what_is_not_understood_is_told_in_a_line(instruction: str, told: str) -> None:
    with pytest.raises(PlanningError, match=told) as caught:
        plan(instruction)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_the_page_shows_what_the_code_prints() -> None:
    page = (Path(__file__).parents[4] / "docs/planner_grammar.md").read_text()
    shells = re.findall(r"^\$ python -m kc_vla.planning.grammar \"(.*)\"\n((?:.+\n)+?)(?=\n|```)", page, re.MULTILINE)
    assert len(shells) == 5
    for instruction, printed in shells:
        assert shown(instruction) == (printed.strip(), not printed.startswith("no plan"))


def test_a_script_can_tell_whether_there_is_a_plan(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for words, code, printed in ((["wash", "an apple"], 0, "PickupObject(apple)"), (["fly"], 1, "no plan: ")):
        monkeypatch.setattr(sys, "argv", ["grammar", *words])
        assert printed_plan() == code
        assert printed in capsys.readouterr().out


def test_what_is_left_out_or_guessed_is_told() -> None:
    assert plan("put the mug on the table next to the sofa").notes == ("'next to the sofa' was left out",)
    assert "two were taken" in plan("put the plates on the table").notes[0]
    assert plan("switch on all the lamps").notes == ("it is not said which of 'lamps': one was taken",)


@pytest.mark.parametrize("instruction", ["put a clean mug on the table", "put the washed mug on the table"])
def test_what_a_memory_tells_is_not_done_again(instruction: str) -> None:
    assert plan(instruction).calls == calls_of(f"take mug; {wash('mug')}; put mug > table")
    known = plan(instruction, recalled="apple, heated (id Apple_1)\nmug, cleaned, in the sink (id Mug_2)")
    assert known.calls == calls_of("take clean mug; put clean mug > table")
    other = plan(instruction, recalled="plate, cleaned (id Plate_1)\nmug, dirty (id Mug_2)")
    assert other.calls == plan(instruction).calls


def test_the_hand_is_taken_as_it_is() -> None:
    assert plan("put it on the table", in_hand=held("Apple_1")).calls == calls_of("put Apple_1 > table")
    assert plan("put the apple on the table", in_hand=held("Apple_1")).calls == calls_of("put apple > table")
    assert plan("take the fork", in_hand=held("Apple_1")).calls == calls_of("put Apple_1 > anywhere; take fork")
    assert plan("cut the bread", in_hand=held("ButterKnife_1")).calls == calls_of("cut bread")


BLUE = held("Mug_1", colour="blue")
AWAY = "put Mug_1 > anywhere; "


@pytest.mark.parametrize(
    ("instruction", "planned"),
    [
        ("pick up the red mug", AWAY + "take red mug"),
        ("pick up the mug that is red", AWAY + "take mug that is red"),
        ("pick up another mug", AWAY + "take another mug"),
        ("pick up the other mug", AWAY + "take other mug"),
        ("get a different mug", AWAY + "take different mug"),
        ("take the red one", AWAY + "take red mug"),
        ("pick up Mug_2", AWAY + "take Mug_2"),
        ("take the mug from the shelf", AWAY + "go shelf; take mug"),
        ("wash the red mug", AWAY + f"take red mug; {wash('red mug')}"),
        ("put the red mug on the table", AWAY + "take red mug; put red mug > table"),
        (
            "put the mug on the shelf, then bring me another mug",
            "put mug > shelf; take another mug",
        ),
        ("put the blue mug on the table", "put blue mug > table"),
        ("put it on the table", "put Mug_1 > table"),
    ],
)
def test_what_is_held_is_told_from_another_of_its_type(instruction: str, planned: str) -> None:
    assert plan(instruction, in_hand=BLUE).calls == calls_of(planned)


@pytest.mark.parametrize("instruction", ["pick up the mug", "take a mug", "get the blue mug", "hold Mug_1"])
def test_what_is_in_the_hand_already_is_not_picked_up(instruction: str) -> None:
    found = plan(instruction, in_hand=BLUE)
    assert (found.calls, found.notes) == ((), ("Mug_1 (blue) is in the hand already",))
    assert plan(f"{instruction} and put it in the sink", in_hand=BLUE).calls[0].skill == "PutObject"


def test_what_is_not_known_of_what_is_held_is_told() -> None:
    found = plan("put the red mug on the table", in_hand=held("Mug_1"))
    assert found.calls == calls_of("put Mug_1 > table")
    assert found.notes == (
        "'red mug' was taken to be Mug_1, which is in the hand: nothing is known that speaks against it",
    )
    lamp = held("DeskLamp_1")
    assert plan("pick up the floor lamp", in_hand=lamp).calls == calls_of("put DeskLamp_1 > anywhere; take floor lamp")


def test_what_a_memory_knows_to_be_so_is_not_what_is_held_and_not_known_to_be() -> None:
    recalled = "mug, cleaned (id Mug_2)"
    found = plan("put a clean mug on the table", in_hand=BLUE, recalled=recalled)
    assert found.calls == calls_of(AWAY + "take clean mug; put clean mug > table")
    clean = held("Mug_1", "cleaned")
    assert plan("put a clean mug on the table", in_hand=clean, recalled=recalled).calls == calls_of(
        "put clean mug > table"
    )


def test_after_a_failure_what_was_held_before_is_not_what_is_held_now() -> None:
    tried = done("put Mug_1 > anywhere; take red mug; put red mug > table", "table is out of reach: go to it first")
    red = held("Mug_2", colour="red")
    left = plan("put the red mug on the table", in_hand=red, tried=tried, held_before=BLUE)
    assert left.calls == calls_of("put red mug > table")
    wrong = done("put Mug_1 > anywhere; take red mug", "no red mug is in sight from here")
    again = plan("put the red mug on the table", tried=wrong, held_before=BLUE)
    assert again.calls == calls_of("take red mug; put red mug > table")
    full = done("put Mug_1 > anywhere", "CounterTop_1 is full")
    again = plan("put the red mug on the table", in_hand=BLUE, tried=full, held_before=BLUE)
    assert again.calls == calls_of("put Mug_1 > anywhere; take red mug; put red mug > table")


def done(text: str, reason: str = "") -> list[TriedCall]:
    *before, last = calls_of(text)
    return [*(TriedCall(call) for call in before), TriedCall(last, reason)]


@pytest.mark.parametrize(
    ("instruction", "tried", "in_hand", "left"),
    [
        (
            "wash an apple, then bring it to the table",
            done(
                "go Apple_1; take Apple_1; put Apple_1 > SinkBasin_1; on Faucet_1",
                "Faucet_1 is out of reach: go to it first",
            ),
            "",
            "on Faucet_1; off Faucet_1; take Apple_1; put Apple_1 > table",
        ),
        (
            "wash an apple, then bring it to the table",
            done("take Apple_1; put Apple_1 > SinkBasin_1; on Faucet_1", "Faucet_1 is on already"),
            "",
            "off Faucet_1; take Apple_1; put Apple_1 > table",
        ),
        (
            "put the apple in the bowl",
            done("take Apple_1", "the hand is not empty: put down what it holds first"),
            "Mug_1",
            "put Mug_1 > anywhere; take apple; put apple > bowl",
        ),
        (
            "put the apple in the drawer",
            done("take Apple_1; put Apple_1 > Drawer_2", "Drawer_2 is closed: open it first"),
            "Apple_1",
            "open Drawer_2; put Apple_1 > Drawer_2",
        ),
        (
            "put the apple in the drawer",
            done(
                "take Apple_1; open Drawer_2",
                "Drawer_1 is open above the handle of Drawer_2: close it first",
            ),
            "Apple_1",
            "close Drawer_1; put Apple_1 > drawer",
        ),
        (
            "take the pen from the shelf and put it on the desk",
            done("go Shelf_1", "no Shelf_1 is in sight from here"),
            "",
            "take pen; put pen > desk",
        ),
        (
            "cut the bread",
            done("take Knife_1; cut Bread_1; put Knife_1 > CounterTop_1", "CounterTop_1 is full"),
            "Knife_1",
            "put Knife_1 > anywhere",
        ),
        (
            "cut the bread",
            done("take Knife_1; cut Bread_1", "Bread_1 is sliced already"),
            "Knife_1",
            "put Knife_1 > anywhere",
        ),
        (
            "bring me the mug",
            done("take Mug_1", "Mug_1 is broken"),
            "",
            "take second mug",
        ),
        (
            "cut the bread",
            done("take Knife_1; cut Bread_1", "no knife is in the hand: pick one up to slice Bread_1"),
            "",
            "take knife; cut Bread_1; put Knife_1 > anywhere",
        ),
    ],
)
def test_after_a_failure_the_rest_is_planned(instruction: str, tried: list[TriedCall], in_hand: str, left: str) -> None:
    before = held(in_hand) if all(each.reason for each in tried) else None
    assert plan(instruction, tried=tried, in_hand=held(in_hand), held_before=before).calls == calls_of(left)


def test_what_the_plan_itself_made_so_is_not_taken_for_something_known() -> None:
    tried = done("take mug; put mug > sink; on faucet; off faucet; take mug; put mug > table", "table is out of reach")
    left = plan("put a clean mug on the table", tried=tried, in_hand=held("Mug_1"), recalled="mug, cleaned (id Mug_1)")
    assert left.calls == calls_of("put mug > table")
    known = plan("put a clean mug on the table", recalled="mug, cleaned (id Mug_1)")
    tried = [TriedCall(known.calls[0], "no clean mug is in sight from here")]
    again = plan("put a clean mug on the table", tried=tried)
    assert again.calls == calls_of(f"take mug; {wash('mug')}; put mug > table")


def test_another_place_and_another_thing_are_kept_to() -> None:
    said = "cut the bread and bring me the fork"
    tried = done("take knife; cut bread; put knife > anywhere", "CounterTop_1 is full")
    assert plan(said, tried=tried, in_hand=held("Knife_1")).calls == calls_of("put knife > anywhere; take fork")
    tried += done("put knife > anywhere; take fork", "no fork is in sight from here")
    assert plan(said, tried=tried).calls == calls_of("take fork")
    tried = [
        *done("take mug", "mug is broken"),
        *done("take second mug; put second mug > sink", "sink is out of reach"),
    ]
    assert plan("wash the mug", tried=tried, in_hand=held("Mug_2")).calls == calls_of(
        "put second mug > sink; on faucet; off faucet; take second mug"
    )


def test_what_fails_for_the_same_reason_again_and_again_is_given_up() -> None:
    failed = TriedCall(Call("PickupObject", ("apple",)), "no apple is in sight from here")
    with pytest.raises(PlanningError, match="failed 3 times: no apple is in sight"):
        plan("take the apple", tried=[failed] * 3)
    with pytest.raises(PlanningError, match="is full"):
        plan(
            "put the apple in the bowl",
            tried=done("take Apple_1; put Apple_1 > Bowl_1", "Bowl_1 is full"),
            in_hand=held("Apple_1"),
        )
    with pytest.raises(PlanningError, match="nothing is left to be done"):
        plan("open the drawer", tried=done("open Drawer_1", "Drawer_1 is open already"))


_OTHERS = """the a two it them one and then , . ; ! after before while with in on from to of under off out up back apple
mugs Apple_1 knife slice clean cold hot lamp light fridge sink something that you me floor everything not \x00"""
_SOME_WORDS = st.sampled_from(
    [
        *sorted({word for words in verbs() for word in words}),
        *_OTHERS.split(),
    ]
)


@tried(400, 2000)
@given(
    st.lists(_SOME_WORDS, max_size=25).map(" ".join) | st.text(max_size=200) | st.binary(max_size=50).map(bytes.hex),
    st.sampled_from(["", "Apple_1", "knife", "\x1b[2J"]),
    st.text(max_size=50),
)
def test_whatever_is_said_there_is_a_checked_plan_or_a_line(instruction: str, in_hand: str, recalled: str) -> None:
    try:
        found = plan(instruction, in_hand=held(in_hand), recalled=recalled)
    except PlanningError as error:
        told = str(error)
    else:
        told = ""
        if found.calls or not in_hand:
            assert checked(found.calls, held(in_hand)) == found.calls
            assert 0 < len(found.calls) <= MOST_CALLS
        else:
            assert "in the hand" in found.notes[-1]
    assert told.isprintable()


@tried(200, 1000)
@given(
    st.sampled_from([each[0] for each in AGREED]),
    st.lists(
        st.tuples(
            st.sampled_from(sorted(BY_NAME)),
            st.lists(st.sampled_from(["apple", "Apple_1", "sink", "Knife_1", ""]), max_size=3),
            st.sampled_from(
                ["", "it is on already", "Bowl_1 is full", "Box_1 is closed: open it first", "is broken", "?"]
            ),
        ),
        max_size=8,
    ),
    st.sampled_from(["", "Apple_1", "Knife_1"]),
)
def test_whatever_was_tried_there_is_a_checked_plan_or_a_line(
    instruction: str, tried: list[tuple[str, list[str], str]], in_hand: str
) -> None:
    happened = [TriedCall(Call(skill, tuple(names)), reason) for skill, names, reason in tried]
    try:
        found = plan(instruction, tried=happened, in_hand=held(in_hand))
    except PlanningError:
        return
    assert checked(found.calls, held(in_hand)) == found.calls


@pytest.mark.parametrize("reason", ["the drawer is already full", "the gripper already holds Cup_2"])
def test_what_stands_in_the_way_already_is_not_what_was_to_be_done(reason: str) -> None:
    tried = done("take mug; put mug > drawer", reason)
    left = plan("put the mug in the drawer, then turn on the lamp", in_hand=held("mug"), tried=tried)
    assert Call("PutObject", ("mug", "drawer")) in left.calls


@pytest.mark.parametrize(
    "reason",
    [
        "Fridge_1 is open already",
        "the fridge is already open",
        "Lamp_1 is already turned on",
        "the blinds are closed already",
        "Mug_1 is already in hand",
    ],
)
def test_what_is_so_already_is_done(reason: str) -> None:
    assert _SO_ALREADY.search(reason)


@pytest.mark.parametrize(
    ("instruction", "note"),
    [
        ("put every plate in the cabinet", "'every' was taken for one"),
        ("slice each tomato", "'each' was taken for one"),
        ("turn off all the lights", "'all' was taken for one"),
        ("put the apple or the bread on the table", "'or' was taken for 'and'"),
    ],
)
def test_amounts_that_a_plan_does_not_follow_are_told(instruction: str, note: str) -> None:
    assert note in plan(instruction).notes


def test_how_often_is_not_understood() -> None:
    with pytest.raises(PlanningError, match="not understood: 'twice'"):
        plan("wash the mug twice")


@pytest.mark.parametrize(
    "instruction", ["put the mug and the plate next to each other on the table", "put everyday mug on the desk"]
)
def test_words_that_only_look_like_amounts_are_none(instruction: str) -> None:
    assert not any("was taken for one" in note for note in plan(instruction).notes)
