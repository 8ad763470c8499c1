"""What depth shows of things and furniture in rendered kitchens: how things lie, and where handles are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kc_vla.core.splits import seeds_of
from kc_vla.perception.front_record import HANDLE, HINGE, OPENING, FrontRecord
from kc_vla.perception.localization import Localizer
from kc_vla.perception.located_object import LocatedObject
from kc_vla_sim.envs.kitchen import KitchenEnv
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.kitchen.perceiving.camera_frames import camera_frames
from kc_vla_sim.kitchen.perceiving.truth_detector import TruthDetector
from kc_vla_sim.simulator import Simulator

LONG = ("knife", "spoon", "sponge", "bread", "cereal")
_LEAST_SHARE = 0.3


@dataclass
class ShapeErrors:
    """How far off what depth shows is: yaws of long things, degrees, and of furniture in m."""

    yaw: list[float] = field(default_factory=list)
    bar: list[float] = field(default_factory=list)
    hinge: list[float] = field(default_factory=list)
    opening: list[float] = field(default_factory=list)

    def note(self, seen: LocatedObject, true: GroundTruthObject) -> None:
        """Compare an object with the truth."""
        if seen.shape is not None and true.object_type in LONG:
            turned = Rotation.from_quat(true.pose.quaternion).as_matrix()
            if abs(turned[2, 2]) > 0.97:
                longer = turned[:2, int(np.argmax(true.size[:2]))]
                off = seen.shape.yaw - np.arctan2(longer[1], longer[0])
                self.yaw.append(abs(float(np.degrees((off + np.pi / 2) % np.pi - np.pi / 2))))
        if seen.front is None or HANDLE not in true.attributes:
            return
        opened = "opened" in (true.state, true.attributes.get("also"))
        record = FrontRecord()
        record.see(seen.front, opened, seen.position)
        known = record.known(opened, np.array(seen.position), np.array(seen.size)).attributes
        self.bar.append(_gap(known[HANDLE], true.attributes[HANDLE]))
        if HINGE in true.attributes and HINGE in known:
            self.hinge.append(_gap(known[HINGE], true.attributes[HINGE]))
        if opened and HINGE not in true.attributes and OPENING in known:
            self.opening.append(_gap(known[OPENING], true.attributes[OPENING]))


def _gap(one: str, other: str) -> float:
    return float(np.linalg.norm(np.array(one.split(), float) - np.array(other.split(), float)))


def seen_in(seeds: Sequence[int]) -> Iterator[tuple[LocatedObject, GroundTruthObject]]:
    """Yield what the camera beside the arm sees of each kitchen, with the truth; boxes and sizes are true."""
    simulator, detector, localizer = Simulator(256, tour=False, depth=True), TruthDetector(), Localizer()
    for seed in seeds:
        frame = simulator.reset("kitchen", seed)
        detector.show(frame)
        true = {each.object_id: each for each in frame.detections}
        image = next(iter(camera_frames(simulator, frame, depth=True)))
        for each in localizer.locate(image, detector.detect(image)).objects:
            if frame.visible[image.camera][each.object_id].share > _LEAST_SHARE:
                yield each, true[each.object_id]
    simulator.close()


def test_handles_and_openings_are_seen_in_a_depth_image() -> None:
    errors = ShapeErrors()
    for seen, true in seen_in([10]):
        errors.note(seen, true)
    assert len(errors.bar) >= 3  # of a cupboard, a microwave and drawers, the lower one open
    assert max(errors.bar) < 0.012
    assert max(errors.hinge) < 0.02
    assert max(errors.opening) < 0.012


def test_an_open_door_is_seen_to_have_turned_about_the_axis_that_was_seen_before() -> None:
    simulator, detector = Simulator(256, tour=False, depth=True), TruthDetector()
    localizer, record = Localizer(), FrontRecord()
    frame = simulator.reset("kitchen", 0)
    detector.show(frame)
    image = next(iter(camera_frames(simulator, frame, depth=True)))
    found = localizer.locate(image, detector.detect(image)).objects
    shut = next(each for each in found if each.object_type == "cupboard")
    assert shut.front is not None
    record.see(shut.front, False, shut.position)
    world = simulator.environment
    assert isinstance(world, KitchenEnv)
    world.kitchen.unit_of("cupboard").set_openings({"cupboard": 1.4})
    frame = simulator.redrawn(simulator.hold())
    image, _ = localizer.with_valid_depth(next(iter(camera_frames(simulator, frame, depth=True))))
    record.look(image, opened=True)
    true = next(each for each in frame.detections if each.object_id == "cupboard")
    known = record.known(True, np.array(shut.position), np.array(shut.size)).attributes
    simulator.close()
    assert _gap(known[OPENING], true.attributes[OPENING]) < 0.1
    assert _gap(known[HANDLE], true.attributes[HANDLE]) < 0.02


@pytest.mark.nightly
def test_in_twenty_kitchens_handles_are_found_within_millimeters(capsys: pytest.CaptureFixture[str]) -> None:
    errors = ShapeErrors()
    for seen, true in seen_in(seeds_of("development", 20)):
        errors.note(seen, true)
    with capsys.disabled():
        for name, values in vars(errors).items():
            print(f"\n{name}: {len(values)} seen, median {np.median(values):.4f}, 90 % {np.percentile(values, 90):.4f}")
    assert np.median(errors.yaw) < 3.0
    assert np.median(errors.bar) < 0.008
    assert np.median(errors.hinge) < 0.01
    assert np.median(errors.opening) < 0.01
