"""The rules of the counting task on any sequence of events."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from kc_vla_sim.envs.counting import COUNTING_RANGES, CountingProgress, edge_frames, edges_passed
from kc_vla_sim.robot import CONTROL_RATE

durations = st.sampled_from(list(COUNTING_RANGES.values())).flatmap(
    lambda ranges: st.tuples(*(st.floats(low, high) for low, high in ranges.lamp))
)
events = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=40)


@given(durations, st.integers(0, 1600))
def test_the_lamp_is_lit_exactly_between_its_edges(seconds: tuple[float, ...], frame: int) -> None:
    edges = edge_frames(torch.tensor([seconds]))
    first_on, first_off, second_on, second_off = edges[0].tolist()
    lit = edges_passed(edges, torch.tensor([frame]))[0] % 2 == 1
    assert lit == (first_on <= frame < first_off or second_on <= frame < second_off)


@given(durations)
def test_every_state_lasts_as_long_as_was_drawn(seconds: tuple[float, ...]) -> None:
    edges = [0, *edge_frames(torch.tensor([seconds]))[0].tolist()]
    for start, end, wanted in zip(edges, edges[1:], seconds, strict=False):
        assert abs((end - start) / CONTROL_RATE - wanted) <= 0.5001 / CONTROL_RATE


@given(events)
def test_stages_are_counted_in_order_and_never_taken_back(history: list[tuple[bool, bool, bool]]) -> None:
    """Play events: whether a flash ended in this frame, the cube is away from its place, it is at the target."""
    progress = CountingProgress.start(1, torch.device("cpu"))
    flashes, moved_early, completed = 0, False, 0
    for flash_ended, moved, at_goal in history:
        flashes = min(flashes + flash_ended, 2)
        progress = progress.after(torch.tensor([flashes]), torch.tensor([moved]), torch.tensor([at_goal]))
        moved_early = moved_early or (moved and flashes < 2)
        success = at_goal and flashes == 2 and not moved_early
        if not moved_early:
            completed = max(completed, flashes + success)
        assert bool(progress.success) == success
        assert bool(progress.moved_early) == moved_early
        assert int(progress.completed) == completed


def test_environments_of_a_batch_are_judged_and_restarted_on_their_own() -> None:
    flashes = torch.tensor([1, 2, 2])
    moved = torch.tensor([True, True, False])
    progress = CountingProgress.start(3, torch.device("cpu")).after(flashes, moved, torch.tensor([True, True, False]))
    assert progress.moved_early.tolist() == [True, False, False]
    assert progress.success.tolist() == [False, True, False]
    assert progress.completed.tolist() == [0, 3, 2]
    again = progress.restarted(torch.tensor([0, 1]))
    assert again.moved_early.tolist() == [False, False, False]
    assert again.completed.tolist() == [0, 0, 2]
