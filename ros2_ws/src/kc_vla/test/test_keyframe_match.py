"""Which of the selected keyframes a person is told to be right."""

from kc_vla.episodes.episode_data import KeyframeState
from kc_vla.episodes.keyframe_match import match_with_truth

LABELS = ("start", "put aside", "grasped")


def selected(**frames: int) -> list[KeyframeState]:
    return [
        KeyframeState(
            phase=phase, label=label.replace("_", " "), frame=frame, score=0.9, committed=True, decided_at_frame=frame
        )
        for phase, (label, frame) in enumerate(frames.items())
    ]


def told(keyframes: list[KeyframeState], labels: tuple[str, ...] = LABELS) -> list[tuple[str, int | None, int | None]]:
    return [(m.label, m.frame, m.oracle_frame) for m in match_with_truth(keyframes, (0, 175, 210), labels)]


def test_a_phase_is_compared_with_the_same_phase_of_the_truth() -> None:
    assert told(selected(start=0, put_aside=209)) == [("start", 0, 0), ("put aside", 209, 175), ("grasped", None, 210)]
    assert told(selected(start=0)) == [("start", 0, 0), ("put aside", None, 175), ("grasped", None, 210)]


def test_what_knows_of_no_phases_is_compared_with_the_nearest_keyframe_of_the_truth() -> None:
    events = selected(start=0, event_1=134, event_2=166, event_3=172, event_4=270)
    assert told(events) == [
        ("start", 0, 0),
        ("event 1", 134, None),
        ("event 2", 166, None),
        ("event 3", 172, 175),
        ("event 4", 270, None),
        ("grasped", None, 210),
    ]
    assert [match.right for match in match_with_truth(events, (0, 175, 210), LABELS)].count(True) == 2


def test_a_keyframe_between_two_of_the_truth_leaves_the_nearer_one_to_another():
    events = selected(start=0, event_1=176, event_2=184)
    assert [m.oracle_frame for m in match_with_truth(events, (0, 170, 178), LABELS)] == [0, 170, 178]


def test_without_a_truth_nothing_is_compared() -> None:
    assert [m.oracle_frame for m in match_with_truth(selected(start=0, event_1=134), (), ())] == [None, None]
