"""From images to both memories: what is seen, hidden, taken away, and put into a drawer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from box_scene import FRAME_NS, HEIGHT, WIDTH, Camera, Thing, looking, off, on_table
from region_messages import FRAME, region_message, report

from kc_vla.memory.embedding.models import open_embedder
from kc_vla.memory.intake import Intake
from kc_vla.memory.live_scene import LiveScene
from kc_vla.memory.live_units import LiveUnits
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.localization import Localizer, LocalizerSettings
from kc_vla.perception.perceiver import Perceived, Perceiver
from kc_vla.perception.seen_region import reduced_depth, region_of
from kc_vla.perception.tracking import Tracker

MUG, CAN = (0.08, 0.08, 0.1), (0.065, 0.065, 0.12)
EMBEDDER = cache(open_embedder)


@dataclass
class ScriptedDetector:
    """An `ObjectDetector` that reports what a scene says of the next image."""

    found: Sequence[ImageDetection] = ()

    def detect(self, frame: CameraFrame) -> Sequence[ImageDetection]:
        """Return what the scene shows."""
        return self.found

    def close(self) -> None:
        """Do nothing."""


@dataclass
class Robot:
    """A camera, perception, and both memories."""

    folder: Path
    camera: Camera = field(default_factory=Camera)
    now_ns: int = 1_800_000_000 * 10**9

    def __post_init__(self) -> None:
        self.detector = ScriptedDetector()
        self.perceiver = Perceiver(self.detector, Localizer(), Tracker())
        self.scene = LiveScene(self.folder / "memory.db", "home")
        self.units = LiveUnits(ShortTermMemory(20), EMBEDDER())
        self.intake = Intake(FRAME)

    def look(self, *things: Thing, whole: Thing | None = None) -> Perceived:
        """Take an image; `whole` is what the detector knows in 3-D itself."""
        self.now_ns += FRAME_NS
        self.camera.at_ns = self.now_ns
        frame, found = self.camera.take(things)
        if whole is not None:
            _, (seen,) = Camera(self.camera.pose).take([whole])
            x, y, z = ((np.array(whole.position) - frame.pose[:3, 3]) @ frame.pose[:3, :3]).tolist()
            found = [*found, replace(seen, position=(x, y, z))]
        self.detector.found = found
        perceived = self.perceiver.look(replace(frame, stamp_ns=self.now_ns))
        regions = [] if perceived.region is None else [region_message(perceived.region)]
        taken = self.intake.take(report(self.now_ns, perceived.objects, regions))
        assert taken.refused == []
        self.scene.take(taken, self.now_ns)
        self.units.take(taken, FRAME, self.now_ns)
        return perceived

    def places(self) -> dict[str, tuple[float, float, float]]:
        """Return where the scene graph says that things are; both memories know the same ones."""
        known = {each.source_id: each.position for each in self.scene.graph().known()}
        assert set(known) == {each.object_id for each in self.units.units()}
        return known


@pytest.fixture
def robot(tmp_path: Path) -> Robot:
    return Robot(tmp_path)


@pytest.mark.parametrize("with_depth", [True, False])
def test_the_memories_hold_what_is_there_and_not_what_was_taken_away(robot: Robot, with_depth: bool) -> None:
    robot.camera = Camera(with_depth=with_depth, noise=0.003, missed=0.1)
    mug, can = on_table("mug", -0.1, -0.1, MUG), on_table("can", 0.1, 0.1, CAN, round=True)
    for _ in range(15):
        robot.look(mug, can)
    assert set(robot.places()) == {"mug_1", "can_1"}
    assert off(robot.places()["mug_1"], mug.position) < 0.03
    for _ in range(30):
        robot.look(mug.at(0.15, -0.2), can)
    assert set(robot.places()) == {"mug_1", "can_1"}
    assert off(robot.places()["mug_1"], (0.15, -0.2, 0.05)) < 0.03
    for _ in range(30):
        robot.look(can)
    assert set(robot.places()) == {"can_1"}


def test_without_depth_no_region_is_reported_while_nobody_knows_whether_something_is_gone(robot: Robot) -> None:
    robot.camera.with_depth = False
    mug = on_table("mug", 0.0, 0.0, MUG)
    for _ in range(3):
        assert robot.look(mug).region is not None
    looks = [robot.look() for _ in range(12)]
    assert looks[0].region is None
    assert [name for each in looks for name in each.gone] == ["mug_1"]
    assert looks[-1].region is not None
    assert looks[-1].region.depth_mm is None


def test_a_hand_before_a_thing_changes_no_memory(robot: Robot) -> None:
    mug = on_table("mug", 0.0, 0.0, MUG)
    for _ in range(4):
        robot.look(mug)
    hand = Thing("hand", (0.15, 0.0, 0.25), (0.15, 0.15, 0.1), seen=False)
    for _ in range(20):
        robot.look(mug, hand)
    assert set(robot.places()) == {"mug_1"}


def test_what_was_put_into_a_drawer_in_view_is_remembered_in_it(robot: Robot) -> None:
    robot.camera = Camera(looking((0.45, 0.0, 0.6), (-0.1, 0.0, 0.05)))
    can = Thing("can", (-0.1, 0.05, 0.11), CAN, round=True)

    def look(opened_m: float, *things: Thing) -> None:
        x = -0.3 + opened_m
        state = "opened" if opened_m > 0.05 else "closed"
        solids = [
            Thing("wall", (-0.3, 0.0, 0.1), (0.32, 0.5, 0.2), seen=False),
            Thing("bottom", (x, 0.0, 0.03), (0.3, 0.3, 0.02), seen=False),
            Thing("front", (x + 0.15, 0.0, 0.1), (0.02, 0.3, 0.12), seen=False),
        ]
        robot.look(*solids, *things, whole=Thing("drawer", (x, 0.0, 0.1), (0.3, 0.3, 0.14), state))

    for _ in range(5):
        look(0.25, can)
    for step in range(6):
        opened_m = 0.25 - 0.05 * step
        look(opened_m, can.at(can.position[0] - 0.25 + opened_m, 0.05))
    for _ in range(30):
        look(0.0, can.at(-0.35, 0.05))
    places = robot.places()
    assert set(places) == {"can_1", "drawer_1"}
    assert off(places["can_1"], (-0.35, 0.05, 0.11)) < 0.06
    graph = robot.scene.graph()
    known, drawer = graph.named("can_1"), graph.named("drawer_1")
    assert known is not None
    assert drawer is not None
    assert (known.placed, known.holder) == ("in", drawer.id)
    unit = robot.units.unit("can_1")
    assert unit is not None
    assert unit.attributes["place"] == "in drawer_1"


def test_what_is_refused_is_reported_and_the_rest_counts(robot: Robot) -> None:
    robot.perceiver = Perceiver(robot.detector, Localizer(LocalizerSettings(lower=(-0.3, -0.3, -1.0))), Tracker())
    mug = on_table("mug", 0.0, 0.0, MUG)
    frame, found = robot.camera.take([mug])
    assert frame.depth_m is not None
    robot.detector.found = [*found, replace(found[0], box=found[0].box._replace(right=float("nan")))]
    seen = robot.perceiver.look(replace(frame, depth_m=1000 * frame.depth_m))
    depth, box = seen.refused
    assert depth.startswith("the depth image of 'third_person' has a median of 7")
    assert box == "detection 2 is left out: a number of it is not finite"
    assert seen.region is not None
    assert seen.region.depth_mm is None


def test_depth_is_reduced_to_the_least_of_each_block_without_stray_pixels() -> None:
    depth = np.full((480, 640), 1.5, np.float32)
    depth[100:130, 300:340] = 0.7
    depth[250, 400] = 0.2  # a stray pixel
    depth[400:480, :200] = np.nan
    reduced = reduced_depth(depth)
    assert reduced.shape == (48, 64)
    assert reduced.dtype == np.uint16
    assert (reduced[10:13, 30:34] == 700).all()
    assert reduced[25, 40] == 1500
    assert (reduced[40:47, :19] == 0).all()
    assert reduced_depth(np.full((7, 9), 99.0, np.float32)).tolist() == [[65000] * 9] * 7
    odd = np.full((HEIGHT + 1, WIDTH + 3), 1.0, np.float32)
    assert reduced_depth(odd).shape == (48, 64)


@pytest.mark.parametrize(
    ("model", "distortion"), [("plumb_bob", (-0.25, 0.06, 0.0, 0.0, 0.0)), ("equidistant", (0.02, 0.0, 0.0, 0.0))]
)
def test_the_region_of_a_distorting_lens_is_what_a_straight_one_would_see(
    model: str, distortion: tuple[float, ...]
) -> None:
    thing = on_table("mug", -0.25, 0.25, MUG)
    straight, _ = Camera().take([thing])
    bent, _ = Camera(model=model, distortion=distortion).take([thing])
    one, other = region_of(straight, 4.0).depth_mm, region_of(bent, 4.0).depth_mm
    assert one is not None
    assert other is not None
    both = (one > 0) & (other > 0)
    assert both.mean() > 0.7
    without = region_of(replace(bent, distortion=(), distortion_model="plumb_bob"), 4.0).depth_mm
    assert without is not None
    off_mm, bent_mm = (np.abs(one.astype(int) - each.astype(int))[both].mean() for each in (other, without))
    assert off_mm < 0.4 * bent_mm
