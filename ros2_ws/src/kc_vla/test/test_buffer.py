import pytest
from hypothesis import given
from hypothesis import strategies as st
from observations import observation, same

from kc_vla.keyframes.buffer import LOST_FRAMES, BufferEntry, BufferRefusal, KeyframeBuffer
from kc_vla.keyframes.selector import KeyframeSelector, SelectorEvent
from kc_vla.keyframes.smoothing import Decision, GreedySmoother

SCORES = st.lists(st.sampled_from([0.0, 0.0, 0.9]), min_size=1, max_size=50)


def event(decision: Decision, frame: int, phase: int, decided_at: int | None = None) -> SelectorEvent:
    return SelectorEvent(decision, frame, frame if decided_at is None else decided_at, phase, f"phase {phase}", 0.9)


def filled(*frames: int, capacity: int = 16, recent: int = 64) -> KeyframeBuffer:
    """A buffer that has seen `frames` and holds the first of them as the keyframe of phase 0."""
    buffer = KeyframeBuffer(capacity, recent)
    buffer.begin("episode")
    buffer.observe(observation(frames[0]))
    buffer.apply(event(Decision.COMMITTED, frames[0], 0), "oracle", 0)
    for frame in frames[1:]:
        buffer.observe(observation(frame))
    return buffer


def frames_of(buffer: KeyframeBuffer, as_of: int | None = None, provisional: bool = True) -> list[int]:
    return [k.observation.frame for k in buffer.keyframes(as_of, provisional)]


