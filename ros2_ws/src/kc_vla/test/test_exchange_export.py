import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from data_sets import write_data_set
from episode_bag import Script, write_episode
from rclpy.serialization import serialize_message
from robot_bags import (
    KEYFRAMES,
    PERIOD_NS,
    START_NS,
    annotate,
    delta,
    panda_joints,
    picture,
    piper_joints,
    piper_stamps,
    piper_target,
    pose,
    write_panda_bag,
    write_piper_bag,
)
from sensor_msgs.msg import Image

from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.bags.errors import BagReadError
from kc_vla.bags.reader import BagReader
from kc_vla.bags.topics import TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.cli import main
from kc_vla.core.tasks import Task
from kc_vla.datasets.exchange.actions import joint_targets
from kc_vla.datasets.exchange.bags import find_bags
from kc_vla.datasets.exchange.clock import Clock
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.export import FORMATS, V2, export_bags
from kc_vla.datasets.exchange.origin import Origin
from kc_vla.datasets.lerobot.annotations import read_annotations
from kc_vla.datasets.lerobot.episode_writer import EpisodeWriter
from kc_vla.datasets.lerobot.reader import DataSet
from kc_vla.episodes.annotation_log import annotation_file
from kc_vla.episodes.episode_data import CommandMode, RecordedCommand
from kc_vla.learning.selector.recordings import load_recordings


@pytest.fixture(scope="module")
def bags(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bags")
    for number in range(3):
        write_panda_bag(folder, f"counting-{number}", 24 + number)
    return folder


def features(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "meta/info.json").read_text())["features"]


@pytest.mark.parametrize("kind", FORMATS)
def test_bags_of_the_panda_become_a_data_set_like_those_that_are_collected(
    bags: Path, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "empty").mkdir()
    done = export_bags(find_bags([bags]), tmp_path / "empty", kind)
    assert done.folder == tmp_path / "empty"
    assert (done.episodes, done.frames, done.notes) == (3, 24 + 25 + 26, ())
    assert features(done.folder) == features(write_data_set(tmp_path / "collected", writer_of=FORMATS[kind]))
    data_set = DataSet(done.folder)
    assert [(e.length, e.task, e.seed, e.variant) for e in data_set.episodes] == [
        (24 + n, "counting", 7, "paper") for n in range(3)
    ]
    columns = data_set.columns(1)
    felt = np.array([panda_joints(frame) for frame in range(25)], np.float32)
    np.testing.assert_array_equal(columns["observation.joint_positions"], felt)
    opening = np.mean([0.0123, 0.0125]) / 0.04
    expected = np.array([[*pose(frame), opening] for frame in range(25)], np.float32)
    np.testing.assert_array_equal(columns["observation.state"], expected)
    actions = np.array([delta(frame) for frame in range(24)], np.float32)
    np.testing.assert_array_equal(columns["action"][:24], actions)
    np.testing.assert_array_equal(columns["action"][24], [0, 0, 0, 0, 0, 0, 0])  # the last frame holds still
    assert data_set.keyframes(1) == KEYFRAMES
    assert np.flatnonzero(columns["annotation.keyframe"]).tolist() == list(KEYFRAMES)
    for view in ("third_person", "wrist"):
        for number, pixels in enumerate(data_set.frames(1, view)):
            assert np.abs(pixels.astype(int) - picture(number, view=view)).mean() < 6
    row = read_annotations(done.folder / "meta/annotations.jsonl")[6]
    assert (row.episode, row.frame, row.label, row.source, row.author, row.score) == (
        1,
        6,
        "flash 1 on",
        "person",
        "ann",
        0.5,
    )


def test_lerobots_version_3_is_the_usual_format_and_has_the_numbers_and_images_of_version_2(
    bags: Path, tmp_path: Path
) -> None:
    """To the bit, and so are the files of our own beside them."""
    for name, words in (("third", []), ("second", ["--format", V2])):
        assert main(["bag", "export", str(bags), "--output", str(tmp_path / name), *words]) == 0
    third, second = DataSet(tmp_path / "third"), DataSet(tmp_path / "second")
    versions = [
        json.loads((each.folder / "meta/info.json").read_text())["codebase_version"] for each in (third, second)
    ]
    assert versions == ["v3.0", "v2.1"]
    assert third.episodes == second.episodes
    for episode in range(3):
        columns = second.columns(episode)
        assert third.columns(episode).keys() == columns.keys()
        for key, values in third.columns(episode).items():
            np.testing.assert_array_equal(values, columns[key])
        for view in ("third_person", "wrist"):
            pairs = zip(second.frames(episode, view), third.frames(episode, view), strict=True)
            assert all(np.array_equal(*pair) for pair in pairs)
    for name in ("keyframes.json", "annotations.jsonl", "modality.json", "exported.json"):
        assert (third.folder / "meta" / name).read_bytes() == (second.folder / "meta" / name).read_bytes()


