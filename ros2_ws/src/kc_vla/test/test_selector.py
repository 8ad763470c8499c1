import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.keyframes.selector import Held, KeyframeSelector, SelectorEvent
from kc_vla.keyframes.smoothing import Decision, GreedySmoother

THRESHOLD = 0.5
QUIET, HIT = 0.1, 0.9
RUNS = st.lists(st.tuples(st.sampled_from([QUIET, HIT, math.nan]), st.integers(1, 6)), min_size=1, max_size=15)
SCORES = RUNS.map(lambda runs: [score for score, length in runs for _ in range(length)])


def selector(labels: int, window: int) -> KeyframeSelector:
    return KeyframeSelector([f"phase {i}" for i in range(labels)], GreedySmoother(THRESHOLD, window))


def run(subject: KeyframeSelector, scores: list[float], first: int = 0) -> list[SelectorEvent]:
    return [e for frame, score in enumerate(scores[first:], first) for e in subject.update(frame, score)]


def committed(events: list[SelectorEvent]) -> list[int]:
    return [event.frame for event in events if event.decision is Decision.COMMITTED]


def held_after(events: list[SelectorEvent]) -> list[Held]:
    """What the buffer holds after these events."""
    held: dict[int, Held] = {}
    for event in events:
        held[event.phase] = Held(event.frame, event.phase, event.score, event.decision is Decision.COMMITTED)
    return sorted(held.values(), key=lambda h: h.frame)


def by_the_rule(scores: list[float], labels: int, window: int) -> list[int]:
    """Frame 0, then each frame above the threshold with `window` quiet scores after it, up to one for each label."""
    scored = [frame for frame in range(1, len(scores)) if not math.isnan(scores[frame])]
    found = [0]
    for at, frame in enumerate(scored):
        after = scored[at + 1 : at + 1 + window]
        if scores[frame] > THRESHOLD and len(after) == window and all(scores[f] <= THRESHOLD for f in after):
            found.append(frame)
    return found[:labels]


@given(SCORES, st.integers(1, 5), st.integers(1, 5))
def test_commits_by_the_rule_and_never_more_than_the_task_has(scores: list[float], labels: int, window: int) -> None:
    assert committed(run(selector(labels, window), scores)) == by_the_rule(scores, labels, window)


@given(SCORES, st.integers(1, 5), st.integers(1, 5))
def test_phases_come_in_order_each_ended_by_its_commit(scores: list[float], labels: int, window: int) -> None:
    phase, pending = 0, None
    for event in run(selector(labels, window), scores):
        assert (event.phase, event.label) == (phase, f"phase {phase}")
        assert event.frame <= event.decided_at
        if event.decision is Decision.COMMITTED:
            assert event.frame == (0 if phase == 0 else pending)
            phase, pending = phase + 1, None
        else:
            assert event.decision is (Decision.PROVISIONAL if pending is None else Decision.SUPERSEDED)
            assert event.frame == event.decided_at
            pending = event.frame
    assert phase <= labels


@given(SCORES, st.integers(2, 5), st.integers(1, 5), st.data())
def test_a_restart_changes_nothing_unless_a_hit_falls_into_the_prolonged_window(
    scores: list[float], labels: int, window: int, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(scores) - 1), label="last frame before the restart")
    whole = selector(labels, window)
    uninterrupted = committed(run(whole, scores))

    before = run(selector(labels, window), scores[: cut + 1])
    held = held_after(before)
    restarted = selector(labels, window)
    restarted.restore(held, cut)
    after = run(restarted, scores, cut + 1)

    lost = 0  # quiet frames that the pending candidate had behind it, which the restarted selector does not know
    if not held[-1].committed:
        lost = sum(not math.isnan(scores[f]) for f in range(held[-1].frame + 1, cut + 1))
    to_come = [score for score in scores[cut + 1 :] if not math.isnan(score)]
    hit = next((at for at, score in enumerate(to_come, 1) if score > THRESHOLD), math.inf)
    # the whole run commits at the (window - lost)-th score to come, the restarted one at the window-th
    whole_commits = lost > 0 and len(to_come) >= window - lost and hit > window - lost
    restarted_commits = len(to_come) >= window and hit > window
    differs = whole_commits and not restarted_commits
    assert (committed(before) + committed(after) == uninterrupted) == (not differs)


def test_a_restart_when_all_is_committed_finds_the_task_done() -> None:
    subject = selector(2, 1)
    subject.restore([Held(0, 0, 1.0, True), Held(9, 1, HIT, True)], 10)
    assert subject.done
    assert run(subject, [HIT] * 20, first=11) == []


def test_a_restart_ignores_candidates_of_phases_that_are_over() -> None:
    subject = selector(3, 1)
    subject.restore([Held(0, 0, 1.0, True), Held(4, 1, HIT, False), Held(6, 1, HIT, True)], 7)
    assert [(e.decision, e.phase) for e in subject.update(8, HIT)] == [(Decision.PROVISIONAL, 2)]


def test_a_candidate_keeps_its_score_over_a_restart() -> None:
    subject = selector(2, 1)
    subject.restore([Held(0, 0, 1.0, True), Held(4, 1, 0.7, False)], 5)
    assert [(e.decision, e.frame, e.score) for e in subject.update(6, QUIET)] == [(Decision.COMMITTED, 4, 0.7)]


@pytest.mark.parametrize("frame", [3, 2])
def test_refuses_frames_that_do_not_ascend(frame: int) -> None:
    subject = selector(2, 1)
    subject.update(3, QUIET)
    with pytest.raises(ValueError, match=f"frame {frame} came after frame 3: frames must ascend"):
        subject.update(frame, QUIET)


def test_the_first_frame_is_a_keyframe_whatever_its_score() -> None:
    (event,) = selector(2, 5).update(0, math.nan)
    assert (event.decision, event.frame, event.phase) == (Decision.COMMITTED, 0, 0)


def test_refuses_a_task_without_keyframes() -> None:
    with pytest.raises(ValueError, match="at least one keyframe label"):
        selector(0, 5)
