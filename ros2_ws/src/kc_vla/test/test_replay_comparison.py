"""What a live run is said to differ by from the bag that was played to it."""

import json
import math
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from episode_bag import Script, write_episode
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.episodes.annotation_log import CONFIRMED, OPEN, AnnotationLog, Mark
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import NodeDiagnostics, Score
from kc_vla.keyframes.smoothing import Decision
from kc_vla.media.canvas import AMBER, BLUE, GREEN, RED
from kc_vla.replay.as_json import plain
from kc_vla.replay.comparison import compare, score_difference
from kc_vla.replay.differences import Comparison, LiveRun
from kc_vla.replay.live_replay import annotated, recorded_requests
from kc_vla.replay.report import JSON, MARKDOWN, PICTURE, ReplaySettings, lines, ranges, table, write_replay_report

SETTINGS = ReplaySettings(rate=1.0, source="learned", policy="replay", notes=("one camera was cold",))


@pytest.fixture(scope="module")
def episode(tmp_path_factory: pytest.TempPathFactory) -> RecordedEpisode:
    return RecordedEpisode(write_episode(tmp_path_factory.mktemp("recorded") / "bag", Script(size=16, late=2)))


def as_recorded(episode: RecordedEpisode) -> LiveRun:
    """Live nodes that said what the bag says."""
    return LiveRun(episode.scores, episode.events, dict(enumerate(episode.chunks)), {}, episode.diagnostics)


def told(episode: RecordedEpisode, comparison: Comparison) -> str:
    return "\n".join(lines(episode, comparison, SETTINGS))


def test_the_same_again_is_called_the_same(episode: RecordedEpisode) -> None:
    comparison = compare(episode, as_recorded(episode))
    assert comparison.same_keyframes
    assert [pair.verdict for pair in comparison.keyframes] == ["same"] * 5
    assert [pair.oracle for pair in comparison.keyframes] == [0, 12, 20, 32, 40]
    assert comparison.frames.dropped == ()
    assert (comparison.scores.frames, comparison.scores.largest) == (61, 0.0)
    assert comparison.chunks is not None
    assert (comparison.chunks.asked, comparison.chunks.answered, comparison.chunks.missing) == (8, 8, ())
    assert all(column.largest == 0.0 for column in comparison.chunks.columns)
    words = told(episode, comparison)
    assert "Keyframes: 5 of 5 as in the bag." in words
    assert "Scores: equal over 61 frames." in words
    assert "NOT keep up" not in words


