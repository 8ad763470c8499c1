"""Where the objects of an image are: from depth, without it, and what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from box_scene import ABOVE, HEIGHT, MATRIX, WIDTH, Camera, Thing, looking, off, on_table
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame, CameraFrameError
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.localization import Localizer, LocalizerSettings, Located

SOLIDS = [
    ("mug", (0.08, 0.08, 0.1), True),
    ("carton", (0.06, 0.1, 0.06), False),
    ("plate", (0.18, 0.18, 0.03), True),
    ("can", (0.065, 0.065, 0.12), True),
]
PLACES = st.tuples(st.floats(-0.2, 0.2), st.floats(-0.25, 0.25))
EYES = st.tuples(st.floats(0.3, 0.6), st.floats(-0.4, 0.4), st.floats(0.4, 0.8))
LENS = [-0.2, 0.05, 0.001, -0.001, 0.0]


def thing_of(number: int, place: tuple[float, float]) -> Thing:
    kind, size, round_ = SOLIDS[number]
    return on_table(kind, *place, size, round=round_)


def is_whole(box: PixelBox) -> bool:
    return min(box.left, box.top, WIDTH - box.right, HEIGHT - box.bottom) > 1


def seen_once(camera: Camera, *things: Thing, settings: LocalizerSettings | None = None, **changed: object) -> Located:
    frame, found = camera.take(things)
    return Localizer(settings).locate(frame, [replace(each, **changed) for each in found])  # type: ignore[arg-type]


@tried(40, 400)
@given(st.sampled_from(range(4)), PLACES, EYES, st.integers(0, 99), st.booleans())
def test_noisy_depth_gives_the_place_within_three_centimeters(
    number: int, place: tuple[float, float], eye: tuple[float, float, float], seed: int, sized: bool
) -> None:
    thing = thing_of(number, place)
    camera = Camera(looking(eye), random=np.random.default_rng(seed), noise=0.004, unknown=0.2)
    changed = {} if sized else {"size": None}
    (found,) = seen_once(camera, thing, **changed).objects
    assert off(found.position, thing.position) < 4.0 * found.sigma_m
    assert "position" not in found.attributes
    if is_whole(found.box):  # otherwise the rim of the image cuts it, and its middle may be outside
        assert off(found.position, thing.position) < (0.02 if sized else 0.035)
        across = math.hypot(*thing.size[:2]) - min(thing.size[:2])  # a carton that is seen from a corner
        gap = max(abs(one - other) for one, other in zip(found.size, thing.size, strict=True))
        assert gap < (0.04 if sized else max(0.06, across + 0.02))


@tried(40, 400)
@given(st.sampled_from(range(4)), PLACES, EYES, st.booleans())
def test_without_depth_the_table_gives_the_place_and_the_object_says_so(
    number: int, place: tuple[float, float], eye: tuple[float, float, float], sized: bool
) -> None:
    thing, camera = thing_of(number, place), Camera(looking(eye), with_depth=False)
    frame, (detection,) = camera.take([thing])
    if not sized:
        detection = replace(detection, size=None)
    (found,) = Localizer().locate(frame, [detection]).objects
    assert off(found.position, thing.position) < (0.005 if sized else 0.07)
    assert found.attributes["position"] == "on the support surface"
    assert found.confidence < detection.confidence
    measured = Camera(looking(eye)).take([thing])
    assert found.sigma_m > Localizer().locate(measured[0], [measured[1][0]]).objects[0].sigma_m


@given(st.sampled_from(range(4)), PLACES, EYES)
def test_a_known_size_gives_the_distance_where_nothing_else_does(
    number: int, place: tuple[float, float], eye: tuple[float, float, float]
) -> None:
    thing = thing_of(number, place)
    settings = LocalizerSettings(support_m=None, lowest_m=None, sizes={"Can": SOLIDS[3][1], thing.kind: thing.size})
    (found,) = seen_once(
        Camera(looking(eye, thing.position), with_depth=False), thing, settings=settings, size=None
    ).objects
    assert off(found.position, thing.position) < 0.3 * math.dist(eye, thing.position)
    assert off(found.position, thing.position) < 4.0 * found.sigma_m
    assert found.attributes["position"] == "by its known size"


def test_without_depth_table_and_size_there_is_no_place() -> None:
    settings = LocalizerSettings(support_m=None)
    located = seen_once(Camera(with_depth=False), thing_of(0, (0.0, 0.0)), settings=settings, size=None)
    assert located.objects == []
    assert "no known size" in located.refused[0]


def test_what_a_detector_knows_itself_comes_first() -> None:
    thing = thing_of(0, (0.0, 0.1))
    inside = ABOVE[:3, :3].T @ (np.array((0.1, 0.2, 0.3)) - ABOVE[:3, 3])
    (found,) = seen_once(Camera(), thing, position=tuple(inside)).objects
    np.testing.assert_allclose(found.position, (0.1, 0.2, 0.3))
    (estimated,) = seen_once(Camera(with_depth=False), thing, depth_m=0.4).objects
    assert (np.array(estimated.position) - ABOVE[:3, 3]) @ ABOVE[:3, 2] == pytest.approx(0.4)
    assert estimated.attributes["position"] == "by the detector's depth"
    (plain,) = seen_once(Camera(), thing, depth_m=0.4).objects
    assert off(plain.position, thing.position) < 0.02, "a depth that is measured is worth more than an estimate"
    (whole,) = seen_once(Camera(), thing, depth_m=0.4, depth_measured=True).objects
    assert off(whole.position, thing.position) < 0.02, "the depth image shows how it stands"
    large = on_table("counter", 0.0, 0.1, (0.3, 0.3, 0.1))
    (seen,) = seen_once(Camera(), large, depth_m=0.4, depth_measured=True).objects
    assert (np.array(seen.position) - ABOVE[:3, 3]) @ ABOVE[:3, 2] == pytest.approx(0.4), "it has used the depth itself"
    assert "position" not in seen.attributes


def test_a_thing_that_is_found_twice_hides_nothing_of_itself() -> None:
    mug = thing_of(0, (0.0, 0.1))
    frame, (found,) = Camera().take([mug])
    left, top, right, bottom = found.box
    twin = replace(found, object_type="cup", box=PixelBox(left + 1, top, right, bottom - 2), confidence=0.3)
    for each in Localizer().locate(frame, [found, twin]).objects:
        assert each.shape is not None
        assert off(each.position, mug.position) < 0.02


def test_a_thing_that_a_detector_places_too_deep_stands_on_its_support() -> None:
    can, carton = thing_of(3, (0.0, 0.0)), on_table("carton", 0.06, 0.03, (0.03, 0.06, 0.14))
    frame, (found, before) = Camera().take([can, carton])
    deep_m = float((np.array(can.position) - ABOVE[:3, 3]) @ ABOVE[:3, 2]) + 0.1
    seen, _ = Localizer().locate(frame, [replace(found, depth_m=deep_m, depth_measured=True), before]).objects
    assert off(seen.position, can.position) < 0.02


def test_the_background_and_unknown_pixels_are_not_the_object() -> None:
    """A ring of 40 % of the box at 0.5 m, before a wall at 0.9 m, with stray pixels and holes."""
    depth = np.full((HEIGHT, WIDTH), 0.9, np.float32)
    depth[40:80, 60:76] = 0.5
    depth[40:80:3, 60:76:2] = np.nan
    depth[41:80:7, 60:76:5] = 0.0
    depth[60, 68] = 0.1
    frame = CameraFrame("c", 1, np.zeros((HEIGHT, WIDTH, 3), np.uint8), MATRIX, np.eye(4), depth)
    seen = ImageDetection("mug", PixelBox(60, 40, 100, 80), 0.9, center=(70.0, 60.0), size=(0.08, 0.08, 0.08))
    (found,) = Localizer(LocalizerSettings(support_m=None, lowest_m=None)).locate(frame, [seen]).objects
    assert found.position[2] == pytest.approx(0.54, abs=0.01)


def test_what_another_object_hides_is_not_measured_on_that_one() -> None:
    behind, before = on_table("carton", -0.12, 0.0, (0.1, 0.1, 0.1)), on_table("can", 0.05, 0.03, (0.06, 0.06, 0.14))
    camera = Camera(looking((0.6, 0.02, 0.35)))
    first = seen_once(camera, behind, before).objects[0]
    assert first.object_type == "carton"
    assert off(first.position, behind.position) < 0.03


def test_a_camera_that_looks_into_a_bowl_finds_it_on_the_table() -> None:
    size = (0.16, 0.16, 0.07)
    depth = np.full((HEIGHT, WIDTH), 0.7, np.float32)
    depth[45:75, 65:95] = 0.69  # its bottom, a centimeter thick
    frame = CameraFrame("c", 1, np.zeros((HEIGHT, WIDTH, 3), np.uint8), MATRIX, looking((0.0, 0.0, 0.7)), depth)
    seen = ImageDetection("bowl", PixelBox(62, 42, 97, 77), 0.9, size=size)
    (found,) = Localizer().locate(frame, [seen]).objects
    assert found.position[2] == pytest.approx(0.035, abs=0.005)


def test_a_distorting_lens_changes_no_place() -> None:
    things = [thing_of(0, (-0.1, 0.25)), thing_of(1, (0.15, -0.22))]
    for camera in (Camera(model="plumb_bob", distortion=LENS), Camera(with_depth=False, distortion=LENS)):
        for found, thing in zip(seen_once(camera, *things).objects, things, strict=True):
            assert off(found.position, thing.position) < 0.015
    frame, seen = Camera().take(things)
    with pytest.raises(CameraFrameError, match=r"'fov' is not known: give camera_info of plumb_bob"):
        Localizer().locate(replace(frame, distortion_model="fov"), seen)


@pytest.mark.parametrize(
    ("factor", "told"),
    [(1000.0, "millimeters"), (0.001, "its unit is wrong"), (0.0, "is empty"), (math.nan, "is empty")],
)
@pytest.mark.parametrize("support_m", [0.0, None])
def test_a_depth_image_of_another_unit_is_refused_in_a_line_and_does_not_count(
    factor: float, told: str, support_m: float | None
) -> None:
    thing = thing_of(0, (0.0, 0.1))
    frame, found = Camera().take([thing])
    assert frame.depth_m is not None
    settings = LocalizerSettings(support_m=support_m)
    located = Localizer(settings).locate(replace(frame, depth_m=np.float32(factor) * frame.depth_m), found)
    (line,) = located.refused
    assert "'third_person'" in line
    assert told in line
    assert "\n" not in line
    assert located.frame.depth_m is None
    (mug,) = located.objects
    assert mug.attributes["position"]
    assert off(mug.position, thing.position) < (0.01 if support_m is not None else 0.2)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"position": (0.0, 0.0, 1.5)}, "below the lowest place"),
        ({"position": (0.0, 0.0, 0.03)}, "nearer than 0.05 m"),
        ({"position": (0.0, 0.0, -0.5)}, "nearer"),
        ({"position": (0.0, -3.0, 3.0)}, "outside of the workspace"),
        ({"position": (0.0, -8.0, 9.0)}, "farther than 4.0 m"),
        ({"position": (math.nan, 0.0, 1.0)}, "not finite"),
        ({"confidence": 1.5}, "0..1"),
        ({"box": PixelBox(10, 10, 10, 20)}, "no area"),
        ({"box": PixelBox(10, math.nan, 10, 20)}, "not finite"),
        ({"size": (-0.1, 0.1, 0.1)}, "negative"),
        ({"object_type": "m" * 1000}, "its type"),
    ],
)
def test_what_cannot_be_is_left_out_with_its_reason(changed: dict[str, object], told: str) -> None:
    settings = LocalizerSettings(lower=(-1.0, -1.0, -1.0), upper=(1.0, 1.0, 1.0))
    frame, (good,) = Camera().take([thing_of(0, (0.0, 0.1))])
    located = Localizer(settings).locate(frame, [replace(good, **changed), good])  # type: ignore[arg-type]
    assert len(located.objects) == 1
    (line,) = located.refused
    assert told in line
    assert line.startswith("detection 1")
    assert len(line) < 300


def test_a_flood_is_cut_with_one_line() -> None:
    frame, (good,) = Camera().take([thing_of(0, (0.0, 0.1))])
    located = Localizer().locate(frame, [replace(good, confidence=0.3)] * 999 + [good])
    assert len(located.objects) == 200
    assert max(each.confidence for each in located.objects) == good.confidence
    assert located.refused == ["1000 detections in one image: the surest 200 are taken; check the detector"]
