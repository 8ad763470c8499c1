"""Chained transforms: what a frame's pose is at a moment, and what is said where it is not known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kc_vla.core.frame_tree import MOST_FRAMES, FrameTree, LateTransformError, UnknownFrameError
from kc_vla.core.urdf import Placed

SECOND = 1_000_000_000


def pose(x: float = 0.0, y: float = 0.0, z: float = 0.0, turn_z: float = 0.0) -> np.ndarray:
    found = np.eye(4)
    found[:3, :3] = Rotation.from_euler("z", turn_z).as_matrix()
    found[:3, 3] = x, y, z
    return found


def test_poses_are_chained_over_fixed_and_moving_frames_and_between_two_branches() -> None:
    tree = FrameTree()
    tree.put_fixed([Placed("world", "base", pose(1.0)), Placed("flange", "camera", pose(0.0, 0.0, 0.1))])
    tree.put([Placed("base", "flange", pose(0.5, turn_z=math.pi / 2))], SECOND)
    found = tree.lookup("world", "camera", SECOND)
    np.testing.assert_allclose(found.pose, pose(1.5, 0.0, 0.1, math.pi / 2), atol=1e-12)
    assert not found.stands
    tree.put_fixed([Placed("world", "table", pose(0.0, 2.0))])
    np.testing.assert_allclose(tree.lookup("table", "base", 0).pose, pose(1.0, -2.0), atol=1e-12)
    assert tree.lookup("table", "base", 0).stands
    np.testing.assert_array_equal(tree.lookup("base", "base", 0).pose, np.eye(4))


@given(share=st.floats(0.0, 1.0), way=st.floats(-2.0, 2.0), turn=st.floats(-3.0, 3.0))
def test_between_two_moments_a_frame_moves_and_turns_evenly(share: float, way: float, turn: float) -> None:
    tree = FrameTree()
    for at, placed in ((SECOND, pose()), (2 * SECOND, pose(way, turn_z=turn))):
        tree.put([Placed("base", "camera", placed)], at)
    stamp = SECOND + round(share * SECOND)
    expected = pose(way * (stamp - SECOND) / SECOND, turn_z=turn * (stamp - SECOND) / SECOND)
    np.testing.assert_allclose(tree.lookup("base", "camera", stamp).pose, expected, atol=1e-9)


def test_what_is_not_known_is_named() -> None:
    tree = FrameTree()
    tree.put([Placed("base", "camera", pose())], SECOND)
    with pytest.raises(UnknownFrameError, match="no transform names the frame 'wrist'"):
        tree.lookup("base", "wrist", SECOND)
    tree.put_fixed([Placed("other", "wrist", pose())])
    with pytest.raises(UnknownFrameError, match=r"from 'wrist' \(root 'other'\) to 'camera' \(root 'base'\)"):
        tree.lookup("camera", "wrist", SECOND)
    with pytest.raises(LateTransformError, match=r"transform of 'camera' is 0\.50 s older than the image"):
        tree.lookup("base", "camera", SECOND + SECOND // 2)
    with pytest.raises(UnknownFrameError, match=r"no transform of 'camera' is as old as the image") as caught:
        tree.lookup("base", "camera", SECOND - 1)
    assert not isinstance(caught.value, LateTransformError)
    tree.put_fixed([Placed("camera", "base", pose())])
    with pytest.raises(UnknownFrameError, match="go in a circle"):
        tree.lookup("base", "wrist", SECOND)


def test_what_a_calibration_file_says_is_not_replaced_and_time_can_begin_anew() -> None:
    tree = FrameTree([Placed("base", "camera", pose(1.0))])
    tree.put_fixed([Placed("world", "camera", pose(9.0))])
    tree.put([Placed("world", "camera", pose(8.0)), Placed("base", "hand", pose(0.1))], 5 * SECOND)
    assert tree.lookup("base", "camera", 0).pose[0, 3] == 1.0
    tree.put([Placed("base", "hand", pose(0.2))], SECOND)
    assert tree.lookup("base", "hand", SECOND).pose[0, 3] == pytest.approx(0.2)
    with pytest.raises(LateTransformError):
        tree.lookup("base", "hand", 5 * SECOND)


def test_a_flood_of_frames_and_moments_is_bounded() -> None:
    tree = FrameTree()
    tree.put_fixed([Placed("base", "known", pose(1.0))])
    tree.put_fixed(Placed("base", f"made_up_{number}", pose()) for number in range(3 * MOST_FRAMES))
    with pytest.raises(UnknownFrameError, match="made_up_2999"):
        tree.lookup("base", "made_up_2999", 0)
    for number in range(1000):
        tree.put([Placed("base", "made_up_1", pose(number))], number * 1_000_000)
    assert tree.lookup("base", "made_up_1", 999_000_000).pose[0, 3] == 999.0
    with pytest.raises(UnknownFrameError, match="is as old as the image"):
        tree.lookup("base", "made_up_1", 1_000_000)
    assert tree.lookup("base", "known", 0).pose[0, 3] == 1.0
