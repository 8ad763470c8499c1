"""Events as a source of keyframes: of any task, bounded, and without those that look as the keyframe before them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.episode import Episode
from kc_vla.keyframes.event_selector import MOST, EventScorer, EventSource, open_events
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import FrameToScore, LiveSelector
from kc_vla.keyframes.scoring import ScorerInput, SourceError
from kc_vla.keyframes.selectors import NetworkOptions

PERIOD_NS = 50_000_000
UNKNOWN = Episode("e", "no such task", "Do what nobody has heard of.", 0, PERIOD_NS, True)


def sight(frame: int, x: float = 0.0, gripper: float = 0.08, shade: int = 100) -> ScorerInput:
    pixels = np.full((32, 32, 3), 100, np.uint8)
    pixels[:16] = shade
    return ScorerInput(frame * PERIOD_NS, {"front": pixels}, gripper=gripper, tool_position=np.array([x, 0.0, 0.2]))


def looks(seen: ScorerInput) -> np.ndarray:
    """Features: the shades of both halves of the picture, relative to gray."""
    return np.array([seen.pixels[0, 0, 0] - 50.0, seen.pixels[-1, 0, 0] - 50.0], np.float32)


@pytest.fixture(scope="module")
def source() -> EventSource:
    return open_events(NetworkOptions(device="cpu"))


def kept(source: object, sights: list[ScorerInput]) -> list[tuple[int, str]]:
    live = LiveSelector(source, window_frames=5)  # type: ignore[arg-type]
    assert live.begin(UNKNOWN) == ""
    found = [live.take(FrameToScore(frame, seen, -1.0, Start())) for frame, seen in enumerate(sights)]
    last = {event.phase: event for each in found if each is not None for event in each.events}
    return [(event.frame, event.label) for _, event in sorted(last.items())]


def test_a_task_that_nobody_knows_has_keyframes_by_the_shipped_trunk(source: EventSource) -> None:
    """The lamp goes on in frame 20 and off in 40, on in 60 and off in 80: the same view again is an event again."""
    sights = [sight(frame, shade=230 if frame // 20 in (1, 3) else 20) for frame in range(100)]
    found = kept(source, sights)
    assert [label for _, label in found] == ["start", "event 1", "event 2", "event 3", "event 4"]
    assert [frame for frame, _ in found] == pytest.approx([0, 20, 40, 60, 80], abs=3)


def stop_at(frame: int, when: int) -> float:
    """A reach of 0.4 m/s that stops in frame `when`."""
    return 0.02 * min(max(frame - when + 10, 0), 10)


def test_a_stop_where_nothing_looks_different_is_no_keyframe() -> None:
    def scored(shade: int) -> list[float]:
        scorer = EventScorer(looks)
        return [
            scorer.score(sight(frame, stop_at(frame, 20), shade=shade if frame > 5 else 100), 1) for frame in range(40)
        ]

    assert max(scored(100)) < 0.5 < max(scored(240))


def test_a_grip_counts_though_a_far_camera_does_not_see_it() -> None:
    scorer = EventScorer(looks)
    openings = [0.08] * 10 + [0.06, 0.05, 0.04] + [0.04] * 10
    assert max(scorer.score(sight(frame, gripper=opening), 1) for frame, opening in enumerate(openings)) == 1.0


@pytest.mark.parametrize("shade", [0, 100])
def test_of_a_dead_camera_no_stop_is_kept(source: EventSource, shade: int) -> None:
    black = np.full((32, 32, 3), shade, np.uint8)
    sights = [
        ScorerInput(
            frame * PERIOD_NS, {"front": black}, 0.08, np.array([stop_at(frame, 20) + stop_at(frame, 50), 0, 0])
        )
        for frame in range(80)
    ]
    assert kept(source, sights) == [(0, "start")]


def test_features_that_are_nothing_look_like_anything() -> None:
    scorer = EventScorer(lambda _seen: np.zeros(4, np.float32))
    assert max(scorer.score(sight(frame, stop_at(frame, 20)), 1) for frame in range(40)) == 0.0


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (sight(1, x=math.nan), "the place of the tool is no finite number"),
        (sight(1, gripper=math.inf), "the opening of the gripper is no finite number"),
        (sight(1, math.nan, math.nan), "the opening of the gripper and the place of the tool is no finite number"),
    ],
)
def test_numbers_that_are_none_are_told_in_a_line_and_leave_no_trace(
    source: EventSource, broken: ScorerInput, told: str
) -> None:
    live = LiveSelector(source, window_frames=5)
    live.begin(UNKNOWN)
    found = [
        live.take(FrameToScore(frame, seen, -1.0, Start())) for frame, seen in enumerate((sight(0), broken, sight(2)))
    ]
    assert [each.problem for each in found if each] == ["", f"{told}: such frames are not scored", ""]
    assert [math.isnan(each.score) for each in found if each] == [False, True, False]


SEEN = st.tuples(st.floats(-1, 1), st.floats(0, 0.08), st.integers(0, 255))


@given(st.lists(SEEN, min_size=1, max_size=80))
def test_keyframes_are_bounded_and_scores_are_shares(frames: list[tuple[float, float, int]]) -> None:
    """However wild arm, gripper and scene are, one keyframe takes a frame and the quiet ones after it."""

    class Wild:
        needs, runs_on = ("joints", "tool_pose"), "-"

        def begin(self, episode: Episode) -> object:
            scoring = EventSource.begin(self, episode)  # type: ignore[arg-type]
            self.labels = len(scoring.labels)
            return scoring

        def _encode(self, seen: ScorerInput) -> np.ndarray:
            return looks(seen)

    source = Wild()
    sights = [sight(k, *seen) for k, seen in enumerate(frames)]
    assert len(kept(source, sights)) <= min(source.labels, 2 + len(frames) // 6)
    scorer = EventScorer(looks)
    assert all(0.0 <= scorer.score(seen, 1) <= 1.0 for seen in sights)


def test_after_the_last_keyframe_no_picture_is_looked_at() -> None:
    looked = []
    scorer = EventScorer(lambda seen: looked.append(seen) or looks(seen))  # type: ignore[func-returns-value]
    scores = [scorer.score(sight(frame, shade=240 if frame > 10 else 100), MOST) for frame in range(20)]
    assert scores == [0.0] * 20
    assert len(looked) == 1


@given(st.lists(SEEN, min_size=2, max_size=40), st.integers(1, 40))
def test_a_score_never_depends_on_later_frames(frames: list[tuple[float, float, int]], cut: int) -> None:
    def scored(part: list[tuple[float, float, int]]) -> list[float]:
        scorer = EventScorer(looks)
        return [scorer.score(sight(k, *seen), 1) for k, seen in enumerate(part)]

    assert scored(frames)[:cut] == scored(frames[:cut])


def test_without_the_trunk_there_is_one_line(tmp_path) -> None:
    with pytest.raises(SourceError, match="registry"):
        open_events(NetworkOptions(models_folder=str(tmp_path)))
