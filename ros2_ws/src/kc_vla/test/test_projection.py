"""Points are where OpenCV has them in a picture, for each lens that camera_info knows."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.core.projection import project, rays

MATRIX = np.array([[310.0, 0.0, 161.0], [0.0, 305.0, 118.0], [0.0, 0.0, 1.0]])
CAMERA = pose_matrix([0.4, -0.2, 0.9], (np.array([0.8, 0.1, -0.5, 0.3]) / np.linalg.norm([0.8, 0.1, -0.5, 0.3])))
LENSES = {
    "plumb_bob": [-0.28, 0.09, 0.001, -0.002, 0.01],
    "rational_polynomial": [0.3, -0.1, 0.001, 0.002, 0.02, 0.35, -0.05, 0.01],
    "equidistant": [0.05, -0.01, 0.003, -0.001],
}
places = st.lists(
    st.tuples(st.floats(-0.6, 0.6), st.floats(-0.6, 0.6), st.floats(0.2, 3.0)), min_size=1, max_size=20
).map(np.array)


@pytest.mark.parametrize("model", LENSES)
@given(seen=places)
def test_a_point_is_where_opencv_has_it(model: str, seen: np.ndarray) -> None:
    flat = np.stack([seen[:, 0] * seen[:, 2], seen[:, 1] * seen[:, 2], seen[:, 2]], axis=1)  # not too far to the side
    points = flat @ CAMERA[:3, :3].T + CAMERA[:3, 3]
    found, depths = project(points, CAMERA, MATRIX, model, LENSES[model])
    nothing, lens = np.zeros(3), np.array(LENSES[model])
    if model == "equidistant":
        wanted, _ = cv2.fisheye.projectPoints(flat[:, None], nothing, nothing, MATRIX, lens)
    else:
        wanted, _ = cv2.projectPoints(flat, nothing, nothing, MATRIX, lens)
    np.testing.assert_allclose(found, wanted.reshape(-1, 2), atol=1e-6)
    np.testing.assert_allclose(depths, flat[:, 2], atol=1e-9)


def test_the_optical_axis_meets_the_middle_and_what_is_behind_is_nowhere() -> None:
    ahead, behind = (CAMERA[:3, 3] + CAMERA[:3, 2] * way for way in (0.7, -0.7))
    pixels, depths = project(np.array([ahead, behind, CAMERA[:3, 3]]), CAMERA, MATRIX)
    np.testing.assert_allclose(pixels[0], [161.0, 118.0])
    assert np.isnan(pixels[1:]).all()
    np.testing.assert_allclose(depths, [0.7, -0.7, 0.0], atol=1e-12)
    assert project(np.empty((0, 3)), CAMERA, MATRIX)[0].shape == (0, 2)


def test_an_unknown_lens_is_refused() -> None:
    with pytest.raises(ValueError, match="'fov' is not known"):
        project(np.zeros((1, 3)), CAMERA, MATRIX, "fov")


@pytest.mark.parametrize("model", LENSES)
@given(seen=places)
def test_a_pixel_looks_where_its_point_is(model: str, seen: np.ndarray) -> None:
    flat = np.stack([seen[:, 0], seen[:, 1], np.ones(len(seen))], axis=1)
    pixels, _ = project(flat, np.eye(4), MATRIX, model, LENSES[model])
    np.testing.assert_allclose(rays(pixels, MATRIX, model, LENSES[model]), flat, atol=1e-6)


def test_a_pixel_that_the_lens_shows_nothing_at_looks_nowhere() -> None:
    found = rays(np.array([[161.0, 118.0], [90_000.0, 118.0]]), MATRIX, "plumb_bob", [-0.28, 0.0])
    np.testing.assert_allclose(found[0], [0.0, 0.0, 1.0])
    assert np.isnan(found[1, :2]).all()
    np.testing.assert_allclose(rays(np.array([[471.0, 118.0]]), MATRIX), [[1.0, 0.0, 1.0]])
