"""What a message says was in view: what ought to be there and was not seen leaves both memories, nothing else does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from box_scene import ABOVE, FRAME_NS, Camera, Thing, looking, on_table
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from region_messages import FRAME, region_message, report

from kc_vla.core.mounted_camera import MountedCamera
from kc_vla.memory.embedding.models import open_embedder
from kc_vla.memory.images.crop import PixelBox
from kc_vla.memory.intake import Intake, Taken
from kc_vla.memory.live_scene import LiveScene
from kc_vla.memory.live_units import LiveUnits
from kc_vla.memory.long_term.building import observe
from kc_vla.memory.long_term.detections import Detection, FusionSettings
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.short_term.memory import ShortTermMemory, UnitEvent
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.seen_region import region_of

S = 10**9
BEGIN_NS = 1_800_000_000 * S
MUG = (0.08, 0.08, 0.1)
SHAPES = [MUG, (0.18, 0.18, 0.03), (0.06, 0.1, 0.06), (0.1, 0.2, 0.04)]
EMBEDDER = cache(open_embedder)


def seen_as(thing: Thing, name: str = "mug_1", **fields: Any) -> LocatedObject:
    box = PixelBox(0.0, 0.0, 1.0, 1.0)
    return LocatedObject(
        thing.kind, thing.position, thing.size, 0.95, 0.005, box, thing.state, object_id=name, **fields
    )


def in_view(camera: Camera, *things: Thing) -> Any:
    """Return the region message of an image of things."""
    frame, _ = camera.take(things)
    return region_message(region_of(frame, 4.0))


@dataclass
class Both:
    """Both memories behind one intake."""

    folder: Path
    intake: Intake = field(default_factory=lambda: Intake(FRAME))
    now_ns: int = BEGIN_NS
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scene = LiveScene(self.folder / "memory.db", "home")
        self.units = LiveUnits(ShortTermMemory(20), EMBEDDER())
        self.removed: list[str] = []

    def look(self, objects: Sequence[LocatedObject] = (), regions: Sequence[Any] = ()) -> Taken:
        self.now_ns += FRAME_NS
        taken = self.intake.take(report(self.now_ns, objects, regions))
        self.scene.take(taken, self.now_ns)
        heard = self.units.take(taken, FRAME, self.now_ns)
        self.removed += [each.standing.unit.object_id for each in heard.news if each.happened is UnitEvent.REMOVED]
        self.refused += taken.refused
        return taken

    def known(self) -> tuple[set[str], set[str]]:
        """Return the ids that the scene graph has, and those of the short-term memory."""
        return {each.source_id for each in self.scene.graph().known()}, {each.object_id for each in self.units.units()}


@pytest.fixture
def both(tmp_path: Path) -> Both:
    return Both(tmp_path)


TABLE_MUG = on_table("mug", 0.0, 0.1, MUG)


@pytest.mark.parametrize("with_depth", [True, False])
def test_an_old_place_that_is_seen_empty_is_claimed_no_more(both: Both, with_depth: bool) -> None:
    camera, other = Camera(with_depth=with_depth), on_table("can", 0.0, -0.1, MUG)
    for _ in range(3):
        both.look([seen_as(TABLE_MUG), seen_as(other, "can_1")], [in_view(camera, TABLE_MUG, other)])
    for _ in range(2):
        both.look([seen_as(other, "can_1")], [in_view(camera, other)])
    assert both.known() == ({"mug_1", "can_1"}, {"mug_1", "can_1"})  # a detector misses one now and then
    for _ in range(3):
        both.look([seen_as(other, "can_1")], [in_view(camera, other)])
    assert both.known() == ({"can_1"}, {"can_1"})
    assert both.removed == ["mug_1"]
    late = both.intake.take(report(both.now_ns - 2 * FRAME_NS, [seen_as(TABLE_MUG)], []))
    both.units.take(late, FRAME, both.now_ns)
    assert "mug_1" not in both.known()[1]
    both.look([seen_as(TABLE_MUG.at(0.2, 0.1))], [in_view(camera, TABLE_MUG.at(0.2, 0.1))])
    assert "mug_1" in both.known()[1]


def test_without_a_region_nothing_follows_from_what_was_not_seen(both: Both) -> None:
    both.look([seen_as(TABLE_MUG)])
    for _ in range(20):
        both.look()
    assert both.known() == ({"mug_1"}, {"mug_1"})


@pytest.mark.parametrize("what", ["hand", "wall", "away", "undetected", "far"])
def test_what_is_hidden_out_of_view_or_still_there_stays(both: Both, what: str) -> None:
    camera = Camera(looking((0.5, 0.0, 0.6), (2.0, 0.0, 0.0)) if what == "away" else ABOVE)
    both.look([seen_as(TABLE_MUG)], [in_view(camera, TABLE_MUG)])
    before = {
        "hand": [Thing("hand", (0.15, 0.08, 0.25), (0.15, 0.15, 0.1))],
        "wall": [Thing("wall", (0.3, 0.0, 0.3), (0.02, 1.0, 0.6))],
    }.get(what, [])
    things = [TABLE_MUG, *before]
    for _ in range(10):
        region = in_view(camera, *(before if what in ("hand", "wall") else things))
        if what == "far":
            region.farthest = 0.3
        both.look([], [region])
    assert both.known() == ({"mug_1"}, {"mug_1"})


def test_without_depth_what_stands_before_a_place_hides_it(both: Both) -> None:
    low = Camera(looking((0.8, 0.1, 0.15), (0.0, 0.1, 0.05)), with_depth=False)
    carton = on_table("carton", 0.3, 0.1, (0.1, 0.2, 0.2))
    both.look([seen_as(TABLE_MUG), seen_as(carton, "carton_1")])
    for _ in range(10):
        both.look([seen_as(carton, "carton_1")], [in_view(low, carton)])
    assert both.known()[0] == both.known()[1] == {"mug_1", "carton_1"}
    for _ in range(6):
        both.look([seen_as(carton.at(0.3, -0.2), "carton_1")], [in_view(low)])
    assert both.known()[0] == both.known()[1] == {"carton_1"}


@tried(30, 400)
@given(
    st.sampled_from(SHAPES),
    st.tuples(st.floats(0.3, 0.6), st.floats(-0.3, 0.3), st.floats(0.4, 0.8)),
    st.integers(0, 999),
    st.booleans(),
)
def test_flat_things_and_noise(
    size: tuple[float, float, float], eye: tuple[float, float, float], seed: int, reduced: bool
) -> None:
    """Depth with 4 mm of noise at a meter, of the whole image or reduced: gone is gone, and there is there."""
    random = np.random.default_rng(seed)
    camera = Camera(looking(eye), random=random, noise=0.004, unknown=0.1)
    thing = on_table("thing", 0.0, 0.05, size)
    for there in (True, False):
        graph, now_ns, missed = SceneGraph("home"), BEGIN_NS, 0
        change, _ = observe(graph, [_detected(thing, random)], now_ns, None, FusionSettings())
        graph.apply(change)
        for _ in range(6):
            now_ns += FRAME_NS
            frame, _ = camera.take([thing] if there else [])
            region = region_of(frame, 4.0)
            if not reduced:
                assert frame.depth_m is not None
                depth = np.nan_to_num(1000.0 * frame.depth_m).astype(np.uint16)
                region = replace(region, depth_mm=depth)
            view = Intake(FRAME).take(report(now_ns, [], [region_message(region)])).view
            change, told = observe(graph, [], now_ns, view, FusionSettings())
            missed += len(told.missed)
        assert missed <= 1 if there else missed >= 5


def _detected(thing: Thing, random: np.random.Generator) -> Detection:
    x, y, z = (np.array(thing.position) + 0.003 * random.standard_normal(3)).tolist()
    return Detection(thing.kind, (x, y, z), thing.size)


# -- what is shut in ----------------------------------------------------------------------------------------------

DRAWER = Thing("drawer", (-0.2, 0.0, 0.1), (0.3, 0.3, 0.16), "closed")
INSIDE = Thing("mug", (-0.2, 0.0, 0.1), (0.08, 0.08, 0.08))
IN_DRAWER = {"attributes": {"place": "in drawer_1"}}


@pytest.mark.parametrize("with_depth", [True, False])
def test_a_look_at_a_closed_drawer_refutes_nothing_in_it(both: Both, with_depth: bool) -> None:
    camera = Camera(with_depth=with_depth)
    drawer = seen_as(DRAWER, "drawer_1")
    both.look([drawer, seen_as(INSIDE, **IN_DRAWER)])
    for _ in range(15):
        both.look([drawer], [in_view(camera, DRAWER)])
    assert both.known()[0] == both.known()[1] == {"mug_1", "drawer_1"}


def test_a_look_into_an_open_drawer_refutes_what_is_not_in_it(both: Both) -> None:
    bottom = Thing("bottom", (-0.2, 0.0, 0.02), (0.3, 0.3, 0.02))
    drawer = seen_as(replace(DRAWER, state="opened"), "drawer_1")
    both.look([drawer, seen_as(INSIDE, **IN_DRAWER)])
    for _ in range(6):
        both.look([drawer], [in_view(Camera(looking((0.2, 0.0, 0.7), (-0.2, 0.0, 0.0))), bottom)])
    assert both.known()[0] == both.known()[1] == {"drawer_1"}


def test_depth_that_goes_into_a_drawer_counts_more_than_its_state(both: Both) -> None:
    bottom = Thing("bottom", (-0.2, 0.0, 0.02), (0.3, 0.3, 0.02))
    drawer = seen_as(DRAWER, "drawer_1")  # it is said to be closed
    both.look([drawer, seen_as(INSIDE, **IN_DRAWER)])
    for _ in range(6):
        both.look([drawer], [in_view(Camera(looking((0.2, 0.0, 0.7), (-0.2, 0.0, 0.0))), bottom)])
    assert both.known()[0] == both.known()[1] == {"drawer_1"}


def test_what_moved_with_a_drawer_that_was_shut_fast_is_not_refuted_before_it(both: Both) -> None:
    camera = Camera(looking((0.4, 0.1, 0.6), (0.0, 0.0, 0.1)))
    for _ in range(12):
        both.look([seen_as(DRAWER, "drawer_1"), seen_as(INSIDE, **IN_DRAWER)])
    for x in (-0.1, 0.0, 0.05):
        opened = replace(DRAWER, position=(x, 0.0, 0.1), state="opened")
        inside = replace(INSIDE, position=(x, 0.0, 0.1))
        both.look([seen_as(opened, "drawer_1"), seen_as(inside, **IN_DRAWER)])
    for _ in range(6):  # seen neither while it went in nor afterwards
        both.look([seen_as(DRAWER, "drawer_1")], [in_view(camera, DRAWER)])
    assert "mug_1" in both.known()[0]
    drawer = both.scene.graph().named("drawer_1")
    assert drawer is not None
    assert abs(drawer.position[0] - DRAWER.position[0]) < 0.02


def test_a_drawer_that_is_closed_in_this_very_message_hides_what_is_in_it(both: Both) -> None:
    opened = seen_as(replace(DRAWER, state="opened"), "drawer_1")
    both.look([opened, seen_as(INSIDE, **IN_DRAWER)])
    both.look([opened, seen_as(INSIDE, **IN_DRAWER)])
    before = both.scene.graph().named("mug_1")
    both.look([seen_as(DRAWER, "drawer_1")], [in_view(Camera(with_depth=False))])
    after = both.scene.graph().named("mug_1")
    assert before is not None
    assert after is not None
    assert after.confidence == before.confidence


# -- what of a message is believed --------------------------------------------------------------------------------


def broken(change: Callable[[Any], None]) -> Any:
    region = in_view(Camera())
    change(region)
    return region


def _set(**values: Any) -> Callable[[Any], None]:
    def change(region: Any) -> None:
        for name, value in values.items():
            setattr(region, name, value)

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda region: setattr(region.pose.position, "x", math.nan), "not finite"),
        (lambda region: setattr(region.pose.orientation, "w", 9.0), "no unit quaternion"),
        (_set(k=np.zeros(9)), "its intrinsic matrix is none"),
        (_set(k=np.full(9, math.inf)), "not finite"),
        (_set(farthest=math.nan), "not finite"),
        (_set(farthest=-1.0), "ends before the camera"),
        (_set(width=0), "an image of 0x120 px"),
        (_set(width=2**31), "an image of 2147483648x120 px"),
        (_set(depth_width=63), "3072 depths, and it says 63x48"),
        (_set(width=32, height=24), "64x48 depths for an image of 32x24 px"),
    ],
)
def test_a_region_that_cannot_be_costs_one_line_and_the_detections_count(
    both: Both, change: Callable[[Any], None], told: str
) -> None:
    both.look([seen_as(TABLE_MUG)])
    taken = both.look([seen_as(on_table("can", 0.0, -0.1, MUG), "can_1")], [in_view(Camera()), broken(change)])
    (line,) = taken.refused
    assert line.startswith("what was in view is left out: region 2: ")
    assert told in line
    assert len(line) < 200
    assert taken.view is None
    assert both.known()[0] == {"mug_1", "can_1"}


def test_too_many_regions_are_left_out_and_some_are_joined(both: Both) -> None:
    away = Camera(looking((0.5, 0.0, 0.6), (2.0, 0.0, 0.0)))
    both.look([seen_as(TABLE_MUG)])
    assert both.look([], [in_view(Camera())] * 9).refused == [
        "what was in view is left out: 9 regions in one message: 8 are the most"
    ]
    for _ in range(6):
        both.look([], [in_view(away), in_view(Camera())])
    assert both.known() == (set(), set())


def test_regions_come_in_the_frame_of_the_message(both: Both) -> None:
    """The camera looks from `ABOVE`; the message is in its own frame, where the camera is at the origin."""
    both.intake = Intake(FRAME, MountedCamera("optical", ABOVE, False))
    both.look([seen_as(TABLE_MUG)])
    region = in_view(Camera())
    region.pose = type(region.pose)()
    for _ in range(6):
        both.now_ns += FRAME_NS
        taken = both.intake.take(report(both.now_ns, [], [region], frame="optical"))
        both.scene.take(taken, both.now_ns)
        both.units.take(taken, FRAME, both.now_ns)
    assert both.known() == (set(), set())


def test_a_message_of_before_there_were_regions_is_taken() -> None:
    new = report(BEGIN_NS, [seen_as(TABLE_MUG)], [])
    old = SimpleNamespace(header=new.header, episode_id="e", detections=new.detections)
    taken = Intake(FRAME).take(old)
    assert (len(taken.detections), taken.view, taken.refused) == (1, None, [])
