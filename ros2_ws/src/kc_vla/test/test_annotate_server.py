"""The annotation page's server, asked as the page asks it; the page itself is tested in a browser."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from episode_bag import ORACLE, TOPICS, Script, info, messages, third_person_view, write_episode
from rclpy.serialization import serialize_message
from robot_bags import panda_joints, picture, pose, write_panda_bag
from starlette.testclient import TestClient

from kc_vla.annotate import background_jobs as work_module
from kc_vla.annotate.background_jobs import Work
from kc_vla.annotate.curves import read_curves
from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.annotate.library import Library
from kc_vla.annotate.proposals import propose
from kc_vla.annotate.server import create_app
from kc_vla.bags.errors import BagMissingError, BagReadError
from kc_vla.bags.lock import BagLock
from kc_vla.bags.topics import TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.core.episode import Episode
from kc_vla.episodes.annotation_log import AnnotationError, AnnotationLog
from kc_vla.keyframes.rule_selector import RuleSource
from kc_vla.keyframes.scoring import ScorerInput, Scoring
from kc_vla.keyframes.selectors import NetworkOptions, open_selector
from kc_vla_msgs.msg import EpisodeStatus

SCRIPT = Script(size=64, steps=60)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for seed in (1, 2):
        write_episode(tmp_path / "runs" / f"counting-{seed}" / "bag", SCRIPT)
    return tmp_path / "runs"


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    library = Library(folder)
    work = Work(library, NetworkOptions())
    with TestClient(create_app(library, work, "somebody", ["localhost"]), base_url="http://localhost") as client:
        yield client


def answer(client: TestClient, path: str) -> Any:
    found = client.get(path)
    assert found.status_code == 200, found.text
    return found.json()


def of(client: TestClient, number: int = 0) -> str:
    """Address of an episode, by its place in the list."""
    return f"/api/episodes/{answer(client, '/api/episodes')['episodes'][number]['key']}"


def until(client: TestClient, path: str, done: Callable[[Any], bool]) -> Any:
    end = time.monotonic() + 60.0
    while not done(found := answer(client, path)):
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


def track(author: str, since: int, frames: list[int], **changed: object) -> dict[str, object]:
    marks = [{"frame": frame, "phase": k, "source": "person", "score": 1.0} for k, frame in enumerate(frames)]
    return {"author": author, "since": since, "state": "open", "action": "test", "marks": marks, **changed}


def test_the_list_tells_how_far_everybody_is(client: TestClient) -> None:
    client.put(of(client, 1) + "/track", json=track("anna", 0, [0, 12], state="confirmed"))
    rows = until(client, "/api/episodes", lambda found: all(row["proposed"] for row in found["episodes"]))["episodes"]
    assert [row["name"] for row in rows] == ["counting-1", "counting-2"]
    assert [row["tracks"].get("anna", {}).get("state") for row in rows] == [None, "confirmed"]


def test_pictures_are_those_of_the_bag(client: TestClient) -> None:
    for frame in (0, 15, 60):
        found = client.get(of(client) + f"/frames/third_person/{frame}.jpg")
        pixels = cv2.imdecode(np.frombuffer(found.content, np.uint8), cv2.IMREAD_COLOR)[:, :, ::-1]
        assert np.abs(pixels.astype(int) - third_person_view(SCRIPT, frame)).mean() < 6.0


def test_an_annotation_is_kept_with_stamps_and_labels(client: TestClient, folder: Path) -> None:
    kept = client.put(of(client) + "/track", json=track("anna", 0, [0, 12])).json()
    assert [(m["frame"], m["stamp_ns"], m["label"]) for m in kept["marks"]] == [
        (0, 1_000_000_000, "start"),
        (12, 1_600_000_000, "flash 1 on"),
    ]
    assert AnnotationLog(folder / "counting-1" / "bag").tracks()["anna"].revision == 1
    assert answer(client, of(client))["tracks"]["anna"] == kept
    assert [row["author"] for row in answer(client, of(client) + "/history")] == ["anna"]


def test_a_second_window_gets_a_conflict(client: TestClient) -> None:
    client.put(of(client) + "/track", json=track("anna", 0, [0]))
    late = client.put(of(client) + "/track", json=track("anna", 0, [0, 5]))
    assert late.status_code == 409
    assert "anna has changed this annotation elsewhere" in late.json()["error"]


def test_where_a_person_drove_is_a_curve(tmp_path: Path) -> None:
    taken = AnnotatedEpisode(write_episode(tmp_path / "bag", Script(size=16, takeovers=((10, 19), (30, 44)))))
    drives = read_curves(taken)["person drives"].at(taken.times_s + 0.02)
    assert np.flatnonzero(drives).tolist() == [*range(9, 19), *range(29, 44)]  # said with the frame before
    whole = AnnotatedEpisode(write_episode(tmp_path / "other", Script(size=16)))
    assert "person drives" not in read_curves(whole)


def test_the_recording_and_sources_of_keyframes_propose(client: TestClient) -> None:
    recorded = until(client, of(client) + "/proposals", lambda found: found["ready"])["recorded"]
    assert [mark["frame"] for mark in recorded["oracle"]] == list(ORACLE)
    assert [mark["frame"] for mark in recorded["committed (oracle)"]] == list(ORACLE)
    for source in ("rules", "learned", "events"):
        client.post(of(client) + f"/proposals/{source}")
    asked = until(
        client,
        of(client) + "/proposals",
        lambda found: all(job["ready"] or job["problem"] for job in found["asked"].values()),
    )["asked"]
    for source in ("rules", "events"):
        lacks = f"the recording has no tool pose and no gripper, which the {source} look at"
        assert asked[source]["problem"] == lacks
    assert asked["learned"]["problem"] == ""
    assert asked["learned"]["marks"][0] == recorded["oracle"][0] | {"source": "learned", "score": 1.0}


def test_curves_are_read_once_and_kept(client: TestClient, tmp_path: Path) -> None:
    found = until(client, of(client) + "/curves", lambda found: found["ready"])["curves"]
    assert found["joint speed"]["unit"] == "rad/s"
    assert found["joint speed"]["values"] == pytest.approx([0.2 * 7**0.5] * 61, abs=1e-3)
    assert "gripper" not in found  # the bag has no joint of that name
    assert list((tmp_path / "cache" / "kc_vla" / "curves").iterdir())


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("7", 400, "no such episode here"),
        ("/frames/third_person/61.jpg", 400, "no frame 61: the episode has 61"),
        ("/frames/third_person/-1.jpg", 400, "no frame -1"),
        ("/frames/head/0.jpg", 400, "no view 'head'"),
    ],
)
def test_what_is_not_there_is_told(client: TestClient, path: str, status: int, words: str) -> None:
    found = client.get(of(client) + path)
    assert found.status_code == status
    assert words in found.json()["error"]


@pytest.mark.parametrize(
    "body",
    [
        track("", 0, [0]),
        track("anna\n", 0, [0]),
        track("anna", 0, [0, 999]),
        track("anna", 0, [5, 5]),
        track("anna", 0, [3], state="confirmed"),
        track("anna", 0, [0], state="perhaps"),
        track("anna", 0, [0], marks=[{"frame": 0, "phase": 0, "source": "a guess", "score": 1.0}]),
        track("anna", 0, [0], marks=[{"frame": 0, "phase": 0, "source": "person", "score": 7.0}]),
        track("anna", 0, [0], marks=[{"frame": "0", "phase": 0, "source": "person", "score": 1.0}]),
        track("anna", 0, [0], marks=[{"frame": 0, "phase": 10**400, "source": "person", "score": 1.0}]),
        track("anna", 0, [0], action="x" * 1001),
        track("anna", 0, [0], action="\ud800"),
        track("anna", 0, [0], state="\ud800"),
        track("\udfff", 0, [0]),
        track("anna", 0, [0], marks="\ud800"),
        {"author": "anna"},
        [],
    ],
)
def test_garbage_is_refused_and_nothing_written(client: TestClient, folder: Path, body: Any) -> None:
    found = client.put(of(client) + "/track", content=json.dumps(body))
    assert found.status_code in (400, 422)
    assert found.json()["error"].isprintable()
    assert not list(folder.rglob("*annotations*"))
    assert answer(client, of(client))["tracks"] == {}


def test_a_page_of_somebody_else_cannot_write(client: TestClient) -> None:
    found = client.put(of(client) + "/track", json=track("anna", 0, [0]), headers={"Origin": "http://evil.example"})
    assert (found.status_code, found.json()["error"]) == (400, "a page of http://evil.example may not write here")
    assert client.get("/api/episodes", headers={"Host": "evil.example"}).status_code == 400


def test_a_folder_that_cannot_be_written_says_so(client: TestClient, folder: Path) -> None:
    (folder / "counting-1" / "bag" / "annotations.jsonl").mkdir()
    found = client.put(of(client) + "/track", json=track("anna", 0, [0]))
    assert found.status_code == 507
    assert "Is a directory" in found.json()["error"]


def test_a_bag_that_cannot_be_read_is_told_in_the_list(folder: Path) -> None:
    (folder / "broken.mcap").write_bytes(b"no bag at all")
    library = Library(folder)
    work = Work(library, NetworkOptions())
    with TestClient(create_app(library, work, "somebody", ["localhost"]), base_url="http://localhost") as client:
        rows = until(client, "/api/episodes", lambda found: bool(found["episodes"][0]["problem"]))["episodes"]
        assert rows[0]["name"] == "broken.mcap"
        assert "no MCAP file" in rows[0]["problem"]
        assert client.get(of(client)).status_code == 422


def test_a_page_that_stayed_open_saves_into_no_other_bag(folder: Path) -> None:
    kept = []
    for name in ("", "counting-0", ""):  # one more bag, that is sorted first; then it is away again
        if name:
            write_episode(folder / name / "bag", SCRIPT)
        library = Library(folder)
        work = Work(library, NetworkOptions())
        with TestClient(create_app(library, work, "somebody", ["localhost"]), base_url="http://localhost") as client:
            kept = kept or [of(client)]
            assert client.put(kept[0] + "/track", json=track("anna", len(kept) - 1, [0, 12])).status_code == 200
            kept.append(kept[0])
    assert AnnotationLog(folder / "counting-1" / "bag").tracks()["anna"].revision == 3
    assert not AnnotationLog(folder / "counting-0" / "bag").tracks()


def test_a_bag_that_was_being_recorded_is_read_once_it_is_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_module, "_AGAIN_S", 0.1)
    library = Library(folder)
    with BagLock(folder / "counting-1" / "bag"):
        work = Work(library, NetworkOptions())
        client = TestClient(create_app(library, work, "somebody", ["localhost"]), base_url="http://localhost")
        rows = until(client, "/api/episodes", lambda found: bool(found["episodes"][0]["problem"]))["episodes"]
        assert "is being recorded" in rows[0]["problem"]
    until(
        client, "/api/episodes", lambda found: found["episodes"][0]["proposed"] and not found["episodes"][0]["problem"]
    )
    work.stop()


def test_what_could_not_be_learnt_from_is_not_confirmed(client: TestClient) -> None:
    marks = [{"frame": f, "phase": k, "source": "person", "score": 1.0} for f, k in ((0, 0), (12, 1), (40, 3))]
    found = client.put(of(client) + "/track", json=track("anna", 0, [], state="confirmed", marks=marks))
    assert found.status_code == 400
    assert "keyframe 2 is missing" in found.json()["error"]
    assert client.put(of(client) + "/track", json=track("anna", 0, [], marks=marks)).status_code == 200  # begun


def test_the_end_of_the_episode_before_does_not_make_two_of_a_bag(tmp_path: Path) -> None:
    told = EpisodeStatus(episode_id="the one before", state=EpisodeStatus.FINISHED)
    writer = EpisodeBagWriter(tmp_path / "bag", TOPICS, info(SCRIPT))
    writer.write("/episode/status", serialize_message(told), 0, 0)
    for topic, message, time_ns in messages(SCRIPT):
        writer.write(topic, serialize_message(message), time_ns, time_ns)
    writer.close()
    assert AnnotatedEpisode(tmp_path / "bag").status.episode_id == SCRIPT.episode_id


def test_a_folder_without_bags_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BagMissingError, match="no bag at"):
        Library(tmp_path)


def test_frames_are_found_by_their_stamps(folder: Path) -> None:
    episode = AnnotatedEpisode(folder / "counting-1" / "bag")
    assert [episode.frame_of(episode.stamp_ns(frame)) for frame in range(episode.length)] == list(range(61))
    assert (episode.frame_of(0), episode.frame_of(10**12)) == (0, 60)
    assert episode.frame_of(episode.stamp_ns(30) + 20_000_000) == 30


def test_a_bag_without_pictures_is_refused(tmp_path: Path) -> None:
    EpisodeBagWriter(tmp_path / "bag", {"/joy": TopicInfo("sensor_msgs/msg/Joy")}, info(SCRIPT)).close()
    with pytest.raises(BagReadError, match="has no images on third_person/image_raw"):
        AnnotatedEpisode(tmp_path / "bag")


def test_a_task_without_rules_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bag = write_episode(tmp_path / "bag", Script(size=16, steps=12, oracle=(0, 3, 5, 7, 9), task="identity"))
    with pytest.raises(AnnotationError, match="no rule finds the keyframes of 'identity'"):
        propose(AnnotatedEpisode(bag), RuleSource(), "rules", {})


def test_a_source_is_shown_what_it_needs_of_each_frame(tmp_path: Path) -> None:
    class Looker:
        needs = ("joints", "tool_pose", "wrist")
        runs_on = "-"
        seen: list[ScorerInput] = []

        def begin(self, _episode: Episode) -> Scoring:
            return Scoring(("start", "end"), self)

        def score(self, sight: ScorerInput, _phase: int) -> float:
            self.seen.append(sight)
            return 0.0

    episode = AnnotatedEpisode(write_panda_bag(tmp_path, "counting-1"))
    propose(episode, Looker(), "looker", read_curves(episode))
    for frame, sight in enumerate(Looker.seen):
        assert sight.gripper == pytest.approx(sum(panda_joints(frame)[7:]))
        assert sight.tool_position == pytest.approx(pose(frame)[:3])
        assert list(sight.views) == ["third_person", "wrist"]
        assert np.abs(sight.views["wrist"].astype(int) - picture(frame, view="wrist")).mean() < 6
    assert len(Looker.seen) == episode.length == 24


def test_events_propose_for_a_task_that_is_in_no_table(tmp_path: Path) -> None:
    bag = write_panda_bag(tmp_path, "soup-1", 40, (0, 12, 24), "soup", annotated=False, instruction="Stir the soup.")
    episode = AnnotatedEpisode(bag)
    done: list[int] = []
    marks = propose(episode, open_selector("events"), "events", read_curves(episode), done.append)
    assert [(mark.phase, mark.label, mark.source) for mark in marks] == [
        (0, "start", "events"),
        (1, "event 1", "events"),
        (2, "event 2", "events"),
    ]
    assert [mark.frame for mark in marks] == pytest.approx([0, 12, 24], abs=3)
    assert done == list(range(40))


def test_a_body_is_given_up_before_it_is_read_whole(client: TestClient, folder: Path) -> None:
    def large() -> Iterator[bytes]:
        yield from [b" " * (1 << 18)] * 5

    for headers in ({"Content-Length": str(10**9)}, {"Content-Length": str(1 << 28)}, {}):
        found = client.put(of(client) + "/track", content=large(), headers=headers)
        assert (found.status_code, found.json()["error"]) == (413, "a request may have 1048576 bytes")
    assert client.put(of(client) + "/track", content="[" * 100_000).status_code in (400, 422)
    assert not list(folder.rglob("*annotations*"))


@pytest.mark.parametrize("kind", ["link", "link to nothing", "device", "pipe"])
def test_only_an_ordinary_file_is_read_and_written(client: TestClient, folder: Path, tmp_path: Path, kind: str) -> None:
    path = folder / "counting-1" / "bag" / "annotations.jsonl"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to({"link": tmp_path / "secret", "device": "/dev/zero"}.get(kind, tmp_path / "nothing"))
    (tmp_path / "secret").write_text("a secret\n")
    told = "is no ordinary file" if kind == "pipe" else "is a link: put the file itself in its place"
    for found in (client.get(of(client)), client.put(of(client) + "/track", json=track("anna", 0, [0]))):
        assert found.status_code == 400
        assert told in found.json()["error"]
        assert "secret" not in found.text.replace(str(path), "")
    assert told in answer(client, "/api/episodes")["episodes"][0]["problem"]
    assert (tmp_path / "secret").read_text() == "a secret\n"
    assert not (tmp_path / "nothing").exists()