def test_a_piper_is_described_as_what_it_is(tmp_path: Path) -> None:
    bag = write_piper_bag(tmp_path, "desk", 24)
    done = export_bags([bag], tmp_path / "out")
    info = json.loads((done.folder / "meta/info.json").read_text())
    assert (info["robot_type"], info["fps"]) == ("piper", 20)
    names = [*(f"joint{k}" for k in range(1, 7)), "gripper"]
    assert [info["features"][key]["names"] for key in ("observation.state", "action")] == [names, names]
    columns = DataSet(done.folder).columns(0)
    for row, stamp in zip(columns["observation.state"], piper_stamps(24), strict=True):
        near = round((stamp - START_NS) / 1e7) * 10_000_000 + START_NS
        np.testing.assert_array_equal(row, np.float32(piper_joints(near)))
    expected = np.array([piper_target(step) for step in range(24)], np.float32)
    np.testing.assert_array_equal(columns["action"], expected)  # jitter neither repeats nor leaves out a step
    assert columns["observation.tool_pose"].shape == (24, 7)
    assert DataSet(done.folder).keyframes(0) == KEYFRAMES
    assert DataSet(done.folder).episodes[0].seed is None


@pytest.mark.parametrize("kind", FORMATS)
def test_where_a_person_had_taken_over_is_a_column_of_the_data_set(tmp_path: Path, kind: str) -> None:
    bags = [write_panda_bag(tmp_path, "a", changes=(5, 11, 20)), write_panda_bag(tmp_path, "b", 25)]
    done = export_bags(bags, tmp_path / "out", kind)
    assert done.notes == (f"{bags[0]}: a person had taken over in 9 of 24 frames",)
    data_set = DataSet(done.folder)
    assert np.flatnonzero(data_set.columns(0)["intervention"]).tolist() == [6, 7, 8, 9, 10, 11, 21, 22, 23]
    assert not data_set.columns(1)["intervention"].any()
    told = features(done.folder)["intervention"]
    assert (told["dtype"], told["shape"]) == ("bool", [1])
    assert main(["bag", "import", str(done.folder), "--output", str(tmp_path / "back")]) == 0
    again = export_bags(find_bags([tmp_path / "back"]), tmp_path / "again")
    for episode in (0, 1):
        mine, theirs = (each.columns(episode)["intervention"] for each in (data_set, DataSet(again.folder)))
        np.testing.assert_array_equal(mine, theirs)


def test_a_person_with_a_gamepad_beside_a_policy_of_joints_is_what_the_joints_then_did(tmp_path: Path) -> None:
    bag = write_piper_bag(tmp_path, "desk", 24, changes=(9, 14), by_gamepad=True)
    columns = DataSet(export_bags([bag], tmp_path / "out").folder).columns(0)
    action, state = columns["action"], columns["observation.state"]
    policy = [*range(10), *range(15, 24)]
    np.testing.assert_array_equal(action[policy], np.array([piper_target(step) for step in policy], np.float32))
    for frame in range(10, 15):
        np.testing.assert_array_equal(action[frame][:6], state[frame + 1][:6])
        assert action[frame][6] == pytest.approx(0.07 * delta(frame)[6])
    assert np.flatnonzero(columns["intervention"]).tolist() == [10, 11, 12, 13, 14]


def test_lost_frames_are_told_and_move_no_keyframe_to_another_moment(tmp_path: Path) -> None:
    bag = write_piper_bag(tmp_path, "desk", 24, lost=(3, 4, 12))
    done = export_bags([bag], tmp_path / "out")
    assert done.notes == (f"{bag}: frames missing between others: 3",)
    data_set = DataSet(done.folder)
    assert data_set.keyframes(0) == (0, 4, 7, 12, 17)
    steps = [step for step in range(24) if step not in (3, 4, 12)]
    expected = np.array([piper_target(step) for step in steps], np.float32)
    np.testing.assert_array_equal(data_set.columns(0)["action"], expected)


