"""What is cut out of an image: the box that a detector gives, or the one that a 3-D box leads to."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.core.projection import project
from kc_vla.media.images import file_pixels
from kc_vla.memory.images.crop import CropError, PixelBox, cropped, projected_box
from kc_vla.memory.images.observing import PosedImage, put_detections
from kc_vla.memory.images.store import CropLimits, CropStore
from kc_vla.memory.intake import unit_of
from kc_vla.memory.long_term.detections import Detection

WIDTH, HEIGHT = 64, 48
MATRIX = np.array([[60.0, 0.0, 32.0], [0.0, 60.0, 24.0], [0.0, 0.0, 1.0]])
SIDE = st.floats(-200, 200)


def numbered() -> np.ndarray:
    """An image each of whose pixels says where it is."""
    pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    pixels[..., 0], pixels[..., 1] = np.arange(WIDTH)[None], np.arange(HEIGHT)[:, None]
    return pixels


@given(left=SIDE, top=SIDE, wide=st.floats(0.01, 200), high=st.floats(0.01, 200), margin=st.floats(0, 1))
@tried(200, 2000)
def test_a_crop_is_the_part_of_the_image_in_the_box(
    left: float, top: float, wide: float, high: float, margin: float
) -> None:
    box = PixelBox(left, top, left + wide, top + high)
    inside = left < WIDTH and top < HEIGHT and left + wide > 0 and top + high > 0
    if not inside:
        with pytest.raises(CropError, match="nothing of the box"):
            cropped(numbered(), box, margin)
        return
    cut = cropped(numbered(), box, margin)
    first, last = cut[0, 0], cut[-1, -1]
    across, down = margin * (box.right - left), margin * (box.bottom - top)
    assert first[0] == max(0, math.floor(left - across))
    assert first[1] == max(0, math.floor(top - down))
    assert last[0] == min(WIDTH, math.ceil(box.right + across)) - 1
    assert last[1] == min(HEIGHT, math.ceil(box.bottom + down)) - 1
    assert cut.shape[:2] == (last[1] - first[1] + 1, last[0] - first[0] + 1)


@pytest.mark.parametrize(
    "image",
    [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3), np.uint8)],
)
def test_what_is_no_rgb_image_is_refused(image: np.ndarray) -> None:
    with pytest.raises(CropError, match="give RGB of uint8"):
        cropped(image, PixelBox(0, 0, 2, 2))


@pytest.mark.parametrize("box", [(float("nan"), 0, 2, 2), (0, 0, float("inf"), 2), (5, 5, 5, 9), (9, 9, 5, 5)])
def test_what_is_no_box_is_refused_in_a_line(box: tuple[float, float, float, float]) -> None:
    with pytest.raises(CropError, match=r"no number|nothing of the box") as caught:
        cropped(numbered(), PixelBox(*box))
    assert "\n" not in str(caught.value)


NUMBER = st.floats(-2, 2)


@given(
    middle=st.tuples(NUMBER, NUMBER, st.floats(-1, 4)),
    size=st.tuples(*[st.floats(0.01, 1.5)] * 3),
    turn=st.tuples(*[st.floats(-1, 1)] * 4),
    camera=st.tuples(NUMBER, NUMBER, NUMBER),
    camera_turn=st.tuples(*[st.floats(-1, 1)] * 4),
    inside=st.tuples(*[st.floats(-0.5, 0.5)] * 3),
)
@tried(300, 3000)
def test_each_point_of_an_object_that_is_in_the_image_is_in_its_box(
    middle: tuple[float, ...],
    size: tuple[float, ...],
    turn: tuple[float, ...],
    camera: tuple[float, ...],
    camera_turn: tuple[float, ...],
    inside: tuple[float, ...],
) -> None:
    assume(np.linalg.norm(turn) > 0.1 and np.linalg.norm(camera_turn) > 0.1)
    view = pose_matrix(camera, camera_turn)
    pose = view @ pose_matrix(middle, turn)
    point = pose[:3, :3] @ (np.array(inside) * size) + pose[:3, 3]
    (pixel,), (depth,) = project(point[None], view, MATRIX)
    shown = depth > 0.02 and (pixel >= 0).all() and (pixel < (WIDTH, HEIGHT)).all()
    try:
        left, top, right, bottom = projected_box(pose, size, view, MATRIX, (WIDTH, HEIGHT))
    except CropError:
        assert not shown
        return
    assert 0 <= left < right <= WIDTH
    assert 0 <= top < bottom <= HEIGHT
    assert not shown or (left <= pixel[0] <= right and top <= pixel[1] <= bottom)


def test_a_box_that_is_drawn_is_cut_out_as_it_was_drawn() -> None:
    pose = pose_matrix((0.1, -0.05, 2.0), (0.0, 0.0, 0.0, 1.0))
    size = (0.41, 0.29, 1e-6)
    left, top = 32 + 60 * (0.1 - 0.205) / 2, 24 + 60 * (-0.05 - 0.145) / 2
    right, bottom = 32 + 60 * (0.1 + 0.205) / 2, 24 + 60 * (-0.05 + 0.145) / 2
    assert projected_box(pose, size, np.eye(4), MATRIX, (WIDTH, HEIGHT)) == (
        math.floor(left),
        math.floor(top),
        math.ceil(right),
        math.ceil(bottom),
    )


def test_what_is_behind_the_camera_or_beside_the_image_has_no_box() -> None:
    size = (0.1, 0.1, 0.1)
    for place, why in (((0, 0, -1), "behind the camera"), ((9, 0, 1), "nothing of the box")):
        with pytest.raises(CropError, match=why):
            projected_box(pose_matrix(place, (0, 0, 0, 1)), size, np.eye(4), MATRIX, (WIDTH, HEIGHT))
    with pytest.raises(CropError, match="not finite"):
        projected_box(np.full((4, 4), np.nan), size, np.eye(4), MATRIX, (WIDTH, HEIGHT))


def test_what_the_camera_is_inside_of_fills_its_image() -> None:
    pose = pose_matrix((0, 0, 0), (0, 0, 0, 1))
    assert projected_box(pose, (2, 2, 2), np.eye(4), MATRIX, (WIDTH, HEIGHT)) == (0, 0, WIDTH, HEIGHT)


def test_each_detection_that_is_in_the_image_gets_a_crop_of_what_is_there() -> None:
    pixels = np.full((HEIGHT, WIDTH, 3), 90, np.uint8)
    pixels[18:30, 8:20], pixels[18:30, 44:56] = (220, 30, 30), (30, 30, 220)  # 2 m away, 0.6 m left and right
    seen = [
        Detection("mug", (-0.6, 0.0, 2.0), (0.4, 0.4, 1e-3), source_id="red"),
        Detection("mug", (0.6, 0.0, 2.0), (0.4, 0.4, 1e-3), source_id="blue"),
        Detection("mug", (9.0, 0.0, 2.0), (0.4, 0.4, 1e-3), source_id="beside"),
        Detection("mug", (0.0, 0.0, 2.0), (0.4, 0.4, 1e-3)),
    ]
    store = CropStore(None, CropLimits(margin=0.0))
    references, refused = put_detections(store, seen, 5.0, PosedImage(pixels, np.eye(4), MATRIX))
    assert references.keys() == {"red", "blue"}
    assert store.stamp("red") == 5.0
    for name, channel in (("red", 0), ("blue", 2)):
        middle = file_pixels(store.read(references[name])).mean(axis=(0, 1))
        assert middle[channel] == max(middle) > 180
    assert len(refused) == 1
    assert refused[0].startswith("no crop of 'beside': nothing of the box (")


def test_a_crop_that_the_detector_gives_is_taken_before_what_a_camera_shows() -> None:
    green = cv2.imencode(".png", np.full((20, 30, 3), (0, 200, 0), np.uint8))[1].tobytes()
    place, size = (0.0, 0.0, 2.0), (0.4, 0.4, 0.1)
    seen = [
        Detection("mug", place, size, source_id="given", image=green),
        Detection("mug", place, size, source_id="shown"),
        Detection("mug", place, size, source_id="broken", image=b"no image"),
    ]
    store, red = CropStore(), np.full((HEIGHT, WIDTH, 3), (200, 0, 0), np.uint8)
    references, refused = put_detections(store, seen, 5.0, PosedImage(red, np.eye(4), MATRIX))
    shown = {name: file_pixels(store.read(each)).mean(axis=(0, 1)).argmax() for name, each in references.items()}
    assert shown == {"given": 1, "shown": 0}
    assert len(refused) == 1
    assert "no crop of 'broken'" in refused[0]
    assert put_detections(CropStore(), seen[1:2], 5.0) == ({}, [])
    assert unit_of(seen[0], "map", 5_000_000_000, image=references["given"]).image == references["given"]
