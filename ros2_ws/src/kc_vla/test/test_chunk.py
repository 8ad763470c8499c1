import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType, BadChunkError, Chunk, ChunkLimits, check_chunk

LIMITS = ChunkLimits(translation=0.1, rotation=0.2, joint=3.0)
JOINTS = ("joint1", "joint2")


def tool_chunk(actions: object) -> Chunk:
    return Chunk(4, 10, ActionType.TOOL_DELTA, TOOL_DELTA_NAMES, np.asarray(actions, np.float32))


def joint_chunk(actions: object) -> Chunk:
    return Chunk(4, 10, ActionType.JOINT_POSITION, JOINTS, np.asarray(actions, np.float32))


def rows(**columns: float) -> np.ndarray:
    """Three actions that stand still, but for what is given of the second one."""
    actions = np.zeros((3, 7), np.float32)
    for name, value in columns.items():
        actions[1, TOOL_DELTA_NAMES.index(name)] = value
    return actions


def test_rows_belong_to_steps() -> None:
    chunk = tool_chunk(rows())
    assert (chunk.horizon, chunk.start, chunk.end) == (3, 10, 13)


@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 6), st.just(7)), elements=st.floats(width=32)))
def test_a_tool_chunk_passes_exactly_if_every_number_is_within_the_limits(actions: np.ndarray) -> None:
    with np.errstate(invalid="ignore"):
        fit = bool(
            np.isfinite(actions).all()
            and np.abs(actions[:, :3]).max() <= LIMITS.translation * (1 + 1e-5)
            and np.abs(actions[:, 3:6]).max() <= LIMITS.rotation * (1 + 1e-5)
            and ((actions[:, 6] >= 0) & (actions[:, 6] <= 1)).all()
        )
    if fit:
        assert check_chunk(tool_chunk(actions), LIMITS).actions is not None
    else:
        with pytest.raises(BadChunkError, match="chunk 4"):
            check_chunk(tool_chunk(actions), LIMITS)


@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 6), st.just(2)), elements=st.floats(width=32)))
def test_a_joint_chunk_passes_exactly_if_every_target_is_finite_and_within_the_limit(actions: np.ndarray) -> None:
    if np.isfinite(actions).all() and np.abs(actions).max() <= LIMITS.joint:
        check_chunk(joint_chunk(actions), LIMITS)
    else:
        with pytest.raises(BadChunkError, match="chunk 4"):
            check_chunk(joint_chunk(actions), LIMITS)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"dy": math.nan}, r"chunk 4 is not finite in action 1: \[0.0, nan,"),
        ({"gripper": -math.inf}, "not finite in action 1"),
        ({"dz": -0.11}, "asks for 0.110 m of translation along an axis in action 1: the limit is 0.1"),
        ({"drx": 0.21}, "asks for 0.210 rad of rotation about an axis in action 1: the limit is 0.2"),
        ({"gripper": 1.01}, r"gripper opening outside 0\.\.1"),
        ({"gripper": -0.01}, r"gripper opening outside 0\.\.1"),
    ],
)
def test_says_what_is_wrong_and_where(columns: dict[str, float], message: str) -> None:
    with pytest.raises(BadChunkError, match=message):
        check_chunk(tool_chunk(rows(**columns)), LIMITS)


@pytest.mark.parametrize("shape", [(0, 7), (7,), (), (3, 0), (1, 2, 7)])
def test_refuses_what_is_no_table_of_actions(shape: tuple[int, ...]) -> None:
    names = () if shape[-1:] == (0,) else TOOL_DELTA_NAMES
    for action_type in ActionType:
        with pytest.raises(BadChunkError, match=r"has shape .*: expected \(horizon, dimension\)"):
            check_chunk(Chunk(4, 10, action_type, names, np.zeros(shape, np.float32)), LIMITS)


def test_refuses_columns_without_a_name() -> None:
    with pytest.raises(BadChunkError, match="3 numbers per action for 2 names"):
        check_chunk(joint_chunk(np.zeros((2, 3))), LIMITS)


def test_refuses_a_tool_delta_with_other_columns() -> None:
    mixed = Chunk(4, 10, ActionType.TOOL_DELTA, TOOL_DELTA_NAMES[::-1], np.zeros((2, 7), np.float32))
    with pytest.raises(BadChunkError, match=r"names its columns gripper, drz.*a tool delta has dx, dy"):
        check_chunk(mixed, LIMITS)


def test_a_number_that_stands_on_the_limit_passes() -> None:
    check_chunk(tool_chunk(rows(dx=np.float32(0.1), drz=-np.float32(0.2), gripper=1.0)), LIMITS)
    check_chunk(joint_chunk([[3.0, -3.0]]), LIMITS)