def test_frames_before_the_robot_was_heard_are_left_out_and_told(tmp_path: Path) -> None:
    bag = write_piper_bag(tmp_path, "desk", 24, felt_from_ns=START_NS + 300_000_000)
    done = export_bags([bag], tmp_path / "out")
    assert done.notes == (f"{bag}: 4 frames at the ends left out: the bag tells nothing of the robot there",)
    data_set = DataSet(done.folder)
    assert data_set.keyframes(0) == (0, 2, 5, 11, 16)
    expected = np.array([piper_target(step) for step in range(4, 24)], np.float32)
    np.testing.assert_array_equal(data_set.columns(0)["action"], expected)


def test_depth_stays_in_the_bag_and_this_is_said(tmp_path: Path) -> None:
    bag = write_piper_bag(tmp_path / "runs", "counting-1")
    reader, depth = BagReader(bag), "/third_person/depth/image"
    infos = {topic: TopicInfo(found.type, found.qos) for topic, found in reader.topics().items()}
    assert reader.episode is not None
    told = Image(height=2, width=2, step=4, encoding="16UC1", data=bytes(8))
    with_depth = EpisodeBagWriter(
        tmp_path / "deep/counting-1/bag", {**infos, depth: TopicInfo("sensor_msgs/msg/Image")}, reader.episode
    )
    for message in reader.messages():
        at = message.ref.log_time_ns
        assert with_depth.write(message.topic, message.data, at, at)
        assert with_depth.write(depth, serialize_message(told), at, at)
    with_depth.close()
    shutil.copy(bag / "annotations.jsonl", tmp_path / "deep/counting-1/bag")
    done = export_bags(find_bags([tmp_path / "deep"]), tmp_path / "set")
    (note,) = [note for note in done.notes if "depth" in note]
    assert note.endswith("the depth of third_person stays in the bag: a LeRobot data set holds none")
    assert {key for key in features(done.folder) if key.startswith("observation.images")} == {
        "observation.images.third_person",
        "observation.images.wrist",
    }


def test_a_short_silence_of_the_robot_is_told(tmp_path: Path) -> None:
    silent = (START_NS + 300_000_000, START_NS + 700_000_000)
    bag = write_piper_bag(tmp_path, "desk", 24, silent=silent)
    done = export_bags([bag], tmp_path / "out")
    (note,) = done.notes
    assert note.startswith(f"{bag}: 4 frames have a robot state from up to ")


def test_a_robot_that_was_hardly_heard_is_told(tmp_path: Path) -> None:
    bag = write_piper_bag(tmp_path, "desk", 24, felt_from_ns=START_NS + 1_000_000_000)
    with pytest.raises(ExchangeError, match=r"desk/bag: frame 0: no joint positions within 0.5 s of it"):
        export_bags([bag], tmp_path / "out")


