"""How much work one message of detections makes: it is counted, not timed."""

import random
import sys
from collections import Counter
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.memory.long_term.association import distinct, is_one
from kc_vla.memory.long_term.building import observe
from kc_vla.memory.long_term.detections import Detection, FusionSettings
from kc_vla.memory.long_term.graph import SceneGraph

FIRST, SECOND = 10**18, 2 * 10**18


def scene(count: int, classes: int, side: float, size: float, named: bool = False) -> list[Detection]:
    chance = random.Random(count)
    return [
        Detection(
            f"thing{number % classes}",
            (chance.uniform(0, side), chance.uniform(0, side), chance.uniform(0, 2)),
            (size,) * 3,
            0.9,
            source_id=f"a{number}" if named else "",
        )
        for number in range(count)
    ]


def calls(graph: SceneGraph, detections: list[Detection], stamp_ns: int) -> tuple[int, Any]:
    """How many calls one message makes, and the change."""
    made: Counter[str] = Counter()

    def count(frame: FrameType, event: str, what: object) -> None:
        made[event] += 1

    sys.setprofile(count)
    try:
        change, _ = observe(graph, detections, stamp_ns, None, FusionSettings())
    finally:
        sys.setprofile(None)
    return made["call"] + made["c_call"], change


@pytest.mark.parametrize(
    ("classes", "side", "named"), [(8, 8.0, False), (1, 8.0, False), (8, 8.0, True), (400, 8.0, False)]
)
def test_the_work_of_a_message_grows_as_its_detections(classes: int, side: float, named: bool) -> None:
    """Of four times as many in four times the room, new or known, hardly more than four times."""
    made = {}
    for count, width in ((200, side / 2), (800, side)):
        detections = scene(count, classes, width, 0.1, named)
        new, change = calls(SceneGraph("map", [], 1), detections, FIRST)
        again, _ = calls(SceneGraph("map", change.put, 5000), detections, SECOND)
        made[count] = new, again
    for few, many in zip(made[200], made[800], strict=True):
        assert many < 6 * few
        assert many < 1500 * 800


def test_a_heap_of_things_is_bounded_too() -> None:
    """Where all may be all, no more than some of each pair are looked at closely."""
    detections = scene(600, 1, 0.5, 0.05, named=True)
    new, change = calls(SceneGraph("map", [], 1), detections, FIRST)
    again, _ = calls(SceneGraph("map", change.put, 5000), detections, SECOND)
    assert new < 600 * 600
    assert again < 10 * 600 * 600


@tried(60, 600)
@given(st.integers(0, 1000), st.integers(1, 3), st.booleans(), st.sampled_from([0.0, 0.05, 0.3]))
def test_detections_of_one_thing_are_one(seed: int, classes: int, named: bool, size: float) -> None:
    """The same ones as where each is compared with each."""
    chance = random.Random(seed)
    found = [
        Detection(
            f"Thing {chance.randrange(classes)}",
            (chance.uniform(0, 0.3), chance.uniform(0, 0.3), 0.0),
            (size,) * 3,
            chance.random(),
            source_id=chance.choice(["", "a", "b"]) if named else "",
        )
        for _ in range(20)
    ]
    kept: list[Detection] = []
    for each in sorted(found, key=lambda detection: -detection.confidence):
        ones = [other for other in kept if is_one(each, other)]
        names = {other.source_id for other in ones if other.source_id}
        if not ones or (each.source_id and names and each.source_id not in names):
            kept.append(each)
    assert distinct(found) == kept


def test_all_of_the_largest_message_become_objects() -> None:
    detections = scene(1000, 50, 20.0, 0.1)
    _, told = observe(SceneGraph("map", [], 1), detections, FIRST, None, FusionSettings())
    assert len(told.new) == len(distinct(detections))
