import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.keyframes.selector import Held, KeyframeSelector
from kc_vla.keyframes.smoothing import FARTHEST_BACK, Candidate, Decision, GreedySmoother

THRESHOLD = 0.5
SCORES = st.lists(st.sampled_from([0.0, THRESHOLD, 0.51, 1.0, math.nan]), max_size=60)


def rule_of_the_paper(scores: list[float], threshold: float, window: int) -> dict[int, int]:
    """Section 4.2 in one sentence: a frame above the threshold is committed when the `window` next frames that have
    a score are all at or below it. Returns committed frame -> frame of the decision."""
    scored = [frame for frame, score in enumerate(scores) if not math.isnan(score)]
    committed = {}
    for at, frame in enumerate(scored):
        after = scored[at + 1 : at + 1 + window]
        quiet = len(after) == window and all(scores[f] <= threshold for f in after)
        if scores[frame] > threshold and quiet:
            committed[frame] = after[-1]
    return committed


def decisions(smoother: GreedySmoother, scores: list[float]) -> list[tuple[int, Decision, Candidate]]:
    decided = ((frame, smoother.update(frame, score)) for frame, score in enumerate(scores))
    return [(frame, *found) for frame, found in decided if found is not None]


@given(SCORES, st.integers(1, 6))
def test_commits_what_the_paper_says_when_it_says(scores: list[float], window: int) -> None:
    found = decisions(GreedySmoother(THRESHOLD, window), scores)
    committed = {candidate.frame: frame for frame, decision, candidate in found if decision is Decision.COMMITTED}
    assert committed == rule_of_the_paper(scores, THRESHOLD, window)


@given(SCORES, st.integers(1, 6))
def test_every_hit_is_shown_at_once_and_the_latest_wins(scores: list[float], window: int) -> None:
    pending = False
    found = {
        frame: (decision, candidate) for frame, decision, candidate in decisions(GreedySmoother(0.5, window), scores)
    }
    for frame, score in enumerate(scores):
        decision, candidate = found.get(frame, (None, None))
        if score > THRESHOLD:
            assert decision is (Decision.SUPERSEDED if pending else Decision.PROVISIONAL)
            assert candidate == Candidate(frame, score)
            pending = True
        else:
            assert decision in (None, Decision.COMMITTED)
            pending = pending and decision is None


LABELS = [str(k) for k in range(60)]


@given(st.lists(st.sampled_from([0.0, THRESHOLD, 1.0, math.nan]), max_size=40), st.integers(1, 6))
def test_who_tells_which_keyframe_a_hit_is_of_has_them_all_however_soon_the_next_one_comes(
    scores: list[float], window: int
) -> None:
    hits = [frame for frame, score in enumerate(scores) if frame and score > THRESHOLD]
    selector = KeyframeSelector(LABELS, GreedySmoother(THRESHOLD, window))
    told = {frame: number for number, frame in enumerate(hits, start=1)}
    events = [
        event for frame, score in enumerate(scores) for event in selector.update(frame, score, told.get(frame, 0))
    ]
    shown = [event.frame for event in events if event.decision is Decision.PROVISIONAL]
    committed = [event.frame for event in events if event.decision is Decision.COMMITTED and event.frame]
    assert shown == hits  # each at once
    assert committed in (hits, hits[:-1])
    assert [event.phase for event in events] == sorted(event.phase for event in events)


def test_hits_of_one_keyframe_supersede_one_another() -> None:
    rising = {16: 1, 17: 1, 18: 1, 20: 2, 21: 2}  # the highest point of a lift so far, and of the next
    selector = KeyframeSelector(["start", "red", "green"], GreedySmoother(THRESHOLD))
    events = [
        event for frame in range(40) for event in selector.update(frame, float(frame in rising), rising.get(frame, 0))
    ]
    committed = [(event.label, event.frame) for event in events if event.decision is Decision.COMMITTED]
    assert committed == [("start", 0), ("red", 18), ("green", 21)]


def test_a_restarted_selector_takes_a_frame_that_it_sees_again_for_one_keyframe() -> None:
    selector = KeyframeSelector(["start", "red", "green"], GreedySmoother(THRESHOLD))
    selector.restore([Held(0, 0, 1.0, True), Held(5, 1, 1.0, False)], 4)
    assert [event.decision for event in selector.update(5, 1.0, 1)] == [Decision.SUPERSEDED]
    assert selector.phase == 1


def test_a_score_on_the_threshold_is_no_hit() -> None:
    smoother = GreedySmoother(0.5)
    assert smoother.update(0, 0.5) is None
    assert smoother.candidate is None


def test_reset_forgets_the_candidate_and_the_count() -> None:
    smoother = GreedySmoother(0.5, window=2)
    smoother.update(0, 0.9)
    smoother.update(1, 0.0)
    smoother.reset()
    assert [smoother.update(frame, 0.0) for frame in (2, 3, 4)] == [None, None, None]


def test_reset_to_a_candidate_gives_it_a_whole_window() -> None:
    smoother = GreedySmoother(0.5, window=2)
    smoother.reset(Candidate(7, 0.8))
    assert smoother.update(9, 0.0) is None
    assert smoother.update(10, 0.0) == (Decision.COMMITTED, Candidate(7, 0.8))


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan])
def test_refuses_a_threshold_outside_the_scores(threshold: float) -> None:
    with pytest.raises(ValueError, match=r"threshold is .*: it must lie in 0\.\.1"):
        GreedySmoother(threshold)


def test_refuses_an_empty_window() -> None:
    with pytest.raises(ValueError, match="window is 0 frames: it must be 1 or more"):
        GreedySmoother(0.5, 0)


@given(st.lists(st.one_of(st.just(0.1), st.floats(0.6, 1.0)), min_size=1, max_size=200))
def test_the_first_hit_is_kept_unless_it_is_far_back_and_has_the_best_score(scores):
    smoother = GreedySmoother(0.5, window=5, first=True)
    run: dict[int, float] = {}
    for frame, score in enumerate([*scores, *[0.1] * 5]):
        decided = smoother.update(frame, score)
        if score > 0.5:
            run[frame] = score
        if decided is None:
            continue
        assert decided[1].frame == max(min(run), max(run) - FARTHEST_BACK)
        assert decided[1].score == max(run.values())
        if decided[0] is Decision.COMMITTED:
            run = {}
    assert run == {}


def test_what_a_policy_is_given_neither_follows_the_present_nor_jumps_when_it_is_committed() -> None:
    found = decisions(GreedySmoother(0.5, window=5, first=True), [0.1, *[0.9] * 10, *[0.1] * 5])
    assert [candidate.frame for _, _, candidate in found] == [1] * 11
    assert found[-1][1] is Decision.COMMITTED