class Model:
    """What the events say, in the plainest way: (frame, phase, committed), ascending by frame."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.held: list[tuple[int, int, bool]] = []

    def apply(self, new: SelectorEvent) -> None:
        committed = new.decision is Decision.COMMITTED
        kept = [h for h in self.held if h[0] != new.frame and (h[1] != new.phase or h[2])]
        self.held = sorted([*kept, (new.frame, new.phase, committed)])
        if len(self.held) > self.capacity:
            del self.held[1]


@given(SCORES, st.integers(1, 4), st.integers(2, 6), st.integers(8, 64), st.data())
def test_knows_of_every_recent_frame_what_was_known_then(
    scores: list[float], window: int, capacity: int, recent: int, data: st.DataObject
) -> None:
    selector = KeyframeSelector([f"phase {i}" for i in range(9)], GreedySmoother(0.5, window))
    buffer, model = KeyframeBuffer(capacity, recent), Model(capacity)
    buffer.begin("episode")
    known: list[list[tuple[int, int, bool]]] = []
    sequence = 0
    for frame, score in enumerate(scores):
        buffer.observe(observation(frame))
        for new in selector.update(frame, score):
            buffer.apply(new, "oracle", sequence)
            sequence += 1
            model.apply(new)
        known.append(list(model.held))
        if data.draw(st.booleans()):  # observations and events may run ahead of the scores that settle their frames
            buffer.settle(frame)
    assert [(e.frame, e.phase, e.committed) for e in buffer.index()] == model.held
    for frame in range(max(0, len(scores) - recent), len(scores)):
        for provisional in (True, False):
            given_ = buffer.keyframes(as_of=frame, provisional=provisional)
            expected = [held for held in known[frame] if provisional or held[2]]
            assert [(k.observation.frame, k.phase, k.committed) for k in given_] == expected
            assert all(same(k.observation, observation(k.observation.frame)) for k in given_)
            assert all((k.label, k.source) == (f"phase {k.phase}", "oracle") for k in given_)


@given(st.lists(st.tuples(st.integers(0, 200), st.sampled_from(list(Decision)), st.integers(0, 6)), max_size=60))
def test_stays_within_its_bounds_and_keeps_the_first_frame_whatever_comes(
    events: list[tuple[int, Decision, int]],
) -> None:
    buffer = filled(0, capacity=4, recent=8)
    for sequence, (frame, decision, phase) in enumerate(events, 1):
        newest = buffer.newest_frame + 1
        buffer.observe(observation(newest))
        committed = {entry.frame for entry in buffer.index() if entry.committed}
        try:
            buffer.apply(event(decision, newest - frame % 12, 1 + phase, newest), "oracle", sequence)
        except BufferRefusal:
            assert {entry.frame for entry in buffer.index()} >= committed
        buffer.settle(newest)
        entries = buffer.index()
        assert entries[0].frame == 0
        assert entries[0].committed
        assert [entry.frame for entry in entries] == sorted({entry.frame for entry in entries})
        assert len(entries) <= 4
        assert len(buffer._recent) <= 8
        assert len(buffer._history) <= 8
        lost = committed - {entry.frame for entry in entries if entry.committed}
        assert not lost or len(entries) == 4 or decision is Decision.RESET


@given(SCORES, st.integers(1, 4))
def test_events_taken_in_again_do_no_harm(scores: list[float], window: int) -> None:
    selector = KeyframeSelector([f"phase {i}" for i in range(9)], GreedySmoother(0.5, window))
    buffer = KeyframeBuffer()
    buffer.begin("episode")
    taken: list[SelectorEvent] = []
    for frame, score in enumerate(scores):
        buffer.observe(observation(frame))
        for new in selector.update(frame, score):
            buffer.apply(new, "oracle", len(taken))
            taken.append(new)
    before = buffer.index()
    for sequence, old in enumerate(taken):
        buffer.apply(old, "oracle", sequence)
        assert [e for e in buffer.index() if e.committed] == [e for e in before if e.committed]
    assert buffer.index() == before
    assert buffer.events == len(taken)


def test_a_candidate_gives_way_to_the_next_and_is_final_when_committed() -> None:
    buffer = filled(*range(20))
    buffer.apply(event(Decision.PROVISIONAL, 5, 1), "oracle", 1)
    buffer.apply(event(Decision.SUPERSEDED, 7, 1), "oracle", 2)
    assert buffer.index() == (BufferEntry(0, 0, "phase 0", 0.9, True), BufferEntry(7, 1, "phase 1", 0.9, False))
    assert frames_of(buffer, provisional=False) == [0]
    buffer.apply(event(Decision.COMMITTED, 7, 1, 12), "oracle", 3)
    assert frames_of(buffer, provisional=False) == [0, 7]
    assert frames_of(buffer, as_of=6) == [0, 5]


def test_a_superseded_candidate_that_left_the_ring_is_still_known() -> None:
    buffer = filled(*range(6), recent=8)
    buffer.apply(event(Decision.PROVISIONAL, 5, 1), "oracle", 1)
    for frame in range(6, 30):
        buffer.observe(observation(frame))
    buffer.apply(event(Decision.SUPERSEDED, 29, 1), "oracle", 2)
    (_, candidate) = buffer.keyframes(as_of=28)
    assert same(candidate.observation, observation(5))
    assert (candidate.score, candidate.source) == (0.9, "oracle")


def test_an_event_that_comes_late_counts_from_the_newest_decision_on() -> None:
    buffer = filled(*range(30))
    buffer.apply(event(Decision.COMMITTED, 20, 2, 25), "oracle", 2)
    buffer.apply(event(Decision.COMMITTED, 10, 1, 15), "oracle", 3)
    assert frames_of(buffer, as_of=29) == [0, 10, 20]
    assert frames_of(buffer, as_of=24) == [0]


def test_the_oldest_but_the_first_leaves_a_full_buffer() -> None:
    buffer = filled(*range(40), capacity=3)
    for phase in range(1, 5):
        buffer.apply(event(Decision.COMMITTED, 8 * phase, phase), "oracle", phase)
    assert frames_of(buffer) == [0, 24, 32]


def test_an_event_of_a_frame_that_left_is_refused_and_harms_nothing() -> None:
    buffer = filled(*range(40), recent=8)
    with pytest.raises(
        BufferRefusal,
        match=r"'phase 1' names frame 20, which is not held: the ring keeps 8 frames, from 32 on: raise recent_frames",
    ):
        buffer.apply(event(Decision.COMMITTED, 20, 1), "oracle", 1)
    assert frames_of(buffer) == [0]
    assert buffer.events == 2


@pytest.mark.parametrize("gap", range(1, LOST_FRAMES + 2))
def test_the_nearest_frame_stands_in_for_a_lost_one(gap: int) -> None:
    buffer = filled(0, *range(10 + gap, 20))
    if gap <= LOST_FRAMES:
        buffer.apply(event(Decision.PROVISIONAL, 10, 1), "oracle", 1)
        assert frames_of(buffer) == [0, 10 + gap]
    else:
        with pytest.raises(BufferRefusal, match="names frame 10"):
            buffer.apply(event(Decision.PROVISIONAL, 10, 1), "oracle", 1)


def test_the_first_whole_observation_stands_in_for_the_start() -> None:
    buffer = KeyframeBuffer(recent=8)
    buffer.begin("e")
    buffer.observe(observation(17))  # the arm was late until then
    buffer.apply(event(Decision.COMMITTED, 0, 0), "oracle", 0)
    assert buffer.index() == (BufferEntry(17, 0, "phase 0", 0.9, True),)
    for frame in range(18, 40):
        buffer.observe(observation(frame))
    buffer.apply(event(Decision.PROVISIONAL, 39, 1), "oracle", 1)
    assert frames_of(buffer) == [17, 39]


def test_a_start_that_left_the_ring_has_no_stand_in() -> None:
    buffer = KeyframeBuffer(recent=8)
    buffer.begin("e")
    for frame in range(17, 40):
        buffer.observe(observation(frame))
    with pytest.raises(BufferRefusal, match="names frame 0, which is not held"):
        buffer.apply(event(Decision.COMMITTED, 0, 0), "oracle", 0)


def test_a_stand_in_is_committed_even_when_the_ring_has_moved_on() -> None:
    buffer = filled(*range(10), recent=8)
    buffer.apply(event(Decision.PROVISIONAL, 10, 1), "oracle", 1)
    for frame in range(13, 40):
        buffer.observe(observation(frame))
    buffer.apply(event(Decision.COMMITTED, 10, 1, 39), "oracle", 2)
    assert buffer.index()[1] == BufferEntry(9, 1, "phase 1", 0.9, True)


def test_a_keyframe_of_another_phase_never_stands_in() -> None:
    buffer = filled(*range(10), 20)
    buffer.apply(event(Decision.COMMITTED, 9, 1), "oracle", 1)
    buffer.apply(event(Decision.PROVISIONAL, 10, 2), "oracle", 2)
    assert buffer.index()[1:] == (BufferEntry(8, 2, "phase 2", 0.9, False), BufferEntry(9, 1, "phase 1", 0.9, True))


def test_reset_keeps_only_the_first_frame_and_counts_once() -> None:
    buffer = filled(*range(20))
    buffer.apply(event(Decision.COMMITTED, 5, 1), "oracle", 1)
    buffer.apply(event(Decision.RESET, 6, 0), "oracle", 2)
    assert frames_of(buffer) == [0]
    assert frames_of(buffer, as_of=6) == [0]
    buffer.apply(event(Decision.COMMITTED, 9, 1), "oracle", 3)
    buffer.apply(event(Decision.RESET, 6, 0), "oracle", 2)
    assert frames_of(buffer) == [0, 9]


def test_a_person_keeps_a_recent_frame() -> None:
    buffer = filled(*range(20))
    buffer.apply(event(Decision.PROVISIONAL, 15, 1), "oracle", 1)
    buffer.inject(12, "")
    held = buffer.keyframes(as_of=3)[1]
    assert (held.observation.frame, held.label, held.source, held.committed) == (12, "injected", "injected", True)
    # the open phase of the candidate stays open
    assert held.phase == 0


def test_what_a_person_keeps_outlives_candidates() -> None:
    buffer = filled(*range(20))
    buffer.inject(15, "look")
    buffer.apply(event(Decision.PROVISIONAL, 15, 1), "oracle", 1)
    buffer.apply(event(Decision.SUPERSEDED, 16, 1), "oracle", 2)
    assert frames_of(buffer) == [0, 15, 16]
    assert frames_of(buffer, provisional=False) == [0, 15]


def test_what_a_person_keeps_instead_of_a_forgotten_keyframe_outlives_repeated_events() -> None:
    buffer = filled(*range(20))
    kept = event(Decision.COMMITTED, 5, 1)
    buffer.apply(kept, "oracle", 1)
    buffer.forget()
    buffer.inject(5, "look")
    buffer.apply(kept, "oracle", 1)
    assert buffer.index()[1] == BufferEntry(5, 0, "look", 1.0, True)


def test_refuses_to_inject_what_is_not_there() -> None:
    buffer = filled(*range(20), recent=8)
    with pytest.raises(BufferRefusal, match=r"frame 3 cannot be injected: the ring of recent frames is 12\.\.19"):
        buffer.inject(3, "look")
    with pytest.raises(BufferRefusal, match="frame 0 is a keyframe already: 'phase 0'"):
        buffer.inject(0, "look")
    with pytest.raises(BufferRefusal, match="the ring of recent frames is empty"):
        KeyframeBuffer().inject(0, "look")


def test_refuses_to_inject_what_would_leave_at_once() -> None:
    buffer = filled(*range(20), capacity=2)
    buffer.apply(event(Decision.COMMITTED, 15, 1), "oracle", 1)
    with pytest.raises(BufferRefusal, match=r"buffer is full \(2 keyframes\).*raise capacity"):
        buffer.inject(12, "look")
    buffer.inject(16, "look")
    assert frames_of(buffer) == [0, 16]


def test_what_a_skill_depends_on_stays_while_others_leave() -> None:
    buffer = filled(*range(40), capacity=4)
    for phase, frame in enumerate((5, 10, 15), start=1):
        buffer.apply(event(Decision.COMMITTED, frame, phase), "oracle", phase)
    buffer.keep(5)
    buffer.keep(5)
    buffer.apply(event(Decision.COMMITTED, 20, 4), "oracle", 4)
    assert frames_of(buffer) == [0, 5, 15, 20]
    with pytest.raises(BufferRefusal, match="the buffer holds the keyframes 0, 5, 15, 20"):
        buffer.keep(10)
    buffer.keep(15)
    with pytest.raises(BufferRefusal, match="2 are, half of the 4 that the buffer holds: raise capacity"):
        buffer.keep(20)
    buffer.begin("another")
    buffer.observe(observation(0))
    buffer.apply(event(Decision.COMMITTED, 0, 0), "oracle", 0)
    buffer.keep(0)


def test_forget_keeps_the_first_frame() -> None:
    buffer = filled(*range(20))
    buffer.apply(event(Decision.COMMITTED, 5, 1), "oracle", 1)
    buffer.forget()
    assert frames_of(buffer) == frames_of(buffer, as_of=10) == [0]


def test_a_new_episode_begins_with_nothing() -> None:
    buffer = filled(*range(20))
    buffer.settle(10)
    buffer.begin("another")
    assert (buffer.index(), buffer.newest_frame, buffer.settled_frame, buffer.events) == ((), -1, -1, 0)
    assert buffer.keyframes(as_of=5) == []


def test_knows_the_frames_up_to_the_settled_one() -> None:
    buffer = filled(*range(20))
    buffer.settle(10)
    buffer.settle(8)
    assert buffer.settled_frame == 10
    assert buffer.knows(10)
    assert not buffer.knows(11)


@pytest.mark.parametrize(("capacity", "recent", "message"), [(1, 8, "capacity of 1"), (2, 0, "ring of 0")])
def test_refuses_sizes_that_cannot_work(capacity: int, recent: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KeyframeBuffer(capacity, recent)
