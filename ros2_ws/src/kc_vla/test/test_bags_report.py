import itertools
import json
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from episode_bag import Script, write_episode
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.bags.errors import BagMissingError, ReportError
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import DriverChange, driven_by_person, takeovers
from kc_vla.media.canvas import AMBER, GREEN, RED
from kc_vla.reports.report import EpisodeReport, write_report
from kc_vla.reports.run.episode import episode_in
from kc_vla.reports.timeline import PERSON_COLOURS

SCRIPT = Script(late=2, hold_steps=(8, 9, 30), seed=2**64 - 1)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> EpisodeReport:
    folder = tmp_path_factory.mktemp("episode")
    return write_report(write_episode(folder / "bag", SCRIPT), folder / "out")


def has_colour(picture: np.ndarray, colour: tuple[int, int, int]) -> bool:
    return bool((picture == colour).all(axis=-1).any())


def test_the_summary_says_how_it_went(report: EpisodeReport) -> None:
    summary = json.loads(report.summary_path.read_text(), parse_constant=pytest.fail)
    assert summary == report.summary
    assert summary["success"] is True
    assert summary["completion_rate"] == 1.0
    assert summary["reason"] == "success"
    assert summary["seed"] == 2**64 - 1
    assert (summary["steps"], summary["duration_s"], summary["frames"]) == (60, 3.0, 61)
    assert (summary["chunks"], summary["commands"]) == (8, 61)
    assert summary["messages"]["/wrist/image_raw"] == 61
    assert summary["damages"] == []


def test_the_summary_compares_the_keyframes(report: EpisodeReport) -> None:
    keyframes = report.summary["keyframes"]
    assert [k["frame"] for k in keyframes["ours"]] == [0, 12, 20, 32, 42]
    assert [k["difference"] for k in keyframes["ours"]] == [0, 0, 0, 0, 2]
    assert keyframes["oracle"] == [0, 12, 20, 32, 40]
    assert keyframes["equal"] is False
    assert (keyframes["right"], keyframes["wanted"]) == (4, 4)


@pytest.mark.nightly
def test_equal_keyframes_are_called_equal(tmp_path: Path) -> None:
    report = write_report(write_episode(tmp_path / "bag", Script(size=16)), tmp_path / "out")
    assert report.summary["keyframes"]["equal"] is True


