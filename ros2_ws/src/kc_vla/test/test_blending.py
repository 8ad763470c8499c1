import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType, Chunk
from kc_vla.execution.blending import blend

NUMBERS = st.floats(-1, 1, width=32)


def chunk(sequence: int, start: int, actions: np.ndarray, names: tuple[str, ...] = TOOL_DELTA_NAMES) -> Chunk:
    return Chunk(sequence, start, ActionType.TOOL_DELTA, names, actions)


def ramp(sequence: int, start: int, horizon: int, value: float) -> Chunk:
    return chunk(sequence, start, np.full((horizon, 7), value, np.float32))


@st.composite
def chunks(draw: st.DrawFn, start: int) -> Chunk:
    actions = draw(hnp.arrays(np.float32, st.tuples(st.integers(1, 16), st.just(7)), elements=NUMBERS))
    return chunk(draw(st.integers(0, 9)), start + draw(st.integers(0, 8)), actions)


@given(chunks(0), chunks(4), st.integers(0, 20), st.integers(0, 6))
def test_every_row_lies_between_the_two_plans_and_those_outside_the_fade_are_new(
    old: Chunk, new: Chunk, step: int, rows: int
) -> None:
    blended = blend(old, new, step, rows)
    assert (blended.sequence, blended.start, blended.names) == (new.sequence, new.start, new.names)
    first = max(step, old.start, new.start)
    for at, row in enumerate(blended.actions):
        now = new.start + at
        if first <= now < min(first + rows, old.end):
            theirs = old.actions[now - old.start]
            assert (row >= np.minimum(theirs, new.actions[at])).all()
            assert (row <= np.maximum(theirs, new.actions[at])).all()
        else:
            assert (row == new.actions[at]).all()


@given(chunks(0), chunks(0), st.integers(0, 6))
def test_the_arm_never_turns_more_abruptly_than_without_the_fade(old: Chunk, new: Chunk, rows: int) -> None:
    """The change of plan at the hand-over, and in each step of the fade, is a part of the whole change of plan."""
    step = max(old.start, new.start) + 1
    assume(step < min(old.end, new.end))
    blended = blend(old, new, step, rows)
    away = np.abs(blended.actions[step - new.start] - old.actions[step - old.start])
    whole = np.abs(new.actions[step - new.start] - old.actions[step - old.start])
    assert (away <= whole / (rows + 1) + 1e-6).all()


@given(chunks(0), chunks(0), st.integers(0, 20), st.integers(1, 6))
def test_the_chunks_given_are_not_touched(old: Chunk, new: Chunk, step: int, rows: int) -> None:
    before = old.actions.copy(), new.actions.copy()
    blend(old, new, step, rows)
    assert (old.actions == before[0]).all()
    assert (new.actions == before[1]).all()


def test_fades_in_equal_parts() -> None:
    blended = blend(ramp(0, 0, 16, 0.0), ramp(1, 5, 16, 1.0), step=7, rows=3)
    assert blended.actions[:6, 0].tolist() == [1, 1, 0.25, 0.5, 0.75, 1]


def test_fades_only_while_the_old_plan_lasts() -> None:
    blended = blend(ramp(0, 0, 8, 0.0), ramp(1, 5, 16, 1.0), step=7, rows=3)
    assert blended.actions[:5, 0].tolist() == [1, 1, 0.25, 1, 1]


@given(chunks(0), st.integers(1, 6))
def test_equal_plans_stay_exactly_as_they_are(old: Chunk, rows: int) -> None:
    assert (blend(old, old, old.start, rows).actions == old.actions).all()


@pytest.mark.parametrize(
    "old",
    [
        None,
        Chunk(0, 0, ActionType.JOINT_POSITION, TOOL_DELTA_NAMES, np.zeros((16, 7), np.float32)),
        chunk(0, 0, np.zeros((16, 2), np.float32), ("joint1", "joint2")),
    ],
)
def test_plans_of_another_kind_are_not_mixed(old: Chunk | None) -> None:
    new = ramp(1, 5, 16, 1.0)
    assert blend(old, new, 7, 3) is new
