"""A copy of a memory that is brought up to date by what changed is the memory, whatever happened to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kc_vla.memory.change_log import ChangeLog
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.embedding.models import OFFLINE, open_embedder
from kc_vla.memory.live_scene import LiveScene
from kc_vla.memory.live_units import LiveUnits
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import Position, Unit
from kc_vla.memory.things import ObservedThing
from kc_vla.ros.scene_nodes import change_from, changes_response
from kc_vla.ros.units import since_response, unit_from, units_from
from kc_vla_msgs.srv import SceneSince, UnitsSince

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


def embedder() -> Embedder:
    return open_embedder(OFFLINE)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["see", "use", "gone", "forget", "sync"]), st.integers(0, 8)), max_size=40))
def test_a_copy_of_the_units_by_messages_is_what_the_memory_holds(steps: list[tuple[str, int]]) -> None:
    live, copy, revision = LiveUnits(ShortTermMemory(5), embedder()), dict[str, Unit](), 0
    for now_s, (what, number) in enumerate([*steps, ("sync", 0)], 1):
        name = f"mug-{number}"
        if what in ("see", "use"):
            place = {"place": f"on Table_{number % 2}"}
            unit = Unit("Mug", name, Position(float(now_s), 0.1, 0.2), float(now_s), area="hall", attributes=place)
            live.put([unit], used=what == "use", whole=True)
        elif what == "gone" and live.unit(name) is not None:
            live.tell(name, 2, now_s * 10**9)
        elif what == "forget":
            live.forget()
        elif what == "sync":
            response = UnitsSince.Response()
            since_response(response, live.since(revision))
            changes = response.changes
            copy = {} if changes.whole else {k: v for k, v in copy.items() if k not in changes.removed}
            copy |= {each.object_id: unit_from(each) for each in changes.units}
            revision = changes.revision
            assert list(copy.values()) == list(live.units())


def test_what_a_unit_says_of_its_use_is_not_believed() -> None:
    live = LiveUnits(ShortTermMemory(5), embedder())
    live.put([Unit("Mug", "mug-1", Position(0.0, 0.0, 0.0), 1.0)], used=True)
    response = UnitsSince.Response()
    since_response(response, live.since(0))
    (message,) = response.changes.units
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


def test_a_copy_of_a_map_by_messages_is_the_map(tmp_path: Path) -> None:
    live, chance = LiveScene(tmp_path / "memory.db", "home"), np.random.default_rng(0)
    live.enter("home", AREAS)
    copy, revision = SceneGraph("home"), 0
    for now_s in range(1, 80):
        things = [seen(number, float(chance.uniform(-1.0, 5.0))) for number in chance.integers(0, 6, 3)]
        unique = {each.object_id: each for each in things}.values()
        at = f"area_{chance.integers(1, 5)}"  # of which the fourth is none
        assert live.look("home", list(unique), at, "Mug_1" if now_s % 7 == 0 else "", now_s * 10**9) == []
        if now_s == 20:
            stairs = live.connect("home", "hall", "area_3", "stairs", 0.0)
            assert live.way("home", "area_1", "area_3")[0].length_m == 7.0
        if now_s == 60:
            live.disconnect("home", stairs)
        if now_s == 40:
            live.forget("home", next(iter(live.graph("home").objects)))
        if now_s % 3 == 0:
            response = SceneSince.Response()
            changes_response(response, live.since("home", revision))
            assert response.changes.whole == (revision == 0)
            copy.apply(change_from(copy, response.changes))
            revision = response.changes.revision
            assert without_what_is_not_told(copy) == without_what_is_not_told(live.graph("home"))
    live.close()