def test_an_episode_of_a_robot_has_neither_variant_nor_seed(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", Script(size=16, variant="", seed=0))
    summary = write_report(bag, tmp_path / "out", pictures=False).summary
    assert (summary["variant"], summary["seed"]) == (None, None)
    assert RecordedEpisode(bag).status.title == "counting"


def test_the_summary_has_latencies_drops_and_holds(report: EpisodeReport) -> None:
    assert report.summary["latency_ms"] == {
        "keyframe_selector": {"image_to_event": {"count": 60, "p50": 3.1, "p99": 7.25}},
        "policy_server": {"predict": {"count": 8, "p50": 11.9, "p99": 19.4}},
    }
    assert report.summary["dropped"] == {
        "keyframe_selector": {"third_person/image_raw": 0},
        "policy_server": {"wrist/image_raw": 2},
    }
    assert report.summary["holds"] == [{"reason": "chunk is stale", "count": 3, "first_step": 8}]


@pytest.mark.parametrize(
    ("waited", "reason", "counted"),
    [
        (3, "no chunk yet", 0),
        (3, "no joint state for 0.5 s", 0),
        (3, "emergency stop", 3),
        (59, "no chunk yet", 0),
        (61, "no chunk yet", 61),  # of 61: it never moved
    ],
)
def test_an_arm_that_only_waits_to_begin_does_not_count_as_held(
    tmp_path: Path, waited: int, reason: str, counted: int
) -> None:
    script = Script(size=16, hold_steps=(*range(waited),), hold_reason=reason)
    summary = write_report(write_episode(tmp_path / "bag", script), tmp_path / "out", pictures=False).summary
    assert sum(hold["count"] for hold in summary["holds"]) == counted


def test_a_hold_later_on_and_a_long_wait_count(tmp_path: Path) -> None:
    later = Script(size=16, hold_steps=(0, 1, 7), hold_reason="no joint state for 0.5 s")
    summary = write_report(write_episode(tmp_path / "later", later), tmp_path / "out", pictures=False).summary
    assert [(hold["count"], hold["first_step"]) for hold in summary["holds"]] == [(1, 7)]
    long = Script(size=16, steps=80, hold_steps=(*range(70),), hold_reason="no chunk yet")  # 3.5 s
    summary = write_report(write_episode(tmp_path / "long", long), tmp_path / "out", pictures=False).summary
    assert summary["holds"][0]["count"] == 70


@pytest.mark.nightly
def test_a_person_who_took_over_is_told_and_shown(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", Script(takeovers=((10, 19), (30, 44))))
    report = write_report(bag, tmp_path / "episode")
    spans = [(each["first"], each["last"], each["device"]) for each in report.summary["takeovers"]]
    assert spans == [(10, 19, "joy"), (30, 44, "joy")]
    told = episode_in(tmp_path / "episode")
    assert "a person drove from frame 10 to 19 (joy)" in told.driven
    assert not [note for note in told.notes if "person" in note]  # it is as it should be
    assert "joy" not in told.settings["policy"]
    assert report.video is not None
    with av.open(str(report.video)) as container:
        *_, last = (frame.to_ndarray(format="rgb24") for frame in container.decode(video=0))
    by_person = (np.abs(last.astype(int) - PERSON_COLOURS[0]).max(-1) < 20) | (
        np.abs(last.astype(int) - PERSON_COLOURS[1]).max(-1) < 20
    )
    lane = by_person[-80:].any(axis=0)
    assert 0.3 < lane.mean() < 0.5  # 25 of 61 frames


@given(
    st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=8).map(
        lambda turns: sorted(turns, key=lambda t: t[0])
    ),
    st.integers(0, 40),
)
def test_take_overs_are_the_frames_that_a_person_drove(turns: list[tuple[int, bool]], last: int) -> None:
    changes = tuple(DriverChange(after, by_person, "joy" * by_person) for after, by_person in turns if after <= last)
    spans = takeovers(changes, last)
    inside = [any(span.first <= frame <= span.last for span in spans) for frame in range(last + 1)]
    assert inside == list(driven_by_person(changes, range(last + 1)))
    assert all(one.last + 1 < other.first for one, other in itertools.pairwise(spans))


@pytest.mark.nightly
def test_a_summary_alone_is_the_same_without_pictures(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", Script(size=16))
    report = write_report(bag, tmp_path / "short", pictures=False)
    assert [path.name for path in (tmp_path / "short").iterdir()] == ["summary.json"]
    assert report.lines() == [f"summary:   {tmp_path / 'short' / 'summary.json'}"]
    assert report.summary == write_report(bag, tmp_path / "full").summary


def test_the_video_plays_in_a_browser_at_the_speed_of_the_episode(report: EpisodeReport) -> None:
    assert report.video is not None
    with av.open(str(report.video)) as container:
        stream = container.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert stream.codec_context.pix_fmt == "yuv420p"
        assert (stream.width, stream.height) == (1280, 720)
        times = [frame.time for frame in container.decode(stream)]
    assert times[20] == pytest.approx(1.0)
    assert times[-1] == pytest.approx(60 * 0.05 + 2.0)
    head = report.video.read_bytes()[:4096]
    assert head.index(b"moov") > 0  # in front, so that it starts before it is loaded


def test_the_video_flashes_when_a_keyframe_appears_and_is_committed(report: EpisodeReport) -> None:
    assert report.video is not None
    with av.open(str(report.video)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    edge = (300, 26)  # row, column within the border of the third-person view
    assert np.abs(frames[17][edge].astype(int) - GREEN).max() < 12
    assert np.abs(frames[12][edge].astype(int) - AMBER).max() < 12
    assert np.abs(frames[9][edge].astype(int) - GREEN).max() > 50


def test_the_contact_sheet_shows_the_pictures_of_the_keyframes(report: EpisodeReport) -> None:
    assert report.contact_sheet is not None
    picture = cv2.cvtColor(cv2.imread(str(report.contact_sheet)), cv2.COLOR_BGR2RGB)
    first_view = picture[108:308, 40:240]
    second_view = picture[108:308, 500:700]
    lamp = (slice(50, 90), slice(25, 60))
    assert second_view[lamp].mean() > first_view[lamp].mean() + 20  # the lamp is on in "flash 1 on"
    assert has_colour(picture, GREEN)


def test_a_failure_and_a_missed_keyframe_are_red(tmp_path: Path) -> None:
    script = Script(size=16, steps=36, success=False, reason="cube moved early")
    report = write_report(write_episode(tmp_path / "bag", script), tmp_path / "out")
    assert report.summary["success"] is False
    assert report.summary["reason"] == "cube moved early"
    assert [k["committed"] for k in report.summary["keyframes"]["ours"]] == [True, True, True, True]
    assert report.summary["keyframes"]["equal"] is False
    assert report.contact_sheet is not None
    assert has_colour(cv2.cvtColor(cv2.imread(str(report.contact_sheet)), cv2.COLOR_BGR2RGB), RED)


def test_a_torn_bag_still_gives_a_report_that_says_so(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", Script(size=16, with_result=False))
    path = bag / "bag_0.mcap"
    path.write_bytes(path.read_bytes()[:-200])
    report = write_report(bag, tmp_path / "out")
    assert report.summary["success"] is None
    assert len(report.summary["damages"]) == 1
    assert any("before the result" in note for note in report.notes)
    assert report.video is not None
    assert report.video.exists()


def test_a_missing_bag_and_an_unwritable_place_are_errors_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(BagMissingError):
        write_report(tmp_path / "nowhere", tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="cannot write the report") as caught:
        write_report(write_episode(tmp_path / "bag", Script(size=8)), tmp_path / "file" / "out")
    assert "\n" not in str(caught.value)


def test_what_a_planner_did_is_reported_with_times_reasons_and_what_is_remembered(tmp_path: Path) -> None:
    said = [
        ("begin", "put the egg away", None),
        ("plan", "by grammar: PickupObject(egg)", None),
        ("skill", "PickupObject(egg_1): it fell (2.0 s)", None),
        ("end", "it fell", None),
        ("result", "it fell", False),
        ("begin", "put the mug away", None),
        ("end", "done", None),
        ("result", "", True),
    ]
    steps = tuple((10 + at, kind, text, success) for at, (kind, text, success) in enumerate(said))
    egg = {"position": [0.1, 0.2, 0.0], "states": ["cooked"], "place": ["on", "tray"], "memories": ["short-term"]}
    bag = write_episode(tmp_path / "bag", Script(plan=steps, belief=json.dumps({"things": {"egg_1": egg}})))
    found = write_report(bag, tmp_path / "out")
    assert found.plan is not None
    text = found.plan.read_text()
    assert "not done: it fell." in text
    assert "| 0.6 | 12 | skill | PickupObject(egg_1): it fell (2.0 s) |" in text
    assert "| egg_1 | cooked | on tray | 0.10, 0.20, 0.00 | short-term |" in text
    assert found.summary["success"] is False  # the planner says so, where nobody else judges it
    assert [(each["success"], each["reason"]) for each in found.summary["instructions"]] == [
        (False, "it fell"),
        (True, ""),
    ]
    assert found.summary["remembered"] == {"egg_1": egg}
    assert found.video is not None


def test_other_picture_sizes_and_a_single_frame(tmp_path: Path) -> None:
    script = Script(size=256, steps=0, oracle=(0,))
    report = write_report(write_episode(tmp_path / "bag", script), tmp_path / "out")
    assert report.summary["frames"] == 1
    assert report.video is not None
    assert report.contact_sheet is not None
