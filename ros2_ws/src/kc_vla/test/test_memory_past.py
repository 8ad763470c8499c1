"""Questions and instructions about a time before: answered by keyframes, and refused where these do not show it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from shown_keyframes import SECOND, cube, keyframe

from kc_vla.cli import main
from kc_vla.memory.asking.answer import MemoryAnswer
from kc_vla.memory.asking.answering import Asker
from kc_vla.memory.asking.grammar import is_question
from kc_vla.memory.asking.past_words import LAST, PastMoment, PastPhrase, SceneEvent, past_names_in, read_past
from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.episodic.linked import LinkedKeyframe
from kc_vla.memory.intake import detection_of
from kc_vla.memory.long_term import store_keyframes
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.references.rows import RowPlace, in_row
from kc_vla.memory.robot.long_term import OwnScene
from kc_vla.memory.robot.robot_memory import LONG, assemble_robot_memory, open_robot_memory
from kc_vla.memory.things import KnownThing, ObservedThing, known_of
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import CallResult
from kc_vla.planning.skills import Call

LEFT, MIDDLE, RIGHT, ASIDE = (0.57, 0.19), (0.57, 0.06), (0.57, -0.07), (0.74, -0.08)
SHUFFLE = (
    keyframe(0, cube("a", *LEFT), cube("b", *MIDDLE), cube("c", *RIGHT)),
    keyframe(1, cube("a", *LEFT), cube("b", *ASIDE), cube("c", *RIGHT)),
    keyframe(2, cube("a", *LEFT), cube("b", *ASIDE), cube("c", *RIGHT)),
)
SHUFFLED = (cube("a", *LEFT), cube("b", *RIGHT), cube("c", *MIDDLE))
Ask = Callable[[str], MemoryAnswer]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LongTermMemory]:
    with Store(tmp_path / "memory.db") as store:
        yield LongTermMemory(store)


def asking(memory: LongTermMemory, keyframes: tuple[LinkedKeyframe, ...], now: tuple[ObservedThing, ...]) -> Ask:
    for each in keyframes:
        memory.link("home", each)
    memory.observe("home", [detection_of(each) for each in now], 12 * SECOND)
    asked = assemble_robot_memory(LONG, shared_embedder(), OwnScene(memory, "home"), None)
    return Asker(asked, lambda: HomeSurroundings({}, "", 20.0)).ask


def ids(answer: MemoryAnswer) -> list[str]:
    return [each.object_id for each in answer.found] if answer.known else []


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("which cube was in the middle before?", "b"),
        ("Which one was in the middle before the shuffle?", "b"),
        ("before somebody moved them, which cube was in the middle?", "b"),
        ("which cube used to be in the middle?", "b"),
        ("which cube was originally in the middle?", "b"),
        ("what stood in the middle at the start?", "b"),
        ("which cube is in the middle?", "c"),
        ("which cube was on the right at the start?", "c"),
        ("which cube was on the left before?", "a"),
        ("which cube was moved first?", "b"),
        ("which cube did somebody move second?", "c"),
        ("what was left of b at the start?", "a"),
    ],
)
def test_keyframes_say_what_was_where_before(memory: LongTermMemory, question: str, right: str) -> None:
    ask = asking(memory, SHUFFLE, SHUFFLED)
    assert is_question(question)
    answer = ask(question)
    assert ids(answer) == [right], answer.text


def test_an_answer_names_the_keyframe_and_where_the_thing_was_then(memory: LongTermMemory) -> None:
    answer = asking(memory, SHUFFLE, SHUFFLED)("where was b at the start?")
    (shown,) = answer.found
    assert (shown.keyframe, shown.position, shown.frame_id) == ("ep/0", (*MIDDLE, 0.02), "base")
    assert answer.text == (
        "The red cube (b) was at (0.57, 0.06, 0.02) m in the frame 'base' (keyframe 0 'phase 0', 19 seconds ago)."
    )
    before = asking(memory, (), ())("where was b before?")
    assert before.found[0].position == (*ASIDE, 0.02)
    assert "changed more than once" in before.notes[0]
    assert before.confidence < answer.confidence


def test_what_has_not_moved_is_where_it_was_and_the_answer_says_so(memory: LongTermMemory) -> None:
    answer = asking(memory, SHUFFLE, SHUFFLE[0].seen)("which cube was in the middle before?")
    assert ids(answer) == ["b"]
    still = asking(memory, (), ())("where was c before?")
    assert still.known
    assert still.notes == ("nothing of it has changed since, as far as the keyframes show",)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("which one did I show you first?", "were shown at once"),
        ("which cube was moved last?", "were moved at once"),
        ("which cube was moved third?", "I know of 2"),
        ("which mug was in the middle before?", "no keyframe of this episode shows that"),
        ("where was the mug at the start?", "shows no mug"),
        ("which mug was moved first?", "no keyframe shows a mug that was moved"),
    ],
)
def test_what_keyframes_cannot_tell_is_not_known(memory: LongTermMemory, question: str, reason: str) -> None:
    answer = asking(memory, SHUFFLE, SHUFFLED)(question)
    assert not answer.known
    assert answer.confidence == 0.0
    assert reason in answer.text


def test_without_keyframes_nothing_of_before_is_known(memory: LongTermMemory) -> None:
    ask = asking(memory, (), SHUFFLED)
    for question in ("which cube was in the middle before?", "which cube was moved first?"):
        answer = ask(question)
        assert (answer.known, answer.text) == (False, "I do not know: I keep no keyframe of a time before.")


def test_a_beginning_whose_keyframes_have_left_is_not_made_up(
    memory: LongTermMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_keyframes, "MOST_LINKED", 2)
    ask = asking(memory, SHUFFLE, SHUFFLED)
    for question in ("which cube was in the middle at the start?", "which cube was moved first?"):
        answer = ask(question)
        assert not answer.known
        assert "1 keyframes have left" in answer.text or "no keyframe" in answer.text


def test_what_was_shown_one_after_the_other_is_known_by_its_order(memory: LongTermMemory) -> None:
    shown = (keyframe(0), keyframe(1, cube("a")), keyframe(2, cube("a"), cube("b")), keyframe(3, cube("c")))
    ask = asking(memory, shown, (cube("a"), cube("b")))
    assert [ids(ask(f"which one did I show you {rank}?")) for rank in ("first", "second", "last")] == [
        ["a"],
        ["b"],
        ["c"],
    ]
    assert ask("the cube I showed you last").notes == ("c: not known any more",)


def test_furniture_that_a_keyframe_does_not_show_still_holds_what_it_shows(memory: LongTermMemory) -> None:
    one, two = tray("Tray_1", 0.4), replace(tray("Shelf_2", 0.8), object_type="shelf")
    ask = asking(memory, (keyframe(0, on("Cube_1", one)),), (one, two, on("Cube_1", two)))
    assert ids(ask("what was on the tray before?")) == ["Cube_1"]
    assert ids(ask("what is on the shelf?")) == ["Cube_1"]
    before = ask("where was the cube before?")
    assert "on the tray (Tray_1)" in before.text
    assert before.found[0].container == "Tray_1"
    assert not ask("where was the shelf before?").known
    assert not ask("was the shelf open before?").known


def test_only_the_newest_episode_counts(memory: LongTermMemory) -> None:
    old = tuple(replace(each, episode_id="old") for each in SHUFFLE)
    new = keyframe(9, cube("a", *LEFT), cube("c", *MIDDLE), cube("b", *RIGHT), episode="new")
    answer = asking(memory, (*old, new), SHUFFLED)("which cube was in the middle at the start?")
    assert ids(answer) == ["c"]


def test_a_question_for_the_robots_own_actions_stays_one(memory: LongTermMemory) -> None:
    ask = asking(memory, SHUFFLE, SHUFFLED)
    assert read_past("have you washed the mug before?") is None
    assert "keyframe" not in ask("did you wash the cube before?").text


SAID = """which cube what was were the one in middle before on left at start first last moved shown i you did show
somebody where is mug b originally second and of row earlier used to be"""


@tried(60, 1000)
@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(SAID.split()), max_size=12).map(" ".join)))
def test_whatever_is_said_is_read_or_is_none(text: str) -> None:
    found = read_past(text)
    assert found is None or (found.moment is None) != (found.event is None)
    for begin, end, phrase in past_names_in(text):
        assert 0 <= begin < end <= len(text)
        assert phrase.rest is not None


@tried(60, 1000)
@given(
    st.permutations("abc"),
    st.floats(0, 6.28),
    st.tuples(*[st.tuples(st.floats(-0.008, 0.008), st.floats(-0.008, 0.008))] * 3),
)
def test_the_middle_of_a_row_is_found_whatever_its_direction(
    order: list[str], angle: float, noise: tuple[tuple[float, float], ...]
) -> None:
    things = []
    for place, (name, (dx, dy)) in enumerate(zip(order, noise, strict=True)):
        x, y = 0.1 * place * math.cos(angle) + dx, 0.1 * place * math.sin(angle) + dy
        things.append(known_of(cube(name, x, y), 1.0))
    shuffled = sorted(things, key=lambda each: each.object_id)
    found = in_row(shuffled, RowPlace.MIDDLE)
    assert found is not None
    assert found.object_id == order[1]


def test_what_is_no_row_has_no_middle() -> None:
    def of(*places: tuple[float, float]) -> KnownThing | None:
        things = [known_of(cube(str(number), *place), 1.0) for number, place in enumerate(places)]
        return in_row(things, RowPlace.MIDDLE)

    assert of(LEFT, ASIDE, RIGHT) is None
    assert of(LEFT, RIGHT) is None
    assert of(LEFT, MIDDLE, RIGHT, ASIDE) is None
    assert of(LEFT, LEFT, LEFT) is None


def test_names_in_an_instruction_are_found_with_their_bounds() -> None:
    text = "put the cube that was in the middle before on the plate"
    ((begin, end, phrase),) = past_names_in(text)
    assert text[begin:end] == "the cube that was in the middle before"
    assert phrase == PastPhrase("which cube was in the middle", PastMoment.BEFORE)
    ((*_, shown),) = past_names_in("bring me the one I showed you last")
    assert (shown.event, shown.rank) == (SceneEvent.SHOWN, LAST)
    assert not list(past_names_in("put the mug that was on the table before the sink"))[1:]
    assert not list(past_names_in("take the mug that was on the table"))


# -- instructions -----------------------------------------------------------------------------------------------


GROUNDS = NavigationMap([Area("table", "ground", (0.0, 0.0, 0.0), {}, "workplace")])


class TableRobot:
    """A robot at a table, that does whatever it is asked to with what it sees."""

    def __init__(self, *things: ObservedThing) -> None:
        self.things = {each.object_id: replace(each, area="table") for each in things}
        self.calls: list[Call] = []

    def do(self, call: Call) -> CallResult:
        self.calls.append(call)
        name = call.arguments[0]
        if call.skill == "PickupObject":
            self._move(name, "held", "")
        elif call.skill == "PutObject":
            self._move(name, "on", call.arguments[1])
        return CallResult(True, "", 1.0, 0.0, tuple(self.look()))

    def look(self) -> list[ObservedThing]:
        return list(self.things.values())

    def _move(self, name: str, relation: str, container: str) -> None:
        self.things[name] = replace(self.things[name], relation=relation, container=container)


def tray(name: str, x: float) -> ObservedThing:
    return ObservedThing("tray", name, (x, 0.3, 0.01), (0.2, 0.2, 0.02), "", {}, "stands", "", "table", False)


def on(name: str, holder: ObservedThing) -> ObservedThing:
    return replace(cube(name, holder.position[0], 0.3), relation="on", container=holder.object_id, area="table")


def carried_out(memory: LongTermMemory, body: TableRobot, instruction: str) -> tuple[bool, str, list[str]]:
    remembers = open_robot_memory("both", shared_embedder(), GROUNDS, memory)
    result = Loop(body, GrammarPlanner(), remembers, GROUNDS, "table").carry_out(instruction)
    return result.success, result.reason, [str(each) for each in body.calls]


def test_a_thing_that_keyframes_tell_is_taken_and_no_other(memory: LongTermMemory) -> None:
    for each in SHUFFLE:
        memory.link("home", each)
    body = TableRobot(*SHUFFLED)
    done, reason, calls = carried_out(memory, body, "pick up the cube that was in the middle before the shuffle")
    assert (done, reason) == (True, "")
    assert calls[-1] == "PickupObject(b)"


def test_a_thing_goes_back_to_where_it_was(memory: LongTermMemory) -> None:
    one, two = tray("Tray_1", 0.4), tray("Tray_2", 0.8)
    memory.link("home", keyframe(0, one, two, on("Cube_1", one)))
    body = TableRobot(one, two, on("Cube_1", two))
    done, reason, calls = carried_out(memory, body, "put the cube back where it was")
    assert (done, reason) == (True, "")
    assert calls[-2:] == ["PickupObject(Cube_1)", "PutObject(Cube_1, Tray_1)"]


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        ("pick up the cube that was in the middle before", "I keep no keyframe of a time before"),
        ("put the cube back where it was", "I keep no keyframe of a time before"),
    ],
)
def test_what_no_keyframe_tells_fails_before_anything_moves(
    memory: LongTermMemory, instruction: str, reason: str
) -> None:
    body = TableRobot(*SHUFFLED)
    done, why, calls = carried_out(memory, body, instruction)
    assert not done
    assert reason in why
    assert not calls


def test_a_place_without_a_name_is_no_place_to_put_things(memory: LongTermMemory) -> None:
    memory.link("home", SHUFFLE[0])
    done, why, calls = carried_out(memory, TableRobot(*SHUFFLED), "put b back where it was")
    assert not done
    assert "(0.57, 0.06, 0.02) m in 'base', on nothing that has a name" in why
    assert not calls


def test_the_command_line_answers_by_keyframes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        asking(LongTermMemory(store), SHUFFLE, SHUFFLED)
    assert main(["memory", "ask", str(path), "which cube was in the middle before?", "--json"]) == 0
    (shown,) = json.loads(capsys.readouterr().out)["found"]
    assert (shown["object_id"], shown["keyframe"], shown["frame_id"]) == ("b", "ep/0", "base")
    assert main(["memory", "keyframes", str(path), "b"]) == 0
    told = capsys.readouterr().out
    assert "ep/0" in told
    assert "(0.57, 0.06, 0.02)" in told
    assert main(["memory", "keyframes", str(path), "nothing"]) == 0
    assert "no keyframe" in capsys.readouterr().out


def test_a_thing_goes_back_to_where_it_was_at_the_start(memory: LongTermMemory) -> None:
    one, two, three = tray("Tray_1", 0.2), tray("Tray_2", 0.5), tray("Tray_3", 0.8)
    for number, holder in enumerate((one, two)):
        memory.link("home", keyframe(number, one, two, three, on("Cube_1", holder)))
    for words, place in (("where it was at the start", "Tray_1"), ("where it was", "Tray_2")):
        body = TableRobot(one, two, three, on("Cube_1", three))
        done, reason, calls = carried_out(memory, body, f"put the cube back {words}")
        assert (done, reason, calls[-1]) == (True, "", f"PutObject(Cube_1, {place})")


def test_a_thing_that_is_moved_on_the_same_table_was_moved(memory: LongTermMemory) -> None:
    def on_table(name: str, x: float) -> ObservedThing:
        return replace(cube(name, x, 0.3), relation="on", container="table")

    memory.link("home", keyframe(0, on_table("a", 0.2), on_table("b", 0.5)))
    memory.link("home", keyframe(1, on_table("a", 0.2), on_table("b", 0.7)))
    ask = asking(memory, (), (on_table("a", 0.4), on_table("b", 0.7)))
    assert [ids(ask(f"which cube was moved {rank}?")) for rank in ("first", "last")] == [["b"], ["a"]]


def test_a_thing_that_moves_with_its_drawer_was_not_moved(memory: LongTermMemory) -> None:
    def drawer(x: float) -> ObservedThing:
        return ObservedThing("drawer", "Drawer_1", (x, 0.3, 0.1), (0.2, 0.2, 0.1), "", {}, "stands", "", "", False)

    def inside(name: str, x: float) -> ObservedThing:
        return replace(cube(name, x, 0.3), relation="in", container="Drawer_1")

    memory.link("home", keyframe(0, drawer(0.6), inside("a", 0.6), inside("b", 0.65)))
    memory.link("home", keyframe(1, drawer(0.45), inside("a", 0.45), inside("b", 0.65)))
    ask = asking(memory, (), (drawer(0.45), inside("a", 0.45), inside("b", 0.65)))
    assert ids(ask("which cube was moved first?")) == ["b"]


class Clumsy(TableRobot):
    """A robot whose first put fails, with the thing still in its hand."""

    def do(self, call: Call) -> CallResult:
        if call.skill == "PutObject" and call not in self.calls:
            self.calls.append(call)
            return CallResult(False, "something is in the way", 1.0, 0.0, tuple(self.look()))
        return super().do(call)


def test_what_is_in_the_hand_by_a_name_of_before_is_known_in_the_next_plan(memory: LongTermMemory) -> None:
    plate = tray("Tray_1", 0.4)
    for each in SHUFFLE:
        memory.link("home", each)
    body = Clumsy(plate, *SHUFFLED)
    text = "put the cube that was in the middle before the shuffle onto the tray"
    done, reason, calls = carried_out(memory, body, text)
    assert (done, reason) == (True, "")
    assert [each for each in calls if "Object(b" in each] == ["PickupObject(b)", *["PutObject(b, Tray_1)"] * 2]
