"""A copy of a memory that is brought up to date by what changed is the memory, whatever happened to it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message

from kc_vla.memory.change_log import ChangeLog
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.embedding.models import OFFLINE, open_embedder
from kc_vla.memory.live_scene import LiveScene
from kc_vla.memory.live_units import LiveUnits, RecallOutcome
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import Position, Unit
from kc_vla.memory.things import ObservedThing
from kc_vla.ros.memory_copies import SceneCopy, UnitsCopy
from kc_vla.ros.scene_nodes import changes_message as scene_changes
from kc_vla.ros.units import changes_message as units_changes
from kc_vla.ros.units import units_from

T = TypeVar("T")
FRESH_S = 1.0
NAMES = st.sampled_from("abcdefgh")
STEPS = st.lists(st.tuples(st.sampled_from(["put", "remove", "sync"]), NAMES), max_size=60)


@given(STEPS)
def test_a_copy_that_follows_a_log_holds_what_is_there(steps: list[tuple[str, str]]) -> None:
    log, there, copy, revision = ChangeLog(), dict[str, int](), dict[str, int](), 0
    for number, (what, name) in enumerate([*steps, ("sync", "a")]):
        if what == "put":
            there[name] = number
            log.put(name)
        elif what == "remove" and there.pop(name, None) is not None:
            log.remove(name)
        elif what == "sync":
            changes = log.since(revision)
            assert changes.whole == (revision == 0)
            if changes.whole:
                copy = dict(there)
            copy = {each: value for each, value in copy.items() if each not in changes.removed}
            copy |= {each: there[each] for each in changes.put}
            revision = changes.revision
            assert list(copy.items()) == list(there.items())


def test_a_copy_of_another_run_or_one_that_is_too_old_is_made_anew() -> None:
    before, after = ChangeLog(), ChangeLog()
    before.put("a")
    assert after.since(before.revision).whole
    old = after.revision
    for number in range(10_002):
        after.put(str(number))
        after.remove(str(number))
    assert after.since(old).whole
    assert not after.since(after.revision).whole


def sent(message: T) -> T:
    """The message as it comes out of the middleware."""
    received: T = deserialize_message(serialize_message(message), type(message))
    return received


def embedder() -> Embedder:
    return open_embedder(OFFLINE)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["see", "use", "see unheard", "gone", "right", "forget", "sync"]), st.integers(0, 8)),
        max_size=40,
    )
)
def test_a_copy_of_the_units_by_messages_is_what_the_memory_holds(steps: list[tuple[str, int]]) -> None:
    live, copy = LiveUnits(ShortTermMemory(5), embedder()), UnitsCopy(FRESH_S)
    for now_s, (what, number) in enumerate([*steps, ("sync", 0)], 1):
        name = f"mug-{number}"
        if what in ("see", "use", "see unheard"):
            place = {"place": f"on Table_{number % 2}"}
            unit = Unit("Mug", name, Position(float(now_s), 0.1, 0.2), float(now_s), area="hall", attributes=place)
            live.put([unit], used=what == "use", whole=True)
        elif what in ("gone", "right") and live.unit(name) is not None:
            live.tell(name, RecallOutcome.GONE if what == "gone" else RecallOutcome.CONFIRMED, now_s * 10**9)
        elif what == "forget":
            live.forget()
        if what in ("see", "use", "gone", "right", "sync"):  # what others put in comes with the next answer
            copy.apply(sent(units_changes(live.since(copy.revision))))
            assert list(copy.units.values()) == list(live.units())


def test_what_a_unit_says_of_its_use_is_not_believed() -> None:
    live = LiveUnits(ShortTermMemory(5), embedder())
    live.put([Unit("Mug", "mug-1", Position(0.0, 0.0, 0.0), 1.0)], used=True)
    (message,) = units_changes(live.since(0)).units
    message.object_id, message.used = "mug-2", 99.0
    live.put(units_from([message], "map", 2 * 10**9))
    told = live.unit("mug-2")
    assert told is not None
    assert (told.used, told.effects) == (0.0, {})


AREAS = {
    "area_1": Area("area_1", "ground", (0.0, 0.0, 0.0), {"area_2": 4.0}, "kitchen"),
    "area_2": Area("area_2", "ground", (4.0, 0.0, 0.0), {"area_1": 4.0}, "hall"),
    "area_3": Area("area_3", "attic", (4.0, 0.0, 3.0)),
}


def seen(number: int, x: float) -> ObservedThing:
    place = {"colour": "red"} if number % 2 else {}
    return ObservedThing(
        "Mug", f"Mug_{number}", (x, 0.0, 1.0), (0.1, 0.1, 0.1), "", place, "floor", "", "area_1", True, 0.9
    )


def without_what_is_not_told(graph: SceneGraph) -> list[object]:
    return [each for each in graph.nodes() if not getattr(each, "forgotten", False)]


LOOKS = st.lists(st.tuples(st.integers(0, 5), st.floats(-1.0, 5.0)), max_size=3)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["look", "look", "unheard", "miss", "forget", "stairs", "sync"]), LOOKS), max_size=30
    )
)
def test_a_copy_of_a_map_by_messages_is_the_map(steps: list[tuple[str, list[tuple[int, float]]]]) -> None:
    with TemporaryDirectory() as folder, closing(LiveScene(Path(folder) / "memory.db", "home")) as live:
        live.enter("home", AREAS)
        copy, stairs = SceneCopy("home", FRESH_S), ""
        for now_s, (what, looked) in enumerate([*steps, ("sync", [])], 1):
            changes = None
            if what in ("look", "unheard", "miss"):
                unique = {each.object_id: each for number, x in looked for each in [seen(number, x)]}.values()
                at, missed = f"area_{now_s % 4 + 1}", "Mug_1" if what == "miss" else ""  # there is no fourth
                revision = None if what == "unheard" else copy.revision
                refused, changes = live.look("home", list(unique), at, missed, now_s * 10**9, revision)
                assert refused == []
                assert (changes is None) == (what == "unheard")
            elif what == "forget" and (known := list(live.graph("home").known())):
                live.forget("home", known[0].id)
            elif what == "stairs":
                if stairs:
                    live.disconnect("home", stairs)
                stairs = "" if stairs else live.connect("home", "hall", "area_3", "stairs", 0.0)
            elif what == "sync":
                changes = live.since("home", copy.revision)
            if changes is not None:
                copy.apply(sent(scene_changes(changes)))
                assert without_what_is_not_told(copy.graph) == without_what_is_not_told(live.graph("home"))
