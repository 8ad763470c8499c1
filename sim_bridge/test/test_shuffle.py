"""The teacher's way on any schedule."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kc_vla_sim.envs import shuffle
from kc_vla_sim.envs.identity import IDENTITY_RANGES
from kc_vla_sim.robot import CONTROL_RATE

SLOTS = torch.tensor([[0.0, 0.13, 0.1], [0.0, 0.0, -0.2], [0.0, -0.13, 0.3]])
NEW = SLOTS + torch.tensor([0.01, -0.01, 0.05])
BUFFER = torch.tensor([[0.16, -0.11, 0.0]])
HOME = torch.tensor([[0.08, -0.24, 0.36, 0.0]])

pairs = st.floats(0, 0.999).map(lambda chance: shuffle.swapped_pair(torch.tensor([chance])))
durations = st.sampled_from(list(IDENTITY_RANGES.values())).flatmap(
    lambda ranges: st.tuples(*(st.floats(low, high) for low, high in ranges.durations))
)


def stops(roles: torch.Tensor) -> torch.Tensor:
    return shuffle.stops(HOME, SLOTS[None], NEW[None], BUFFER, roles)


def test_every_ordered_pair_is_as_likely_and_every_slot_as_likely_for_the_middle_cube() -> None:
    roles = shuffle.swapped_pair((torch.arange(600) + 0.5) / 600)
    assert Counter(map(tuple, roles[:, :2].tolist())) == {(a, b): 100 for a in range(3) for b in range(3) if a != b}
    assert Counter(shuffle.slots_at_end(roles)[:, 1].tolist()) == {0: 200, 1: 200, 2: 200}


def test_the_ends_of_chance_are_pairs_too() -> None:
    assert shuffle.swapped_pair(torch.tensor([0.0, 1.0])).tolist() == [[0, 1, 2], [2, 1, 0]]


@settings(deadline=None)
@given(pairs)
def test_two_cubes_change_places_and_one_stays(roles: torch.Tensor) -> None:
    a, b, still = roles[0].tolist()
    slots = shuffle.slots_at_end(roles)[0]
    assert (slots[a], slots[b], slots[still]) == (b, a, still)


@settings(deadline=None)
@given(pairs, durations)
def test_the_tool_moves_without_a_jerk_and_ends_at_home(roles: torch.Tensor, seconds: tuple[float, ...]) -> None:
    ends = shuffle.segment_ends(torch.tensor([seconds]))
    tool, fingers = shuffle.tool_path(stops(roles), ends, int(ends[0, -1]) + 20)
    step = torch.linalg.norm(tool[0].diff(dim=0)[:, :3], dim=1) * CONTROL_RATE
    assert step.max() < 2.0  # m/s
    assert step.diff().abs().max() * CONTROL_RATE < 20.0  # m/s2
    torch.testing.assert_close(tool[0, 0], HOME[0])
    torch.testing.assert_close(tool[0, -1], HOME[0])
    assert fingers[0, 0] == fingers[0, -1] == shuffle.OPEN


@settings(deadline=None)
@given(pairs, durations)
def test_the_fingers_hold_a_cube_in_every_move_of_a_cube(roles: torch.Tensor, seconds: tuple[float, ...]) -> None:
    ends = shuffle.segment_ends(torch.tensor([seconds]))
    frames = int(ends[0, -1]) + 1
    tool, fingers = shuffle.tool_path(stops(roles), ends, frames)
    held = fingers[0] == shuffle.CLOSED
    moving = torch.linalg.norm(tool[0].diff(dim=0, append=tool[0, -1:])[:, :3], dim=1) > 1e-6
    segment = shuffle.segment_at(ends.expand(frames, -1), torch.arange(frames))
    carrying = (segment == 3) | (segment == 7) | (segment == 11)
    assert held[carrying].all()
    assert carrying[held & moving].all()


@settings(deadline=None)
@given(pairs, durations)
def test_the_keyframes_show_a_cube_let_go_of_and_a_cube_gripped(
    roles: torch.Tensor, seconds: tuple[float, ...]
) -> None:
    ends = shuffle.segment_ends(torch.tensor([seconds]))
    tool, fingers = shuffle.tool_path(stops(roles), ends, int(ends[0, -1]) + 1)
    aside, grasped = int(ends[0, shuffle.PUT_ASIDE]), int(ends[0, shuffle.GRASPED])
    torch.testing.assert_close(tool[0, aside, :2], BUFFER[0, :2])
    torch.testing.assert_close(tool[0, grasped, :2], SLOTS[roles[0, 1], :2])
    assert (fingers[0, aside - 1], fingers[0, grasped - 1]) == (shuffle.OPEN, shuffle.CLOSED)
    assert grasped - aside > 8


@pytest.mark.nightly
@settings(deadline=None)
@given(pairs, durations)
def test_a_cube_is_expected_at_the_tool_or_at_a_stop(roles: torch.Tensor, seconds: tuple[float, ...]) -> None:
    ends = shuffle.segment_ends(torch.tensor([seconds]))
    a, b, still = roles[0].tolist()
    tool = torch.tensor([[9.0, 9.0, 9.0]])
    way = stops(roles)

    def expected(frame: int) -> torch.Tensor:
        segment = shuffle.segment_at(ends, torch.tensor([frame]))
        return shuffle.expected_places(way, SLOTS[still][None], roles, segment, tool)[0]

    start, aside, end = expected(0), expected(int(ends[0, shuffle.PUT_ASIDE])), expected(int(ends[0, -1]))
    torch.testing.assert_close(start[[a, b], :2], SLOTS[[a, b], :2])
    torch.testing.assert_close(aside[[a, b], :2], torch.stack([BUFFER[0, :2], SLOTS[b, :2]]))
    torch.testing.assert_close(end[[a, b], :2], NEW[[b, a], :2])
    assert (expected(int(ends[0, 2]))[a] == 9.0).all()
    assert (expected(int(ends[0, 6]))[b] == 9.0).all()
    assert (expected(int(ends[0, 10]))[a] == 9.0).all()
    for frame in range(0, int(ends[0, -1]), 7):
        torch.testing.assert_close(expected(frame)[still], SLOTS[still])


def test_a_batch_goes_the_ways_of_its_members() -> None:
    roles = shuffle.swapped_pair(torch.tensor([0.1, 0.5, 0.8]))
    low, high = torch.tensor(IDENTITY_RANGES["hard"].durations).T
    ends = shuffle.segment_ends(torch.stack([low, (low + high) / 2, high]))
    way = shuffle.stops(*(x.expand(3, *x.shape[1:]) for x in (HOME, SLOTS[None], NEW[None], BUFFER)), roles)
    tool, fingers = shuffle.tool_path(way, ends, 700)
    segment = shuffle.segment_at(ends, torch.tensor([120, 250, 400]))
    still = SLOTS[roles[:, 2]]
    places = shuffle.expected_places(way, still, roles, segment, tool[:, 200, :3])
    for k in range(3):
        one = slice(k, k + 1)
        torch.testing.assert_close(way[one], stops(roles[one]))
        alone, alone_fingers = shuffle.tool_path(way[one], ends[one], 700)
        torch.testing.assert_close(tool[one], alone)
        torch.testing.assert_close(fingers[one], alone_fingers)
        where = shuffle.expected_places(way[one], still[one], roles[one], segment[one], tool[one, 200, :3])
        torch.testing.assert_close(places[one], where)


@pytest.mark.parametrize("other", [0.0, 0.9])
def test_time_tells_nothing_of_the_pair(other: float) -> None:
    """Segments end in the same frames whichever cubes are swapped: the hand is faster on a longer way."""
    seconds = torch.tensor([[(low + high) / 2 for low, high in IDENTITY_RANGES["standard"].durations]])
    ends = shuffle.segment_ends(seconds)
    one, two = (shuffle.swapped_pair(torch.tensor([chance])) for chance in (0.5, other))
    (path, fingers), (other_path, other_fingers) = (shuffle.tool_path(stops(r), ends, 400) for r in (one, two))
    assert not torch.equal(path, other_path)
    torch.testing.assert_close(path[..., 2], other_path[..., 2])
    torch.testing.assert_close(fingers, other_fingers)
