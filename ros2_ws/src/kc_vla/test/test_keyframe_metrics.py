import math

from hypothesis import given
from hypothesis import strategies as st

from kc_vla.keyframes.metrics import Counts, DetectedKeyframe, clusters, count, delays, median_frame, paired


def detection(phase: int, frame: int) -> DetectedKeyframe:
    return DetectedKeyframe(phase, frame, frame, frame - 2)


def test_triggers_within_five_frames_of_one_another_are_one_detection():
    assert clusters([3, 4, 9, 15, 20, 40]) == [[3, 4, 9], [15, 20], [40]]


def test_the_middle_of_a_cluster_stands_for_it():
    assert median_frame([3, 4, 9]) == 4
    assert median_frame([3, 4, 9, 10]) == 4


def test_ten_frames_off_is_right_and_eleven_is_both_wrong_and_missed():
    assert count([detection(1, 60)], [0, 50]) == Counts(1, 0, 0)
    assert count([detection(1, 61)], [0, 50]) == Counts(0, 1, 1)


def test_a_second_detection_of_a_keyframe_is_a_false_positive():
    assert count([detection(1, 50), detection(1, 57)], [0, 50]) == Counts(1, 1, 0)


def test_a_detection_in_the_place_of_another_phase_is_wrong():
    assert count([detection(2, 50)], [0, 50, 90]) == Counts(0, 1, 2)


def test_frame_zero_counts_neither_way():
    assert count([detection(0, 0)], [0]) == Counts()


def test_rates_are_those_of_the_papers_table():
    counts = Counts(true_positives=39, false_positives=1, false_negatives=1)
    assert round(counts.f1, 3) == 0.975
    assert round(counts.false_positive_rate, 3) == 0.025
    assert round(counts.false_negative_rate, 3) == 0.025


def test_nothing_found_has_no_precision_and_an_f1_of_0():
    counts = Counts(0, 0, 4)
    assert math.isnan(counts.precision)
    assert math.isnan(counts.false_positive_rate)
    assert (counts.recall, counts.f1) == (0.0, 0.0)


def test_where_there_is_nothing_to_find_there_is_no_recall():
    assert math.isnan(Counts(0, 3, 0).recall)
    assert Counts(0, 3, 0).f1 == 0.0
    assert math.isnan(Counts().f1)


def test_delay_runs_from_the_truth_to_what_the_policy_saw_first():
    assert delays([detection(1, 52), detection(2, 200)], [0, 50, 90]) == [0]


@given(
    st.lists(st.integers(0, 400), unique=True, min_size=1, max_size=5).map(sorted),
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 420)), max_size=12),
)
def test_every_keyframe_and_every_detection_is_counted_once(later, found):
    truth = [0, *(frame + 1 for frame in later)]
    counts = count([detection(phase, frame) for phase, frame in found], truth)
    assert counts.true_positives + counts.false_negatives == len(later)
    assert counts.true_positives + counts.false_positives == len(found)


FRAMES = st.lists(st.integers(0, 40), max_size=6, unique=True).map(sorted)


@given(FRAMES, FRAMES, st.integers(0, 6))
def test_as_many_true_keyframes_as_can_be_have_a_frame_of_their_own_and_the_nearest(frames, truth, tolerance):
    def best(left, right):
        """Most pairs, and the fewest frames between them, negative."""
        if not left:
            return 0, 0
        ways = [best(left[1:], right)]
        for other in right:
            if (apart := abs(left[0] - other)) <= tolerance:
                pairs, near = best(left[1:], [frame for frame in right if frame != other])
                ways.append((pairs + 1, near - apart))
        return max(ways)

    pairs = paired(frames, truth, tolerance)
    apart = [abs(frames[place] - truth[number]) for place, number in pairs.items()]
    assert len({*pairs.values()}) == len(pairs)
    assert max(apart, default=0) <= tolerance
    assert (len(pairs), -sum(apart)) == best(frames, truth)
