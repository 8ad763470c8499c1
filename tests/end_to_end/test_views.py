"""A robot with one view or with three, as its file names them: from the camera through the graph to the data set."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
import yaml
from camera_files import write_pictures
from finished_run import FinishedRun
from stack import PIPER, REPLAY, Stack

from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.bags.images import decode_image
from kc_vla.bags.reader import BagReader
from kc_vla.core.robot import load_robot
from kc_vla.core.share import share
from kc_vla.core.views import Views
from kc_vla.datasets.exchange.export import export_bags
from kc_vla.datasets.exchange.from_data_set import import_data_set
from kc_vla.datasets.exchange.origin import Origin
from kc_vla.datasets.lerobot.reader import DataSet
from kc_vla.episodes.episode import RecordedEpisode, recorded_actions
from kc_vla.keyframes.cameras import parse_cameras
from kc_vla.keyframes.store import KeyframeStore
from kc_vla.learning.selector.recordings import load_recordings
from kc_vla_sim.toy import ToySimulator

pytestmark = pytest.mark.nightly  # two views are recorded and replayed to the graph by test_replay.py

SIZE, SEED = 64, 3
VIEWS = (("front",), ("overhead", "left", "hand"))
COLOURS = {"front": (200, 30, 30), "overhead": (30, 200, 30), "left": (30, 30, 200), "hand": (200, 200, 30)}


def robot_with(views: tuple[str, ...], robot: str, folder: Path) -> Path:
    """A robot that comes with the stack, with other views."""
    content = yaml.safe_load((share("robots") / f"{robot}.yaml").read_text())
    content |= {"robot": "mine", "cameras": {view: f"{view}_lens" for view in views}}
    file = folder / "mine.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    return file


@dataclass(frozen=True)
class ToyRun:
    """An episode of the toy robot with those views."""

    views: tuple[str, ...]
    robot: Path
    run: FinishedRun

    @cached_property
    def seen(self) -> list[Views]:
        """What the cameras saw in each frame, by the simulator played once more."""
        simulator = ToySimulator(SIZE, load_robot(str(self.robot)).cameras)
        frames = [simulator.reset("counting", SEED).views]
        for action in recorded_actions(self.run.episode):
            if len(frames) == len(self.run.episode.scores):
                break
            frames.append(simulator.step(action).views)
        return frames


@pytest.fixture(
    scope="module",
    params=VIEWS,
    ids=[str(len(views)) for views in VIEWS],
)
def toy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToyRun]:
    folder = tmp_path_factory.mktemp("views")
    robot = robot_with(request.param, "panda_sim", folder)
    arguments = {"seed": SEED, "robot": robot, "image_size": SIZE}
    with Stack(folder / "runs", arguments, environment={"ROS_HOME": str(folder)}) as stack:
        yield ToyRun(request.param, robot, FinishedRun.of(stack))


def test_the_episode_succeeds_and_is_reported(toy: ToyRun) -> None:
    assert toy.run.exit_code == 0
    assert len(toy.seen) == len(toy.run.episode.scores) > 100
    assert {"episode.mp4", "keyframes.png", "summary.json"} <= {path.name for path in toy.run.folder.iterdir()}


def test_the_bag_holds_the_pictures_of_each_view_as_its_camera_saw_them(toy: ToyRun) -> None:
    reader = BagReader(toy.run.bag)
    pictures = {topic for topic in toy.run.episode.message_counts if topic.endswith("/image_raw")}
    assert pictures == {f"/{view}/image_raw" for view in toy.views}
    start_ns, period_ns = toy.run.episode.status.start_ns, 50_000_000
    for view in toy.views:
        frames: dict[int, np.ndarray] = {}
        for message in reader.messages([f"/{view}/image_raw"]):
            told = reader.decode(message)
            stamp_ns = told.header.stamp.sec * 10**9 + told.header.stamp.nanosec
            frames[(stamp_ns - start_ns) // period_ns] = decode_image(told, message.topic)
            assert told.header.frame_id == f"{view}_lens"
        assert sorted(frames) == list(range(len(toy.seen)))
        for number, pixels in frames.items():
            np.testing.assert_array_equal(pixels, toy.seen[number][view])


def test_the_buffer_keeps_every_view_of_each_keyframe(toy: ToyRun) -> None:
    store = KeyframeStore(toy.run.folder.parent / f"state-{os.environ.get('ROS_DOMAIN_ID', '0')}")
    kept = store.begin(toy.run.folder.name)
    assert [keyframe.label for keyframe in kept] == [keyframe.label for keyframe in toy.run.episode.keyframes]
    for keyframe in kept:
        seen = keyframe.observation
        assert tuple(seen.views) == toy.views
        for view, pixels in seen.views.items():
            np.testing.assert_array_equal(pixels, toy.seen[seen.frame][view])


def nearest_view(pixels: np.ndarray, seen: Views) -> str:
    """The view whose picture this is, after a film has blurred it, while the tool stands where no two see the same."""
    return min(seen, key=lambda view: float(np.abs(pixels.astype(int) - seen[view]).mean()))


STANDS = 100
"""Frames in which the tool waits."""


def test_a_data_set_of_the_bag_has_a_camera_for_each_view_and_gives_them_back(toy: ToyRun, tmp_path: Path) -> None:
    export_bags([toy.run.bag], tmp_path / "set", origin=Origin.ORACLE)
    data_set = DataSet(tmp_path / "set")
    for number, frames in enumerate(zip(*(data_set.frames(0, view) for view in toy.views), strict=True)):
        if number < STANDS:
            assert [nearest_view(pixels, toy.seen[number]) for pixels in frames] == list(toy.views)
    assert number == len(toy.seen) - 1
    (learnt,) = load_recordings(tmp_path / "set", cameras=parse_cameras(toy.views))
    assert next(learnt.pictures(32)).shape == (32, 32 * len(toy.views), 3)
    import_data_set(tmp_path / "set", tmp_path / "back")
    back = RecordedEpisode(tmp_path / "back" / "set-000000" / "bag")
    assert back.views == toy.views
    assert len(back.frames) == len(toy.seen)
    for frame in back.frames[:STANDS]:
        seen = {view: back.image(ref) for view, ref in frame.pictures.items()}
        assert [nearest_view(pixels, toy.seen[frame.index]) for pixels in seen.values()] == list(toy.views)


def test_the_page_shows_the_frames_of_each_view(toy: ToyRun) -> None:
    episode = AnnotatedEpisode(toy.run.bag)
    assert episode.views == toy.views
    status = toy.run.episode.status
    shown = episode.frame_of(status.start_ns + 60 * round(status.frame_period_s * 1e9))
    for view in toy.views:
        np.testing.assert_array_equal(episode.pixels(shown, view), toy.seen[60][view])


def test_the_bag_is_replayed_to_the_graph_of_its_robot(toy: ToyRun, tmp_path: Path) -> None:
    given = {"bag": toy.run.bag, "robot": toy.robot, "selector": "oracle", "rate": 0.5}
    with Stack(tmp_path, given, launch_file=REPLAY, environment={"ROS_HOME": str(tmp_path)}) as stack:
        assert stack.finish() == 0, stack.text
    (report,) = tmp_path.glob("*-replay/replay.json")
    found = json.loads(report.read_text())
    assert found["frames"]["dropped"] == []
    assert [pair["live"] for pair in found["keyframes"]] == [pair["bag"] for pair in found["keyframes"]]


@pytest.mark.parametrize("views", VIEWS, ids=[str(len(views)) for views in VIEWS])
def test_cameras_that_a_file_names_are_recorded_beside_a_piper(tmp_path: Path, views: tuple[str, ...]) -> None:
    cameras = {}
    for view in reversed(views):  # the order is that of the robot file
        write_pictures(tmp_path / view, [COLOURS[view]])
        cameras[view] = {"source": view, "loop": True}
    file = tmp_path / "cameras.yaml"
    file.write_text(yaml.safe_dump(cameras))
    given = {"cameras": file, "robot": robot_with(views, "piper", tmp_path), "record": True, "selector": "rules"}
    with Stack(tmp_path / "runs", given, launch_file=PIPER, environment={"ROS_HOME": str(tmp_path)}) as stack:
        stack.wait_for("keyframe 0 'start' confirmed")
        stack.press_ctrl_c()
        assert stack.finish() == 0
    (bag,) = [path.parent for path in (tmp_path / "runs").rglob("metadata.yaml")]
    reader = BagReader(bag)
    for view in views:
        shown = [reader.decode(message) for message in reader.messages([f"/{view}/image_raw"])]
        assert {image.header.frame_id for image in shown} == {f"{view}_lens"}
        colours = {tuple(decode_image(image, view).reshape(-1, 3)[0].tolist()) for image in shown}
        assert colours == {COLOURS[view]}
