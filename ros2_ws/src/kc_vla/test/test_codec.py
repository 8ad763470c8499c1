"""State and action of a robot: the same numbers wherever they are made, and none of another robot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kc_vla.core.chunk import DATA_DELTA_NAMES, TOOL_DELTA_NAMES, ActionType
from kc_vla.core.codec import Codec, CodecError
from kc_vla.core.robot import load_robot

PANDA, PIPER = load_robot("panda_sim"), load_robot("piper")
POSE = np.array([0.4, 0.1, 0.2, 1.0, 0.0, 0.0, 0.0])
FINITE = st.floats(-3, 3)


def test_the_state_of_a_tool_is_its_pose_and_the_share_to_which_the_gripper_is_open() -> None:
    joints = np.array([*[0.5] * 7, 0.01, 0.01])
    codec = Codec(PANDA, ActionType.TOOL_DELTA)
    np.testing.assert_allclose(codec.state(POSE, PANDA.names, joints), [*POSE, 0.25])
    assert len(codec.state_names) == 8


def test_the_state_of_joints_is_the_joints() -> None:
    joints = np.linspace(0, 0.06, 7)
    codec = Codec(PIPER, ActionType.JOINT_POSITION)
    np.testing.assert_array_equal(codec.state(POSE, PIPER.names, joints), joints)


@given(arrays(np.float64, (5, 7), elements=FINITE), arrays(np.float64, (5, 9), elements=FINITE))
def test_many_states_at_once_are_those_of_each(poses: np.ndarray, joints: np.ndarray) -> None:
    codec = Codec(PANDA, ActionType.TOOL_DELTA)
    rows = [codec.state(pose, PANDA.names, position) for pose, position in zip(poses, joints, strict=True)]
    np.testing.assert_array_equal(codec.state(poses, PANDA.names, joints), rows)


@pytest.mark.parametrize("action", list(ActionType))
def test_the_joints_of_another_robot_are_refused(action: ActionType) -> None:
    with pytest.raises(CodecError, match=r"the joints joint1, .* the robot 'panda_sim' has panda_joint1"):
        Codec(PANDA, action).state(POSE, PIPER.names, np.zeros(7))


@given(st.permutations(range(7)))
def test_actions_are_put_in_order_by_their_names(order: list[int]) -> None:
    values = np.arange(14.0).reshape(2, 7)
    codec = Codec(PANDA, ActionType.TOOL_DELTA)
    for names in (TOOL_DELTA_NAMES, DATA_DELTA_NAMES):
        np.testing.assert_array_equal(codec.actions([names[k] for k in order], values[:, order]), values)


@pytest.mark.parametrize("names", [(), TOOL_DELTA_NAMES[:6], PIPER.names, ("dx",) * 7])
def test_actions_of_another_kind_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(CodecError, match="expected dx, dy, dz, drx, dry, drz, gripper"):
        Codec(PANDA, ActionType.TOOL_DELTA).actions(names, np.zeros((2, len(names))))
