from hypothesis import given
from hypothesis import strategies as st
from observations import observation

from kc_vla.keyframes.buffer import KeyframeBuffer
from kc_vla.keyframes.intake import LOST_EVENT_NS, EventNote, KeyframeIntake, ScoreNote
from kc_vla.keyframes.selector import SelectorEvent
from kc_vla.keyframes.smoothing import Decision

EPISODE = "counting-1"


def intake(episode: str = EPISODE) -> KeyframeIntake:
    made = KeyframeIntake(KeyframeBuffer())
    made.begin(episode)
    return made


def event(sequence: int, frame: int, phase: int = 0, episode: str = EPISODE) -> EventNote:
    return EventNote(
        episode, sequence, SelectorEvent(Decision.COMMITTED, frame, frame, phase, f"phase {phase}", 1.0), "oracle"
    )


def score(frame: int, events: int, episode: str = EPISODE, published_ns: int = 0) -> ScoreNote:
    return ScoreNote(episode, frame, events, published_ns)


@given(st.permutations(range(12)))
def test_frames_settle_in_order_with_their_keyframes_however_topics_overtake(order: list[int]) -> None:
    # Each topic keeps its own order; only the topics overtake one another.
    subject = intake()
    streams = {
        "observation": [lambda f=f: subject.observe(observation(f)) for f in range(4)],
        "event": [lambda f=f: subject.put_event(event(f, f, f)) for f in range(4)],
        "score": [lambda f=f: subject.put_score(score(f, f + 1)) for f in range(4)],
    }
    turns = ["observation"] * 4 + ["event"] * 4 + ["score"] * 4
    settled = []
    for turn in order:
        streams[turns[turn]].pop(0)()
        done, problems = subject.advance()
        assert problems == []
        for note in done:
            settled.append(note.frame)
            assert note.frame <= subject.buffer.newest_frame
            assert note.frame in [entry.frame for entry in subject.buffer.index()]
    assert settled == [0, 1, 2, 3]


def test_what_comes_before_the_status_of_its_episode_is_kept_for_it() -> None:
    subject = intake("counting-0")
    subject.put_event(event(0, 0))
    subject.put_score(score(0, 1))
    assert subject.advance() == ([], [])
    subject.begin(EPISODE)
    subject.observe(observation(0))
    settled, _ = subject.advance()
    assert [note.frame for note in settled] == [0]


def test_what_is_left_over_from_an_ended_episode_does_not_stand_in_the_way() -> None:
    subject = intake("counting-0")
    subject.put_event(event(0, 7, episode="counting-0"))
    subject.put_score(score(7, 1, episode="counting-0"))
    subject.advance()
    subject.begin(EPISODE)
    subject.observe(observation(0))
    subject.put_event(event(0, 0))
    subject.put_score(score(0, 1))
    settled, problems = subject.advance()
    assert [note.frame for note in settled] == [0]
    assert problems == []
    assert [entry.frame for entry in subject.buffer.index()] == [0]


def test_a_lost_event_is_given_up_after_a_while_and_counted() -> None:
    subject = intake()
    subject.observe(observation(0))
    subject.put_score(score(0, 2, published_ns=10))
    assert subject.advance() == ([], [])
    assert subject.give_up(10 + LOST_EVENT_NS - 1) == 0
    assert subject.give_up(10 + LOST_EVENT_NS) == 2
    settled, _ = subject.advance()
    assert [note.frame for note in settled] == [0]
    assert subject.lost_events == 2


def test_an_event_of_a_frame_that_nobody_saw_is_told() -> None:
    subject = intake()
    subject.observe(observation(20))
    subject.put_event(event(0, 5, phase=1))
    _, problems = subject.advance()
    assert len(problems) == 1
    assert "names frame 5, which is not held: a camera or the arm gave nothing for it" in problems[0]


def test_an_episode_that_nobody_announced_blocks_nothing() -> None:
    # the status of an episode that was reset at once may be overwritten before it is read
    subject = intake()
    subject.put_event(event(0, 0, episode="missed"))
    subject.put_score(score(0, 1, episode="missed"))
    subject.observe(observation(0))
    subject.put_event(event(0, 0))
    subject.put_score(score(0, 1))
    settled, problems = subject.advance()
    assert [note.episode_id for note in settled] == [EPISODE]
    assert problems == []
