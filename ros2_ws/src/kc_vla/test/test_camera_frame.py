"""Which part of an image some points cover, and which of its pixels belong together."""

from __future__ import annotations

from itertools import product

import cv2
import numpy as np
import pytest
from box_scene import HEIGHT, MATRIX, WIDTH
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.components import components, largest_component

FRAME = CameraFrame("wrist", 1, np.zeros((HEIGHT, WIDTH, 3), np.uint8), MATRIX, np.eye(4))
CUBE = 0.2 * np.array(list(product((-0.5, 0.5), repeat=3)))
AHEAD = np.array([0.0, 0.0, 1.1])


def test_a_box_before_the_camera_covers_a_part_of_the_image() -> None:
    box = FRAME.box_around(CUBE + AHEAD, 1.0)
    (focal_x, focal_y), (x, y) = MATRIX[[0, 1], [0, 1]], MATRIX[:2, 2]
    assert box == pytest.approx((x - 0.1 * focal_x, y - 0.1 * focal_y, x + 0.1 * focal_x, y + 0.1 * focal_y))


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (0.0, 0.0, -1.1), (9.0, 0.0, 1.1), (0.0, 0.0, 999.0)])
def test_a_box_around_the_camera_behind_it_beside_the_view_or_too_far_covers_none(place: tuple[float, ...]) -> None:
    assert FRAME.box_around(CUBE + np.array(place), 1.0) is None


@given(arrays(bool, st.tuples(st.integers(1, 30), st.integers(1, 30))), st.sampled_from([4, 8]))
def test_parts_are_labeled_and_counted_as_opencv_does(mask: np.ndarray, connectivity: int) -> None:
    labels, sizes = components(mask, connectivity)
    _, wanted, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=connectivity)
    np.testing.assert_array_equal(labels, wanted)
    np.testing.assert_array_equal(sizes[1:], stats[1:, cv2.CC_STAT_AREA])
    largest = largest_component(mask, connectivity)
    assert (largest is None) == (not mask.any())
    assert largest is None or np.count_nonzero(largest) == sizes[1:].max()
