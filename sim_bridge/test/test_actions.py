"""Physical commands to ManiSkill's normalized actions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from kc_vla_sim.actions import (
    MOVE_LIMIT,
    TURN_LIMIT,
    normalise_joint_positions,
    normalise_tool_delta,
)
from kc_vla_sim.errors import BadActionError

numbers = st.floats(-1e3, 1e3)
deltas = arrays(np.float64, 7, elements=numbers)


@given(deltas)
def test_every_finite_delta_becomes_an_action_within_the_limits(delta: np.ndarray) -> None:
    action = normalise_tool_delta(delta)
    assert action.shape == (7,)
    assert action.dtype == np.float32
    assert np.abs(action[:3]).max() <= 1
    assert np.linalg.norm(action[3:6]) <= 1.01
    assert -1 <= action[6] <= 1


@given(arrays(np.float64, 3, elements=st.floats(-MOVE_LIMIT, MOVE_LIMIT)))
def test_a_move_within_the_limits_is_kept(move: np.ndarray) -> None:
    action = normalise_tool_delta([*move, 0, 0, 0, 0])
    np.testing.assert_allclose(action[:3] * MOVE_LIMIT, move, atol=1e-7)


@given(arrays(np.float64, 3, elements=st.floats(-1, 1)))
def test_a_turn_is_the_same_turn_in_maniskills_angles(turn: np.ndarray) -> None:
    action = normalise_tool_delta([0, 0, 0, *turn, 0])
    angle = np.linalg.norm(turn)
    expected = turn if angle <= TURN_LIMIT else turn * TURN_LIMIT / angle
    done = Rotation.from_euler("XYZ", -TURN_LIMIT * action[3:6].astype(float))
    np.testing.assert_allclose(done.as_rotvec(), expected, atol=1e-6)


@pytest.mark.parametrize(("opening", "normalised"), [(0, -1), (0.5, 0), (1, 1), (7, 1), (-2, -1)])
def test_the_gripper_goes_from_closed_to_open(opening: float, normalised: float) -> None:
    assert normalise_tool_delta([0, 0, 0, 0, 0, 0, opening])[6] == normalised


def test_joint_positions_pass_and_the_fingers_move_as_one() -> None:
    action = normalise_joint_positions([0.1, 0.2, 0.3, -0.4, 0.5, 0.6, 0.7, 0.03, 0.05])
    np.testing.assert_allclose(action, [0.1, 0.2, 0.3, -0.4, 0.5, 0.6, 0.7, 1.0], atol=1e-6)


@pytest.mark.parametrize(
    ("action", "complaint"),
    [
        ([0] * 6, "7 numbers"),
        ([0] * 8, "7 numbers"),
        (0.0, "7 numbers"),
        ([0, 0, float("nan"), 0, 0, 0, 0], "finite"),
        ([0, 0, 0, 0, float("inf"), 0, 0], "finite"),
        (["up"] * 7, "not numbers"),
        (None, "7 numbers"),
    ],
)
def test_a_bad_delta_is_refused_with_one_clear_line(action: object, complaint: str) -> None:
    with pytest.raises(BadActionError, match=complaint) as refused:
        normalise_tool_delta(action)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


def test_a_bad_joint_command_is_refused() -> None:
    with pytest.raises(BadActionError, match="9 numbers"):
        normalise_joint_positions([0] * 7)
    with pytest.raises(BadActionError, match="finite"):
        normalise_joint_positions([0] * 8 + [float("nan")])
