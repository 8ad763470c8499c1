"""What a scene refuses, and how it changes as things are grasped and released."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.motion.problem import MotionError, MotionProblem
from kc_vla.motion.scene import LARGEST, MOST_BOXES, HeldBox, MotionScene, SceneBox

NUMBERS = st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([0.0, 1.0, -1.0])


@given(
    st.lists(st.lists(NUMBERS, min_size=4, max_size=4), min_size=4, max_size=4),
    st.lists(NUMBERS, min_size=3, max_size=3),
)
def test_a_box_has_a_rigid_pose_and_sides_that_can_be_or_is_refused_in_one_line(pose: Any, size: Any) -> None:
    caught = None
    try:
        box = SceneBox("thing", pose, size)
    except MotionError as error:
        caught = error
    if caught is not None:
        assert caught.problem is MotionProblem.INPUT
        assert "thing" in str(caught)
        assert "\n" not in str(caught)
    else:
        assert np.linalg.det(box.pose[:3, :3]) == pytest.approx(1.0)
        assert np.isfinite(box.corners).all()
        assert box.size.min() > 0
        assert box.size.max() <= LARGEST


@pytest.mark.parametrize(
    "size", [[10, 0.1, 0.1], [0, 0.1, 0.1], [0.1, 0.1], "large", [math.nan, 0.1, 0.1], [-0.1, 0.1, 0.1]]
)
def test_sizes_that_cannot_be(size: Any) -> None:
    with pytest.raises(MotionError, match="size of 'thing'"):
        SceneBox("thing", np.eye(4), size)


@pytest.mark.parametrize(
    "changes",
    [
        {"surface": math.nan},
        {"surface": 9.0},
        {"clearance": -1.0},
        {"surface_clearance": math.nan},
        {"width": math.inf},
    ],
)
def test_scenes_that_cannot_be(changes: dict[str, float]) -> None:
    with pytest.raises(MotionError):
        MotionScene(**changes)


def test_a_flood_of_boxes_is_refused() -> None:
    box = SceneBox("thing", np.eye(4), np.ones(3))
    with pytest.raises(MotionError, match=f"at most {MOST_BOXES}"):
        MotionScene(boxes=(box,) * (MOST_BOXES + 1))


def test_no_box_is_called_as_the_surface_is() -> None:
    with pytest.raises(MotionError, match="surface"):
        SceneBox("surface", np.eye(4), np.ones(3))


def test_a_thing_moves_with_the_hand_and_stands_where_it_is_released() -> None:
    at, tool, later = np.eye(4), np.eye(4), np.eye(4)
    at[:3, 3], tool[:3, 3], later[:3, 3] = (0.5, 0, 0.05), (0.5, 0, 0.08), (0.3, 0.2, 0.08)
    mug = SceneBox("mug", at, np.array([0.08, 0.08, 0.1]))
    held = MotionScene(boxes=(mug,)).grasped("mug", tool, 0.06)
    assert isinstance(held.held, HeldBox)
    assert (held.boxes, held.width) == ((), 0.06)
    placed = held.released(later)
    assert (placed.held, placed.width) == (None, None)
    np.testing.assert_allclose(placed.box("mug").pose[:3, 3], [0.3, 0.2, 0.05])


def test_what_is_not_there_cannot_be_grasped() -> None:
    with pytest.raises(MotionError, match="no 'cup': it has mug"):
        MotionScene(boxes=(SceneBox("mug", np.eye(4), np.ones(3)),)).grasped("cup", np.eye(4))


def test_boxes_of_one_name_are_replaced_together() -> None:
    parts = [SceneBox("drawer", np.eye(4), np.full(3, side)) for side in (0.1, 0.2)]
    scene = MotionScene(boxes=tuple(parts)).with_boxes([SceneBox("drawer", np.eye(4), np.full(3, 0.3))])
    assert [float(box.size[0]) for box in scene.boxes] == [0.3]
    assert scene.without("drawer").boxes == ()
