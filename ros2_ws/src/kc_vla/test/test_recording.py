"""A bag by our names: by its index and read through it is the same, whatever else is in it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from episode_bag import TOPICS, Script, info, messages, third_person_view, write_episode
from rclpy.serialization import serialize_message
from robot_bags import PERIOD_NS, START_NS, picture, write_panda_bag

from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.bags.cut_and_merge import cut
from kc_vla.bags.errors import BagReadError
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import RecordedEpisodeInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.calibration.material import recorded_joints, recorded_pictures
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.recording import Recording, announced

SCRIPT = Script(size=16, steps=20, oracle=(0, 3, 6, 9, 12))


@pytest.mark.parametrize("storage", list(Storage))
def test_by_its_index_a_bag_is_what_it_is_when_read_through(tmp_path: Path, storage: Storage) -> None:
    bag = write_episode(tmp_path / "bag", SCRIPT, storage)
    quick, through = Recording(bag, by_index=True), Recording(bag)
    assert through.topic("keyframes/score") == "/keyframes/score"
    assert through.counts == quick.counts
    for view in ("third_person", "wrist"):
        assert through.pictures(view) == quick.pictures(view)
        assert list(map(through.stamp_ns, through.pictures(view))) == list(map(quick.stamp_ns, quick.pictures(view)))
    assert np.array_equal(quick.image(quick.pictures("third_person")[4]), third_person_view(SCRIPT, 4))
    felt = [[m.position[0] for _, m in recording.messages("joint_states")] for recording in (quick, through)]
    assert felt[0] == felt[1] == [0.01 * frame for frame in range(21)]
    told = [[m for _, m in recording.messages("episode/status")] for recording in (quick, through)]
    assert announced(told[0], quick.info) == announced(told[1], through.info) == RecordedEpisode(bag).status


def test_a_torn_bag_is_what_lies_before_the_tear(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", SCRIPT)
    path = bag / "bag_0.mcap"
    path.write_bytes(path.read_bytes()[:-100])
    for by_index in (True, False):
        recording = Recording(bag, by_index)
        assert len(recording.pictures("wrist")) == 21
        assert len(recording.damages) == 1


def test_another_robot_in_a_namespace_is_not_mixed_in(tmp_path: Path) -> None:
    def twice(change: Callable[[str], str]) -> Path:
        topics = {own: entry for name, entry in TOPICS.items() for own in (name, change(name))}
        writer = EpisodeBagWriter(tmp_path / change("bag").replace("/", "_"), topics, info(SCRIPT))
        other = replace(SCRIPT, episode_id="another", size=8)
        for (topic, message, time_ns), (_, theirs, _) in zip(messages(SCRIPT), messages(other), strict=True):
            writer.write(change(topic), serialize_message(theirs), time_ns, time_ns)
            writer.write(topic, serialize_message(message), time_ns, time_ns)
        writer.close()
        return writer.folder

    bag = twice(lambda name: f"/left{name}")
    alone = RecordedEpisode(write_episode(tmp_path / "alone", SCRIPT))
    episode = RecordedEpisode(bag)
    assert [frame.stamp_ns for frame in episode.frames] == [frame.stamp_ns for frame in alone.frames]
    assert {episode.image(ref).shape for frame in episode.frames for ref in frame.pictures.values()} == {(16, 16, 3)}
    assert episode.events == alone.events
    for by_index in (True, False):
        recording = Recording(bag, by_index)
        assert recording.topic("wrist/image_raw") == "/wrist/image_raw"
        assert len(list(recording.messages("joint_states"))) == 21


def test_calibration_takes_compressed_pictures(tmp_path: Path) -> None:
    recording = Recording(write_panda_bag(tmp_path, "counting-1"))
    assert recorded_joints(recording).angles.shape == (24, 6)
    found = list(recorded_pictures(recording, "wrist"))
    assert [when for when, _ in found] == pytest.approx([(START_NS + k * PERIOD_NS) * 1e-9 for k in range(24)])
    for frame, (_, pixels) in enumerate(found):
        assert np.abs(pixels.astype(int) - picture(frame, view="wrist")).mean() < 6


def renamed(folder: Path, names: dict[str, str], told: RecordedEpisodeInfo | None) -> Path:
    """An episode's bag with pictures on other topics."""
    topics = {names.get(name, name): entry for name, entry in TOPICS.items() if names.get(name, name)}
    writer = EpisodeBagWriter(folder, topics, told)
    for topic, message, time_ns in messages(SCRIPT):
        if own := names.get(topic, topic):
            writer.write(own, serialize_message(message), time_ns, time_ns)
    writer.close()
    return folder


FIRST, SECOND = "/third_person/image_raw", "/wrist/image_raw"


@pytest.mark.parametrize(
    ("names", "told", "views"),
    [
        ({}, (), ("third_person", "wrist")),
        ({SECOND: ""}, (), ("third_person", "wrist")),  # a camera that was lost
        ({FIRST: "/zenith/image_raw", SECOND: "/hand/image_raw"}, (), ("hand", "zenith")),
        ({FIRST: "/zenith/image_raw", SECOND: "/hand/image_raw"}, ("zenith", "hand"), ("zenith", "hand")),
        ({FIRST: "/zenith/image_raw", SECOND: ""}, ("zenith",), ("zenith",)),
        ({}, ("wrist", "third_person"), ("wrist", "third_person")),
        ({}, ("../../wrist",), ("third_person", "wrist")),  # no name for a path
    ],
)
def test_the_views_are_those_that_the_bag_tells_or_that_it_has_pictures_of(
    tmp_path: Path, names: dict[str, str], told: tuple[str, ...], views: tuple[str, ...]
) -> None:
    bag = renamed(tmp_path / "bag", names, replace(info(SCRIPT), views=told))
    assert Recording(bag).views == Recording(bag, by_index=True).views == views
    episode = RecordedEpisode(bag)
    assert episode.views == views
    assert len(episode.frames) == 21
    assert all(next(iter(frame.pictures)) == views[0] for frame in episode.frames)
    assert cut(bag, tmp_path / "part").messages
    assert Recording(tmp_path / "part").views == views


def test_a_bag_without_the_pictures_that_count_is_told(tmp_path: Path) -> None:
    bag = renamed(tmp_path / "bag", {FIRST: ""}, info(SCRIPT))
    with pytest.raises(BagReadError, match="has no images on third_person/image_raw: it holds"):
        AnnotatedEpisode(bag)


def test_calibration_names_the_views_that_there_are(tmp_path: Path) -> None:
    recording = Recording(write_panda_bag(tmp_path, "counting-1", views=("front", "hand")))
    with pytest.raises(BagReadError, match="has no view 'wrist': it has front, hand"):
        recorded_pictures(recording, "wrist")
