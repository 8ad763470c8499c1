"""What the figures of a detector say: precision, recall by visible share, states, colors, and places."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from drawn_detections import WORDS, write_drawn
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.datasets.detections.folder import LabeledImage, LabeledImages, read_images
from kc_vla.datasets.detections.labels import ImageLabel, ObjectLabel
from kc_vla.learning.detector.config import DetectorAugmentation
from kc_vla.learning.detector.evaluation import DetectorFigures, evaluate_detector, located_position
from kc_vla.learning.detector.networks import depth_channels
from kc_vla.learning.detector.samples import Sample, changed_sample
from kc_vla.learning.detector.targets import SampleObject, image_targets
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.image_detection import ImageDetection


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> LabeledImages:
    folder = tmp_path_factory.mktemp("drawn") / "test"
    write_drawn(folder, range(30_000, 30_006), images=2)
    return read_images([folder])


def as_found(label: ObjectLabel, confidence: float = 0.9) -> ImageDetection:
    state = next((state for state in label.states.values()), "")
    return ImageDetection(
        label.object_type,
        label.box,
        confidence,
        state,
        {"colour": label.color},
        center=label.center,
        depth_m=label.position[2],
        depth_measured=True,
    )


def figures_of(images: LabeledImages, change: object = None, depth: bool = True) -> DetectorFigures:
    def detect(image: LabeledImage) -> list[ImageDetection]:
        found = [as_found(each) for each in image.label.objects]
        return change(found) if callable(change) else found

    return evaluate_detector(images, detect, 0.3, 0.1, 1, depth)


def test_a_detector_that_says_the_truth_has_full_marks(images: LabeledImages) -> None:
    figures = figures_of(images)
    assert (figures.mean.at_50, figures.mean.average, figures.mean.low, figures.mean.high) == (1.0, 1.0, 1.0, 1.0)
    assert figures.state_share == 1.0
    assert figures.colors[0] == figures.colors[1] == 24
    assert figures.precise == (24, 24)
    assert figures.recalls[-1] == (24, 24)
    assert figures_of(images, depth=False).errors_mm.max() < 1e-3
    assert np.median(figures.errors_mm) < 5.0


def test_each_mistake_costs_what_it_is_about(images: LabeledImages) -> None:
    chance = np.random.default_rng(0)
    twice = figures_of(images, lambda found: [replace(each, confidence=chance.uniform(0.5, 1)) for each in found * 2])
    assert twice.precise == (24, 48)
    assert twice.mean.at_50 < 0.9
    other = figures_of(images, lambda found: [replace(each, state="sliced") for each in found])
    assert other.state_share < 0.7
    assert other.mean.at_50 == 1.0
    blue = figures_of(images, lambda found: [replace(each, attributes={"colour": "blue"}) for each in found])
    assert 0 < blue.colors[0] < blue.colors[1]
    half = figures_of(images, lambda found: found[:1])
    assert half.recalls[-1] == (12, 24)
    assert half.mean.at_50 < 0.7
    nothing = figures_of(images, lambda found: [])
    assert nothing.mean.at_50 == 0.0
    assert np.isnan(nothing.state_share)


def test_boxes_that_are_off_count_at_loose_overlaps_alone(images: LabeledImages) -> None:
    def moved(found: list[ImageDetection]) -> list[ImageDetection]:
        return [
            replace(each, box=each.box._replace(left=each.box.left + 0.25 * (each.box.right - each.box.left)))
            for each in found
        ]

    figures = figures_of(images, moved)  # an overlap of three quarters
    assert figures.mean.at_50 == 1.0
    assert 0.4 < figures.mean.average < 0.7


def test_what_can_hardly_be_seen_is_neither_asked_for_nor_a_mistake(images: LabeledImages) -> None:
    hidden = LabeledImages(
        WORDS,
        tuple(
            each._replace(
                label=replace(
                    each.label,
                    objects=(replace(each.label.objects[0], visible_share=0.05), *each.label.objects[1:]),
                )
            )
            for each in images.images
        ),
    )
    figures = figures_of(hidden)
    assert figures.mean.objects == 12
    assert figures.precise == (12, 12)
    assert figures_of(hidden, lambda found: found[1:]).mean.at_50 == 1.0


def test_a_place_is_that_of_the_surface_and_how_far_the_middle_is_behind_it() -> None:
    matrix = np.array([[100.0, 0.0, 50.0], [0.0, 100.0, 50.0], [0.0, 0.0, 1.0]])
    found = ImageDetection("ball", PixelBox(60, 40, 80, 60), 0.9, center=(70.0, 50.0), depth_m=1.1)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = [[0, 1, 0], [1, 0, 0], [0, 0, -1]], [0.2, 0.0, 1.5]  # looks down on a table
    label = ImageLabel("", "", "wrist", matrix, pose, (100, 100), ())
    depth = np.full((100, 100), 0.95, np.float32)
    (place,) = located_position(found, label, depth)
    assert 0.95 < place[2] < 1.1, "what a detector says without depth is worth less than a depth that was measured"
    (place,) = located_position(replace(found, depth_measured=True), label, depth)
    assert place == pytest.approx((0.22, 0.0, 1.1)), "it has seen more of the depth than one surface"
    for unknown in (np.zeros_like(depth), None):
        (place,) = located_position(found, label, unknown)
        assert place == pytest.approx((0.22, 0.0, 1.1)), "without depth it is the detector's estimate"


@given(st.integers(0, 2**32 - 1))
def test_boxes_move_with_the_pixels_of_an_augmented_image(seed: int) -> None:
    pixels, depth = np.zeros((64, 64, 3), np.uint8), np.full((64, 64), 0.5, np.float32)
    pixels[20:36, 10:30], depth[20:36, 10:30] = 255, 1.0
    label = ObjectLabel("a", "box", PixelBox(10, 20, 30, 36), 1.0, 320, (20.0, 28.0), (0.0, 0.0, 1.0), (0.1, 0.1, 0.1))
    config = DetectorAugmentation(cutout=0.0, zoom=1.4, without_depth=0.0, depth_noise=0.0)
    sample = Sample(pixels, depth, (SampleObject(label, 1.0, False),))
    changed = changed_sample(sample, config, np.random.default_rng(seed))
    white = changed.pixels[..., 0] > 184  # the color beside the image is darker
    if not changed.objects:
        assert white.sum() < 40
        return
    box = changed.objects[0].label.box
    rows, columns = np.nonzero(white)
    assert box.left == pytest.approx(columns.min(), abs=1.0)
    assert box.right == pytest.approx(columns.max() + 1, abs=1.0)
    assert box.top == pytest.approx(rows.min(), abs=1.0)
    assert box.bottom == pytest.approx(rows.max() + 1, abs=1.0)
    scale = (box.bottom - box.top) / 16
    if box.top > 0 and box.bottom < 64:
        assert changed.objects[0].depth_m == pytest.approx(1 / scale, rel=0.01), "what is larger is nearer"
        assert changed.inverse_depth.max() == pytest.approx(scale, rel=0.01), "and so is its depth"
        near = np.argwhere(changed.inverse_depth > 0.75 * scale)
        assert near.min(axis=0) == pytest.approx((rows.min(), columns.min()), abs=1.0)
        assert near.max(axis=0) == pytest.approx((rows.max(), columns.max()), abs=1.0)


def test_a_share_of_the_images_loses_its_depth_and_what_is_covered_has_none() -> None:
    sample = Sample(np.zeros((64, 64, 3), np.uint8), np.ones((64, 64), np.float32), ())
    chance = np.random.default_rng(3)
    changed = [changed_sample(sample, DetectorAugmentation(zoom=1.0, cutout=1.0), chance) for _ in range(300)]
    without = [each for each in changed if not each.inverse_depth.any()]
    assert 60 < len(without) < 120
    for each in changed:
        if each.inverse_depth.any():
            assert not each.inverse_depth[each.pixels.any(axis=2)].any()
            assert each.inverse_depth[each.inverse_depth > 0].std() < 0.004


def test_lengths_of_targets_are_shares_of_the_depth() -> None:
    box = PixelBox(20, 20, 40, 40)
    label = ObjectLabel("a", "box", box, 1.0, 99, (30.0, 30.0), (0.0, 0.0, 1.2), (0.3, 0.6, 0.9), surface_m=1.08)
    targets = image_targets([SampleObject(label, 1.5, False)], WORDS, 64)
    assert targets.numbers[0, 6:] == pytest.approx([1.5, 0.2, 0.4, 0.6])


def test_a_plane_has_no_relief_and_what_stands_on_it_has() -> None:
    rows, columns = np.mgrid[0:64, 0:64]
    plane = (0.8 + 0.004 * rows + 0.002 * columns).astype(np.float32)
    inner = (slice(None), slice(None), slice(20, 44), slice(20, 44))
    flat = depth_channels(torch.from_numpy(plane[None]))[inner]
    assert flat[0, 1:].abs().max() < 0.05
    plane[30:34, 30:34] *= 1.02
    relief = depth_channels(torch.from_numpy(plane[None]))[0, 1:, 30:34, 30:34]
    assert relief.min() > 0.3, "2 cm at 1 m"
    assert not depth_channels(torch.zeros(1, 64, 64)).any(), "no depth is no relief"


def test_targets_have_a_peak_at_each_middle_and_numbers_from_there() -> None:
    far = ObjectLabel("a", "box", PixelBox(8, 8, 56, 56), 1.0, 99, (32.0, 30.0), (0.0, 0.0, 1.0), (0.1, 0.2, 0.3))
    near = replace(far, object_id="b", object_type="ball", box=PixelBox(30, 30, 42, 42), states={"cut": "sliced"})
    gone = replace(far, object_id="c", box=PixelBox(0, 0, 12, 12))
    objects = [SampleObject(far, 1.0, False), SampleObject(near, 0.5, False), SampleObject(gone, 1.0, True)]
    targets = image_targets(objects, WORDS, 64)
    assert (targets.heat == 1.0).sum() == 2
    assert targets.heat[1, 8, 8] == targets.heat[0, 9, 9] == 1.0
    assert targets.ignored[1, :3, :3].all()
    assert not targets.ignored[0].any()
    assert targets.weights.sum() == pytest.approx(2.0)
    (row,) = np.flatnonzero((targets.cells == (9, 9)).all(axis=1))
    middle = (9 + 0.5) * 4
    assert targets.numbers[row, :4] == pytest.approx([middle - 30, middle - 30, 42 - middle, 42 - middle])
    assert targets.numbers[row, 6] == 0.5
    assert targets.states[row].tolist() == [-1, 1]