def test_bags_without_a_confirmed_annotation_are_named(bags: Path, tmp_path: Path, capsys) -> None:
    bare = write_panda_bag(tmp_path, "bare", annotated=False)
    assert main(["bag", "export", str(bags), str(bare), "--output", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert f"1 of 4 bags have no confirmed annotation: {bare}: confirm" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("origin", "frames", "source"),
    [(Origin.COMMITTED, (0, 12, 20, 32, 42), "committed"), (Origin.ORACLE, (0, 12, 20, 32, 40), "oracle")],
)
def test_the_bags_own_keyframes_can_be_asked_for(
    tmp_path: Path, origin: Origin, frames: tuple[int, ...], source: str
) -> None:
    bag = write_episode(tmp_path / "bag", Script(late=2, hold_steps=(30, 31)))
    done = export_bags([bag], tmp_path / "out", origin=origin)
    assert DataSet(done.folder).keyframes(0) == frames
    assert {row.source for row in read_annotations(done.folder / "meta/annotations.jsonl")} == {source}
    actions = DataSet(done.folder).columns(0)["action"]
    np.testing.assert_array_equal(actions[30], [0, 0, 0, 0, 0, 0, 1])  # held, the gripper as it was


def test_an_episode_that_was_broken_off_has_no_oracle(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", Script(with_result=False, size=16))
    with pytest.raises(ExchangeError, match=f"{bag}: it holds no keyframes of an oracle"):
        export_bags([bag], tmp_path / "out", origin=Origin.ORACLE)


def test_nothing_is_written_over_a_data_set(bags: Path, tmp_path: Path) -> None:
    (tmp_path / "counting").mkdir()
    (tmp_path / "counting/precious").write_text("x")
    with pytest.raises(ExchangeError, match="counting is there already: choose another --output or --name"):
        export_bags(find_bags([bags]), tmp_path / "counting")
    assert [path.name for path in tmp_path.rglob("*")] == ["counting", "precious"]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", FORMATS)
def test_an_interrupted_export_goes_on_and_has_no_name_before_its_end(
    bags: Path, tmp_path: Path, monkeypatch, kind: str
) -> None:
    whole = contents(export_bags(find_bags([bags]), tmp_path / "whole", kind).folder)
    finish, begun = EpisodeWriter.finish, []

    def interrupted(self: EpisodeWriter, about, rows) -> None:
        begun.append(about.index)
        if about.index == 2 and begun.count(2) == 1:
            raise KeyboardInterrupt
        finish(self, about, rows)

    monkeypatch.setattr(EpisodeWriter, "finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export_bags(find_bags([bags]), tmp_path / "out", kind)
    assert not (tmp_path / "out").exists()
    assert contents(export_bags(find_bags([bags]), tmp_path / "out", kind).folder) == whole
    assert begun == [0, 1, 2, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "whole"]


def test_an_interrupted_export_says_no_more_than_that(bags: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    def interrupted(self: EpisodeWriter, about, rows) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(EpisodeWriter, "finish", interrupted)
    assert main(["bag", "export", str(bags), f"--output={tmp_path}/out"]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "kc-vla bag: interrupted"


def test_a_torn_bag_is_exported_as_far_as_it_goes_and_said(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", Script(with_result=False, size=16))
    path = bag / "bag_0.mcap"
    path.write_bytes(path.read_bytes()[:-100])
    done = export_bags([bag], tmp_path / "out", origin=Origin.COMMITTED)
    assert done.frames == 61
    assert len(done.notes) == 1
    assert "bag_0.mcap" in done.notes[0]


def half_exported(tmp_path: Path, monkeypatch) -> list[Path]:
    """Two bags, whose export to "out" was interrupted at the second."""
    bags = [write_panda_bag(tmp_path / "bags", f"e{number}") for number in range(2)]
    finish = EpisodeWriter.finish

    def interrupted(self: EpisodeWriter, about, rows) -> None:
        if about.index == 1:
            raise KeyboardInterrupt
        finish(self, about, rows)

    monkeypatch.setattr(EpisodeWriter, "finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export_bags(bags, tmp_path / "out")
    monkeypatch.undo()
    return bags


def test_other_keyframes_than_those_it_was_begun_with_begin_it_anew(tmp_path: Path, monkeypatch) -> None:
    bags = half_exported(tmp_path, monkeypatch)
    annotate(bags[0], [(0, START_NS), (1, START_NS + 8 * PERIOD_NS)], since=1)
    assert DataSet(export_bags(bags, tmp_path / "out").folder).keyframes(0) == (0, 8)


def test_another_format_than_that_it_was_begun_in_begins_it_anew(tmp_path: Path, monkeypatch) -> None:
    bags = half_exported(tmp_path, monkeypatch)
    folder = export_bags(bags, tmp_path / "out", V2).folder
    assert (folder / "meta/episodes.jsonl").exists()
    assert [episode.index for episode in DataSet(folder).episodes] == [0, 1]


def test_bags_that_were_made_anew_since_are_exported_anew(tmp_path: Path, monkeypatch) -> None:
    bags = half_exported(tmp_path, monkeypatch)
    shutil.rmtree(bags[0].parent)
    write_panda_bag(tmp_path / "bags", "e0", length=30)  # longer now
    assert DataSet(export_bags(bags, tmp_path / "out").folder).episodes[0].length == 30


def test_a_bag_of_several_episodes_is_refused(tmp_path: Path) -> None:
    bags = [write_panda_bag(tmp_path / "bags", f"e{number}") for number in range(2)]
    assert main(["bag", "merge", str(tmp_path / "both"), *map(str, bags)]) == 0
    with pytest.raises(BagReadError, match="holds 2 episodes, e0, e1: export the bag of each"):
        export_bags([tmp_path / "both"], tmp_path / "out", origin=Origin.NONE)
    with pytest.raises(BagReadError, match="holds 2 episodes, e0, e1: annotate the bag of each"):
        AnnotatedEpisode(tmp_path / "both")


def test_each_command_is_read_by_its_own_names() -> None:
    def command(step: int, names: tuple[str, ...], *values: float) -> RecordedCommand:
        return RecordedCommand(step, 0, CommandMode.JOINT_POSITION, np.array(values, np.float32), 0, 0, "", names)

    told = (command(0, ("a", "b"), 1, 2), command(1, ("b", "a"), 2, 1), command(2, ("a", "b"), 1, 2))
    clock = Clock(np.arange(3), 20, 0, np.arange(3), True)
    _, rows = joint_targets(told, clock, ("a", "b"), np.zeros((3, 2)))
    assert rows.tolist() == [[1, 2]] * 3
    with pytest.raises(ExchangeError, match="commands for a, c, but the joints are a, b"):
        joint_targets((*told, command(3, ("a", "c"), 0, 0)), clock, ("a", "b"), np.zeros((3, 2)))


def test_episodes_that_do_not_belong_together_are_named(bags: Path, tmp_path: Path) -> None:
    piper = write_piper_bag(tmp_path, "desk")
    with pytest.raises(
        ExchangeError, match=f"{piper}: it has the robot piper, the first bag panda: export them into two"
    ):
        export_bags([*find_bags([bags]), piper], tmp_path / "out")


def test_tasks_of_one_robot_share_a_data_set(bags: Path, tmp_path: Path) -> None:
    other = write_panda_bag(tmp_path, "spatial-0", keyframes=(0, 5, 10, 15), task="spatial")
    done = export_bags([*find_bags([bags]), other], tmp_path / "out")
    data_set = DataSet(done.folder)
    assert [e.task for e in data_set.episodes] == ["counting"] * 3 + ["spatial"]
    assert [int(data_set.columns(index)["task_index"][0]) for index in range(4)] == [0, 0, 0, 1]
    tasks = pq.read_table(done.folder / "meta/tasks.parquet").to_pylist()
    assert [row["task_index"] for row in tasks] == [0, 1]
    assert tasks[1]["task"] == data_set.episodes[3].instruction


def test_a_task_that_is_in_no_table_is_exported_with_its_own_labels_and_learnt(tmp_path: Path) -> None:
    for number in range(2):
        bag = write_panda_bag(tmp_path, f"e{number}", task="stir", instruction="Stir the soup.", annotated=False)
        annotate(bag, [(0, START_NS), (1, START_NS + 8 * PERIOD_NS)])
    folder = export_bags(find_bags([tmp_path]), tmp_path / "set").folder
    (task,) = {recording.task for recording in load_recordings(folder, tell=lambda note: None)}
    assert task == Task("stir", "Stir the soup.", ("start", "flash 1 on"))


def test_a_keyframe_that_was_left_out_is_told(tmp_path: Path) -> None:
    bag = write_panda_bag(tmp_path, "e", annotated=False)
    annotate(bag, [(0, START_NS), (1, START_NS + 8 * PERIOD_NS)])
    log = annotation_file(bag)  # as an annotation page could confirm it before it saw to that
    log.write_text(log.read_text().replace('"phase": 1, "label": "flash 1 on"', '"phase": 2, "label": "flash 1 off"'))
    with pytest.raises(ExchangeError, match=f"{bag}, keyframe 2 'flash 1 off': keyframe 1 is not annotated"):
        export_bags([bag], tmp_path / "out")


def test_a_keyframe_outside_of_the_episode_is_told(tmp_path: Path) -> None:
    bag = write_panda_bag(tmp_path, "e", annotated=False)
    annotate(bag, [(0, START_NS), (1, START_NS + 800 * PERIOD_NS)])
    with pytest.raises(ExchangeError, match="is not one of the episode's frames"):
        export_bags([bag], tmp_path / "out")


def test_a_torn_picture_is_told_with_its_frame(tmp_path: Path, monkeypatch) -> None:
    bag = write_panda_bag(tmp_path, "e")
    from kc_vla.episodes import recording as module

    decode, seen = module.decode_image, []

    def torn(message, topic: str):
        seen.append(topic)
        if len(seen) == 2 + 2 * 5 + 1:  # two for the sizes, then two a frame
            message.data = bytes(message.data)[:100]
        return decode(message, topic)

    monkeypatch.setattr(module, "decode_image", torn)
    with pytest.raises(ExchangeError, match=f"{bag}, frame 5, third_person: an image on .* is cut off"):
        export_bags([bag], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_there_must_be_a_bag(tmp_path: Path) -> None:
    with pytest.raises(ExchangeError, match="there is no bag in"):
        find_bags([tmp_path])
    with pytest.raises(ExchangeError, match="no bag at"):
        find_bags([tmp_path / "nowhere"])