def test_live_keyframes_are_compared_with_a_persons(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", Script(size=16, late=2))
    episode = RecordedEpisode(bag)
    assert annotated(episode) is None
    stamps = {frame.index: frame.stamp_ns for frame in episode.frames}
    marks = [Mark(f, stamps[f], k, f"keyframe {k}", "person", 1.0) for k, f in enumerate((0, 13, 31, 32))]
    log = AnnotationLog(bag)
    log.append("ann", 0, CONFIRMED, marks, "confirmed")
    log.append("bob", 0, OPEN, marks[:1], "begun")
    comparison = compare(episode, as_recorded(episode), annotated(episode))
    assert [pair.as_annotated for pair in comparison.keyframes] == [True, True, False, True, False]
    words = told(episode, comparison)
    assert "Annotated by ann: 3 of 4 found live within 10 frames." in words
    assert "| 2     | flash 1 off | 20     | 31        | 20  | 20   | 0          | same |" in words
    assert plain(comparison)["annotated_by"] == "ann"


def test_keyframes_are_compared_by_phase(episode: RecordedEpisode) -> None:
    def moved(event):
        return replace(event, frame=event.frame + 3) if event.phase == 1 else event

    known = [moved(event) for event in episode.events if event.phase != 2]
    known = [event for event in known if (event.phase, event.type) != (4, Decision.COMMITTED)]
    known.append(replace(known[-1], phase=5, type=Decision.COMMITTED, frame=50, decided_at_frame=55, label="encore"))
    late = replace(known[-1], phase=6, frame=70, decided_at_frame=75)  # after the last frame of the bag
    comparison = compare(episode, replace(as_recorded(episode), events=(*known, late)))
    assert [pair.verdict for pair in comparison.keyframes] == [
        "same",
        "3 frames later",
        "missing",
        "same",
        "not committed",
        "extra",
    ]
    assert not comparison.same_keyframes
    words = told(episode, comparison)
    assert "Keyframes: 2 of 5 as in the bag, 1 more." in words
    assert "| 1     | flash 1 on  | 12     | 12  | 15   | +3         | 3 frames later |" in words


def test_another_label_is_told(episode: RecordedEpisode) -> None:
    events = tuple(replace(e, label="lamp on") if e.phase == 1 else e for e in episode.events)
    pair = compare(episode, replace(as_recorded(episode), events=events)).keyframes[1]
    assert (pair.same, pair.verdict) == (False, "called 'lamp on'")


def test_frames_that_the_live_graph_dropped_are_named(episode: RecordedEpisode) -> None:
    scores = {frame: score for frame, score in episode.scores.items() if frame not in (3, 4, 5, 20)}
    comparison = compare(episode, replace(as_recorded(episode), scores=scores))
    assert comparison.frames.dropped == (3, 4, 5, 20)
    assert "The live graph did NOT keep up: try a lower rate than 1. 4 of them dropped: 3-5, 20." in told(
        episode, comparison
    )


def test_chunks_are_compared_by_control_step_and_column(episode: RecordedEpisode) -> None:
    answers = dict(enumerate(episode.chunks))
    del answers[2]
    later = replace(answers[3], observation_frame=answers[3].observation_frame + 2, actions=answers[3].actions[2:])
    wrong = answers[4].actions.copy()
    wrong[5, 1] += 0.25
    foreign = replace(answers[5], names=tuple("abcdefg"))
    forgetful = replace(answers[6], keyframes_used=(0,))
    answers |= {3: later, 4: replace(answers[4], actions=wrong), 5: foreign, 6: forgetful}
    live = replace(as_recorded(episode), chunks=answers, refusals={2: "the buffer is dead"})
    chunks = compare(episode, live).chunks
    assert chunks is not None
    assert chunks.missing == ((16, "the buffer is dead"),)
    assert (chunks.answered, chunks.later, chunks.other_columns) == (7, 1, 1)
    assert chunks.other_keyframes == ((48, (0, 12, 20, 32, 42), (0,)),)
    assert chunks.actions == 5 * 16 + 14
    columns = {column.name: column for column in chunks.columns}
    assert columns["dy"].largest == pytest.approx(0.25)
    assert columns["dy"].largest_at == 37
    assert columns["dy"].rms == pytest.approx(0.25 / math.sqrt(chunks.actions))
    assert {name: column.unit for name, column in columns.items()} == {
        **dict.fromkeys(("dx", "dy", "dz"), "m"),
        **dict.fromkeys(("drx", "dry", "drz"), "rad"),
        "gripper": "0..1",
    }
    assert columns["dx"].largest == 0.0
    words = told(episode, compare(episode, live))
    assert "No answer for frame 16; of 16: the buffer is dead." in words


def test_nobody_was_asked_for_chunks(episode: RecordedEpisode) -> None:
    comparison = compare(episode, replace(as_recorded(episode), chunks={}, refusals=None))
    assert comparison.chunks is None
    assert "Chunks were not asked for." in told(episode, comparison)


def test_live_nodes_that_say_nothing(episode: RecordedEpisode, tmp_path: Path) -> None:
    comparison = compare(episode, LiveRun())
    assert [pair.verdict for pair in comparison.keyframes] == ["missing"] * 5
    assert comparison.frames.scored == 0
    assert math.isnan(comparison.scores.mean)
    assert comparison.chunks is not None
    assert len(comparison.chunks.missing) == 8
    write_replay_report(tmp_path, episode, LiveRun(), comparison, SETTINGS)
    json.loads((tmp_path / JSON).read_text(), parse_constant=pytest.fail)


def test_latencies_and_losses_stand_beside_those_of_the_recording(episode: RecordedEpisode) -> None:
    values = {"latency/predict/p50_ms": "5.0", "latency/predict/p99_ms": "9.5", "dropped/observation": "7"}
    live = {"policy_server": NodeDiagnostics("policy_server", 0, "ok", values)}
    words = told(episode, compare(episode, replace(as_recorded(episode), diagnostics=live)))
    assert "| policy_server     | predict        | 5.0      | 9.5      | 11.9    | 19.4    |" in words
    assert "policy_server lost 7 of observation (in the recording: 0)." in words
    assert "policy_server lost 0 of wrist/image_raw (in the recording: 2)." in words


def test_the_report_is_three_files_and_the_lines_are_those_of_the_page(
    episode: RecordedEpisode, tmp_path: Path
) -> None:
    scores = {frame: score for frame, score in episode.scores.items() if frame not in range(50, 55)}
    live = replace(as_recorded(episode), scores=scores)
    said = write_replay_report(tmp_path, episode, live, compare(episode, live), SETTINGS)
    page = (tmp_path / MARKDOWN).read_text()
    assert said[-3:] == [str(tmp_path / name) for name in (MARKDOWN, JSON, PICTURE)]
    assert "\n".join(said[:-4]) in page
    assert "Note: one camera was cold." in page
    content = json.loads((tmp_path / JSON).read_text(), parse_constant=pytest.fail)
    assert content["same_keyframes"] is True
    assert content["frames"]["dropped"] == [50, 51, 52, 53, 54]
    picture = cv2.cvtColor(cv2.imread(str(tmp_path / PICTURE)), cv2.COLOR_BGR2RGB)
    for colour in (BLUE, AMBER, GREEN, RED):
        assert (picture == colour).all(axis=-1).any()


def test_what_was_executed_while_the_policy_thought_is_asked_with(episode: RecordedEpisode) -> None:
    """In the drawn episode each chunk commands at once; here the third takes over two steps late."""
    late = [replace(command, chunk_sequence=1) if command.step in (16, 17) else command for command in episode.commands]
    asked = recorded_requests(_with_commands(episode, late))
    assert [(request.sequence, request.step) for request in asked] == [(k, 8 * k) for k in range(8)]
    assert [len(request.frozen) for request in asked] == [0, 0, 2, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(asked[2].frozen[:, 0], [0.016, 0.017], rtol=1e-6)


def _with_commands(episode: RecordedEpisode, commands):
    other = object.__new__(RecordedEpisode)
    other.__dict__.update(episode.__dict__, commands=tuple(commands))
    return other


numbers = st.floats(0, 1) | st.just(math.nan)
curves = st.dictionaries(
    st.integers(0, 50), st.builds(Score, st.just(0), st.integers(0, 3), numbers, st.just(0.5), st.just("learned"))
)


@given(curves, curves)
def test_the_difference_of_curves(bag: dict[int, Score], live: dict[int, Score]) -> None:
    there, back = score_difference(bag, live), score_difference(live, bag)
    assert str(there) == str(back)  # NaN is not itself
    assert there.frames + there.one_sided <= len(bag.keys() & live.keys())
    if there.frames:
        assert 0.0 <= there.mean <= there.largest * (1 + 1e-9) <= 1 + 1e-9
        assert there.largest_at in bag
    else:
        assert there.largest_at is None
    same = score_difference(bag, bag)
    assert (same.one_sided, same.other_phase) == (0, 0)
    assert same.largest == 0.0 or not same.frames


@given(st.sets(st.integers(0, 200)))
def test_ranges_name_every_number(numbers: set[int]) -> None:
    found: set[int] = set()
    for part in filter(None, ranges(sorted(numbers), most=1000).split(", ")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    assert found == numbers


def test_a_table_is_markdown_whatever_stands_in_it() -> None:
    rows = table(["a", "b"], [["1|2", "x\ny"], ["3", ""]])
    assert rows == ["| a   | b   |", "| --- | --- |", "| 1/2 | x y |", "| 3   |     |"]
