"""A source at work, and where it starts."""

import math

import numpy as np
import pytest

from kc_vla.core.episode import Episode
from kc_vla.keyframes.joining import JOIN_PATIENCE_S, Index, Joining, Start
from kc_vla.keyframes.live import FrameToScore, LiveSelector
from kc_vla.keyframes.scoring import ScorerInput, Scoring
from kc_vla.keyframes.selector import Held
from kc_vla.keyframes.smoothing import Decision

EPISODE = Episode("e", "counting", "push", 0, 50_000_000, True)
HELD = (Held(0, 0, 1.0, True), Held(9, 1, 0.8, False))
THRESHOLD, AS_THE_SOURCE = 0.5, -1.0
BEGINNING = Start()


class Source:
    """Scores what the oracle says, and notes for which phase it was asked."""

    needs = ("oracle",)
    runs_on = "-"

    def __init__(self) -> None:
        self.phases: list[int] = []

    def begin(self, episode: Episode) -> Scoring:
        if episode.task != "counting":
            raise ValueError("only counting is known")
        return Scoring(("start", "first", "second"), self, THRESHOLD, remark="mind the gap")

    def score(self, sight: ScorerInput, phase: int) -> float:
        self.phases.append(phase)
        assert sight.oracle is not None
        return sight.oracle


def look(frame: int, score: float, start: Start = BEGINNING, threshold: float = AS_THE_SOURCE) -> FrameToScore:
    return FrameToScore(
        frame, ScorerInput(frame, {"front": np.zeros((2, 2, 3), np.uint8)}, oracle=score), threshold, start
    )


def test_each_frame_is_scored_for_the_phase_that_those_before_it_led_to() -> None:
    source = Source()
    live = LiveSelector(source, window_frames=1)
    assert live.begin(EPISODE) == "mind the gap"
    found = [live.take(look(frame, score)) for frame, score in enumerate((0.0, 0.9, 0.1, 0.6, 0.1, 0.9))]
    assert all(found)
    events = [(e.decision, e.frame, e.label) for each in found if each for e in each.events]
    assert events == [
        (Decision.COMMITTED, 0, "start"),
        (Decision.PROVISIONAL, 1, "first"),
        (Decision.COMMITTED, 1, "first"),
        (Decision.PROVISIONAL, 3, "second"),
        (Decision.COMMITTED, 3, "second"),
    ]
    assert source.phases == [0, 1, 1, 2, 2, 3]
    assert [each.phase for each in found if each] == [1, 1, 2, 2, 3, 3]


def test_the_threshold_is_that_of_the_frame_and_otherwise_the_sources() -> None:
    live = LiveSelector(Source(), window_frames=1)
    live.begin(EPISODE)
    live.take(look(0, 0.0))
    first, second, third = (live.take(look(k, 0.7, threshold=t)) for k, t in ((1, 0.8), (2, AS_THE_SOURCE), (3, 0.8)))
    assert first
    assert second
    assert third
    assert [(each.threshold, len(each.events)) for each in (first, second, third)] == [(0.8, 0), (0.5, 1), (0.8, 1)]


def test_a_task_that_the_source_does_not_know_finds_nothing_until_the_next_episode() -> None:
    live = LiveSelector(Source(), window_frames=1)
    with pytest.raises(ValueError, match="only counting is known"):
        live.begin(Episode("e", "cooking", "stir", 0, 50_000_000, True))
    assert live.take(look(0, 0.9)) is None
    live.begin(EPISODE)
    assert live.take(look(0, 0.9)) is not None


def test_it_goes_on_from_what_was_held_even_if_its_first_frame_never_comes() -> None:
    source, start = Source(), Start(HELD, 20, 3)
    live = LiveSelector(source, window_frames=1)
    live.begin(EPISODE)
    seen_before = live.take(look(20, 0.9, start))
    assert seen_before
    assert math.isnan(seen_before.score)
    assert seen_before.events == []
    after = live.take(look(21, 0.1, start))
    assert after
    assert [(e.decision, e.frame, e.phase) for e in after.events] == [(Decision.COMMITTED, 9, 1)]
    assert source.phases == [1]


def test_the_first_frame_of_an_episode_needs_no_buffer() -> None:
    assert Joining().start("e", 0, None) == Start()


def test_a_later_one_goes_on_from_what_the_buffer_holds_of_this_episode() -> None:
    index = Index("e", 19, 3, HELD)
    assert Joining().start("e", 25, index) == Start(HELD, 19, 3)
    assert Joining().start("e", 12, index) == Start(HELD, 12, 3)
    assert Joining().start("e", 25, Index("e", -1, 0, ())) == Start()  # nobody has seen anything


def test_it_waits_for_the_buffer_and_not_for_ever() -> None:
    now = 100.0
    joining = Joining(lambda: now)
    of_another = Index("other", 19, 3, HELD)
    assert joining.start("e", 25, of_another) is None
    now += JOIN_PATIENCE_S - 1
    assert joining.start("e", 30, None) is None
    now += 1
    start = joining.start("e", 31, None)
    assert start is not None
    assert start.problem == "starts at frame 31 without the keyframes before it: keyframe_buffer does not tell of any"
    joining.begin()
    assert joining.start("f", 25, None) is None
