import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.keyframes.free_run import free_running, teacher_forced
from kc_vla.keyframes.selector import KeyframeSelector
from kc_vla.keyframes.smoothing import Decision, GreedySmoother
from kc_vla.keyframes.thresholds import best_threshold


def scores(length: int, phases: int, hits: dict[int, list[int]]) -> np.ndarray:
    """(length, phases): 0.9 in the frames `hits` of each phase, 0.1 elsewhere."""
    result = np.full((length, phases), 0.1, np.float32)
    for phase, frames in hits.items():
        result[frames, phase] = 0.9
    return result


def test_each_phase_is_waited_for_in_turn():
    found = free_running(scores(100, 3, {1: [30, 31, 32], 2: [10, 70]}), 3, 0.5)
    assert [(d.phase, d.frame, d.committed, d.known) for d in found] == [(1, 31, 30, 30), (2, 70, 70, 70)]


def test_a_keyframe_before_its_turn_is_missed():
    found = free_running(scores(100, 3, {2: [10]}), 3, 0.5)
    assert found == []


def test_what_is_pending_at_the_end_is_told_as_not_committed():
    (found,) = free_running(scores(50, 2, {1: [48]}), 2, 0.5)
    assert (found.frame, found.committed) == (48, None)


def test_frames_that_never_came_are_not_waited_for():
    whole = scores(100, 2, {1: [30]})
    kept = [k for k in range(100) if k % 10 != 5]
    (found,) = free_running(whole[kept], 2, 0.5, frames=kept)
    assert found.committed == 30


def test_with_the_phase_told_each_cluster_is_a_detection():
    told = teacher_forced(scores(100, 3, {1: [20, 40, 41, 42], 2: [41, 80]}), [0, 41, 80], 0.5)
    assert [(d.phase, d.frame) for d in told] == [(1, 20), (1, 41), (2, 80)]


@given(st.lists(st.integers(5, 194), min_size=1, max_size=4, unique=True).map(sorted), st.integers(0, 2**32 - 1))
def test_clear_scores_find_every_keyframe_in_order(frames, seed):
    spaced = [frame + 12 * k for k, frame in enumerate(frames)]
    noise = np.random.default_rng(seed).uniform(0, 0.4, (260, len(spaced) + 1)).astype(np.float32)
    for phase, frame in enumerate(spaced, 1):
        noise[frame, phase] = 0.9
    found = free_running(noise, len(spaced) + 1, 0.5)
    assert [d.committed for d in found] == spaced


@given(st.integers(1, 200), st.integers(1, 5), st.floats(0.3, 6.0), st.integers(0, 2**32 - 1))
def test_it_commits_what_the_selector_does_when_it_is_asked_about_every_frame(length, phases, rarity, seed):
    chance = np.random.default_rng(seed)
    values = (chance.random((length, phases)) ** rarity).astype(np.float32)
    values[chance.random(values.shape) < 0.02] = np.nan
    selector = KeyframeSelector([str(k) for k in range(phases)], GreedySmoother(0.6, first=True))
    wanted = []
    for frame in range(length):
        if not selector.done:
            events = selector.update(frame, float(values[frame, selector.phase]))
            wanted += [(e.phase, e.frame) for e in events if e.decision is Decision.COMMITTED and e.phase > 0]
    found = free_running(values, phases, 0.6)
    assert [(d.phase, d.committed) for d in found if d.committed is not None] == wanted


def test_the_threshold_is_the_middle_of_where_all_is_right():
    rows = scores(300, 2, {1: [50]})
    threshold, f1 = best_threshold([(rows, [0, 50])], 2)
    assert f1 == 1.0
    assert 0.45 <= threshold <= 0.55


def test_a_narrow_place_where_one_more_keyframe_is_right_does_not_draw_the_threshold_away():
    clear = scores(300, 2, {1: [50]})
    weak = scores(300, 2, {})
    weak[50, 1] = 0.15
    threshold, f1 = best_threshold([(clear, [0, 50])] * 9 + [(weak, [0, 50])], 2)
    assert 0.45 <= threshold <= 0.55
    assert f1 == 18 / 19


def test_a_threshold_that_misplaces_more_than_one_keyframe_is_not_as_good():
    weak = scores(300, 2, {})
    weak[50, 1] = 0.5
    threshold, f1 = best_threshold([(scores(300, 2, {1: [50]}), [0, 50])] * 8 + [(weak, [0, 50])] * 2, 2)
    assert f1 == 1.0
    assert 0.25 <= threshold <= 0.35


def test_of_two_ranges_the_wider_one_is_taken():
    rows = scores(300, 2, {1: [50]})
    rows[:, 1] = np.minimum(rows[:, 1], 0.005)
    rows[40:61, 1] = 0.2  # all of these are one detection, whose middle is right
    rows[36, 1], rows[50, 1] = 0.4, 0.9
    threshold, f1 = best_threshold([(rows, [0, 50])], 2)
    assert f1 == 1.0
    assert 0.6 < threshold < 0.7
