import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from camera_files import TURNS, corner, shown, write_turned_video
from data_sets import numbers, write_data_set
from data_sets import picture as drawn
from episode_bag import Script, third_person_view, write_episode
from robot_bags import KEYFRAMES, PIPER_NAMES, picture, piper_stamps, write_panda_bag, write_piper_bag

from kc_vla.bags.errors import BagError
from kc_vla.bags.inspect import look_into
from kc_vla.bags.reader import BagReader
from kc_vla.cli import main
from kc_vla.core.tasks import TASKS
from kc_vla.datasets.exchange.bag_output import Announcement, BagOutput
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.export import FORMATS, export_bags
from kc_vla.datasets.exchange.from_bags import Asked, import_bags
from kc_vla.datasets.exchange.from_data_set import Wanted, import_data_set
from kc_vla.datasets.exchange.from_videos import Videos, import_videos
from kc_vla.datasets.exchange.rows import read_rows
from kc_vla.datasets.lerobot.reader import DataSet
from kc_vla.episodes.annotation_log import confirmed_track
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode
from kc_vla.media.mp4 import Mp4Writer

LENGTHS = (30, 24)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data_set(tmp_path_factory.mktemp("made") / "counting", LENGTHS, KEYFRAMES)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A data set to change."""
    return Path(shutil.copytree(made, tmp_path / "counting"))


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("robot", ["panda", "piper"])
def test_a_bag_comes_back_from_a_data_set_as_it_was(tmp_path: Path, kind: str, robot: str) -> None:
    bag = (write_panda_bag if robot == "panda" else write_piper_bag)(tmp_path, "first")
    done = export_bags([bag], tmp_path / "set", kind)
    imported = import_data_set(done.folder, tmp_path / "back")
    assert (len(imported.folders), imported.frames, imported.notes) == (1, 24, ())
    back = imported.folders[0] / "bag"
    before, after = read_rows(bag), read_rows(back)
    assert after.robot == before.robot == robot
    assert [column.key for column in after.columns] == [column.key for column in before.columns]
    pairs = zip(before.columns.items(), after.columns.items(), strict=True)
    for (column, values), (same, read) in pairs:
        assert same.names == column.names
        np.testing.assert_array_equal(read.astype(np.float32), values.astype(np.float32))
    for (_, here), (_, there) in zip(before.rows(), after.rows(), strict=True):
        for view in ("third_person", "wrist"):
            assert np.abs(here[view].astype(int) - there[view]).mean() < 6
    track = confirmed_track(back)
    assert track is not None
    assert [mark.frame for mark in track.marks] == list(KEYFRAMES)
    assert {mark.source for mark in track.marks} == {"import"}
    assert [mark.label for mark in track.marks] == list(TASKS["counting"].keyframes)
    assert not look_into(back, decode=True).troubles
    again = export_bags([back], tmp_path / "again", kind)
    assert (again.frames, again.episodes) == (24, 1)


def test_a_collected_data_set_becomes_episodes(made: Path, tmp_path: Path) -> None:
    import_data_set(made, tmp_path)
    episode = RecordedEpisode(tmp_path / "counting-000001" / "bag")
    status = episode.status
    assert (status.task, status.seed, status.variant, status.frame_period_s) == ("counting", 1, "paper", 0.05)
    assert status.instruction == TASKS["counting"].instruction
    assert [frame.index for frame in episode.frames] == list(range(24))
    command = episode.commands[7]
    assert (command.step, command.mode, command.names[0]) == (7, CommandMode.TOOL_DELTA, "dx")
    np.testing.assert_array_equal(command.values, np.float32(numbers(1, 7)["action"]))
    assert (
        np.abs(
            episode.image(episode.frames[7].pictures["third_person"]).astype(int) - drawn("third_person", 1, 7)
        ).mean()
        < 6
    )
    assert np.abs(episode.image(episode.frames[7].pictures["wrist"]).astype(int) - drawn("wrist", 1, 7)).mean() < 6


def authors(folder: Path) -> None:
    """Make the data set one of the authors' form: other cameras, state of the tool alone, none of our files."""
    for ours, theirs in (("third_person", "image"), ("wrist", "wrist_image")):
        videos = folder / "videos/chunk-000"
        (videos / f"observation.images.{ours}").rename(videos / f"observation.images.{theirs}")
    info = json.loads((folder / "meta/info.json").read_text().replace("images.third_person", "images.image"))
    info = json.loads(json.dumps(info).replace("images.wrist", "images.wrist_image"))
    for key in ("observation.joint_positions", "observation.joint_velocities", "annotation.keyframe"):
        del info["features"][key]
    (folder / "meta/info.json").write_text(json.dumps(info))
    rows = [json.loads(line) for line in (folder / "meta/episodes.jsonl").read_text().splitlines()]
    kept = [{key: row[key] for key in ("episode_index", "tasks", "length")} for row in rows]
    (folder / "meta/episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    (folder / "meta/annotations.jsonl").unlink()


def test_a_data_set_of_the_authors_becomes_episodes(folder: Path, tmp_path: Path) -> None:
    authors(folder)
    import_data_set(folder, tmp_path / "out")
    bag = tmp_path / "out/counting-000000/bag"
    rows = read_rows(bag)
    assert rows.episode.status.task == "counting"
    assert list(rows.sizes) == ["third_person", "wrist"]
    keys = [column.key for column in rows.columns]
    assert keys == ["observation.state", "action", "observation.joint_positions", "observation.tool_pose"]
    pose = next(values for column, values in rows.columns.items() if column.key == "observation.tool_pose")
    expected = [numbers(0, frame)["observation.state"][:7] for frame in range(30)]
    np.testing.assert_array_equal(pose.astype(np.float32), np.array(expected, np.float32))
    track = confirmed_track(bag)
    assert track is not None
    assert [(mark.frame, mark.label) for mark in track.marks][1] == (6, "flash 1 on")


def test_actions_that_nobody_explains_are_kept_and_said(folder: Path, tmp_path: Path) -> None:
    info = (folder / "meta/info.json").read_text().replace('"dx"', '"power"')
    (folder / "meta/info.json").write_text(info)
    done = import_data_set(folder, tmp_path / "out")
    assert len(done.notes) == 1
    assert "its actions (power, dy, dz, rx, ry, rz, gripper) are neither tool deltas nor positions" in done.notes[0]
    episode = RecordedEpisode(done.folders[0] / "bag")
    assert episode.commands == ()
    assert episode.message_counts["/data_set/action"] == 30


def test_what_is_there_is_left_as_it_is(made: Path, tmp_path: Path) -> None:
    import_data_set(made, tmp_path)
    bag = tmp_path / "counting-000000/bag/bag_0.mcap"
    bag.unlink()
    shutil.rmtree(tmp_path / "counting-000001")
    done = import_data_set(made, tmp_path)
    assert done.notes == ("1 of 2 episodes were there already and were left as they are",)
    assert not bag.exists()
    assert (tmp_path / "counting-000001/bag/bag_0.mcap").exists()


def test_two_imports_of_one_episode_do_not_mix(tmp_path: Path) -> None:
    about = Announcement("e0", "counting", "do it", 10**9, 0.05)
    with BagOutput(tmp_path, about, ["/joint_states"]) as bag:
        with pytest.raises(ExchangeError, match="is being filled by another import of the same episode"):
            BagOutput(tmp_path, about, ["/joint_states"])
        bag.joints(("a",), (1.0,), (), 10**9)
        bag.finish(2 * 10**9)
    assert [message.topic for message in BagReader(tmp_path / "e0/bag").messages()].count("/joint_states") == 1
    assert not list(tmp_path.glob(".*"))


def test_an_episode_of_another_data_set_of_that_name_is_not_taken_for_this_one(made: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / made.name
    shutil.copytree(made, other)
    import_data_set(made, tmp_path / "out")
    with pytest.raises(ExchangeError, match="counting-000000 is there already and came from"):
        import_data_set(other, tmp_path / "out")


def test_a_video_that_ends_early_is_told_and_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    path = next(folder.rglob("*images.wrist/episode_000001.mp4"))
    path.write_bytes(path.read_bytes()[:-900])
    with pytest.raises(BagError, match=r"counting, episode 1, observation.images.wrist, frame \d+: the video"):
        import_data_set(folder, tmp_path / "out")
    assert [place.name for place in (tmp_path / "out").iterdir()] == ["counting-000000"]


def test_cameras_of_other_names_are_asked_for(folder: Path, tmp_path: Path, capsys) -> None:
    text = (folder / "meta/info.json").read_text()
    (folder / "meta/info.json").write_text(text.replace("images.third_person", "images.cam_7"))
    videos = folder / "videos/chunk-000"
    (videos / "observation.images.third_person").rename(videos / "observation.images.cam_7")
    words = ["bag", "import", str(folder), "--output", str(tmp_path / "out")]
    assert main(words) == 1
    assert "which of its cameras is the third-person one? Say --third-person KEY, " in capsys.readouterr().err
    assert main([*words, "--third-person", "observation.images.cam_8"]) == 1
    assert "has no camera 'observation.images.cam_8' for third_person" in capsys.readouterr().err
    assert main([*words, "--third-person", "observation.images.cam_7"]) == 0
    assert "2 episodes, 54 new frames" in capsys.readouterr().out


def test_a_camera_that_gives_no_name_for_a_view_is_left_out_and_told(folder: Path, tmp_path: Path) -> None:
    text = (folder / "meta/info.json").read_text().replace("images.wrist", "images.7")
    (folder / "meta/info.json").write_text(text)
    done = import_data_set(folder, tmp_path / "out")
    taken = "observation.images.third_person as third_person; not imported: observation.images.7"
    assert done.notes == (f"{folder}: {taken}",)


@pytest.mark.parametrize(
    ("named", "views"),
    [
        ([], ("third_person", "side")),
        (["--view", "front=observation.images.side"], ("third_person", "front")),
        (
            ["--view", "front=observation.images.side", "--view", "hand=observation.images.third_person"],
            ("front", "hand"),
        ),
    ],
)
def test_cameras_beyond_the_usual_ones_become_views(
    folder: Path, tmp_path: Path, named: list[str], views: tuple[str, str]
) -> None:
    (folder / "meta/info.json").write_text(
        (folder / "meta/info.json").read_text().replace("images.wrist", "images.side")
    )
    videos = folder / "videos/chunk-000"
    (videos / "observation.images.wrist").rename(videos / "observation.images.side")
    assert main(["bag", "import", str(folder), "--output", str(tmp_path / "out"), *named]) == 0
    episode = RecordedEpisode(tmp_path / "out" / f"{folder.name}-000001" / "bag")
    assert episode.views == views
    shown = {"third_person": "third_person", "hand": "third_person", "side": "wrist", "front": "wrist"}
    for view in views:
        seen = episode.image(episode.frames[7].pictures[view])
        assert np.abs(seen.astype(int) - drawn(shown[view], 1, 7)).mean() < 6


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["joints=a.mp4"], "--view joints=a.mp4: no view can be called 'joints'"),
        (["front"], "--view front: write NAME=X"),
        (["front=a.mp4", "front=b.mp4"], "--view front=b.mp4: named twice"),
    ],
)
def test_views_that_cannot_be_are_told(tmp_path: Path, capsys, given: list[str], told: str) -> None:
    words = [word for text in given for word in ("--view", text)]
    assert main(["bag", "import", *words, "--task=counting", "--output", str(tmp_path / "out")]) == 1
    assert told in capsys.readouterr().err


def test_an_instruction_of_no_known_task_is_told(folder: Path, tmp_path: Path) -> None:
    authors(folder)
    path = folder / "meta/episodes.jsonl"
    path.write_text(path.read_text().replace("Wait for", "Make tea, then wait for"))
    with pytest.raises(ExchangeError, match=r"episode 0: no task has the instruction 'Make tea.*: give --task"):
        import_data_set(folder, tmp_path / "out")
    import_data_set(folder, tmp_path / "out", Wanted(task="tea"))
    assert RecordedEpisode(tmp_path / "out/counting-000000/bag").status.task == "tea"


@pytest.mark.parametrize("kind", FORMATS)
def test_keyframes_survive_tools_that_keep_the_columns_alone(tmp_path: Path, kind: str) -> None:
    data_set = export_bags([write_panda_bag(tmp_path, "e")], tmp_path / "set", kind).folder
    for name in ("keyframes.json", "annotations.jsonl"):
        (data_set / "meta" / name).unlink()
    track = confirmed_track(import_data_set(data_set, tmp_path / "out").folders[0] / "bag")
    assert track is not None
    assert [mark.frame for mark in track.marks] == list(KEYFRAMES)
    assert [mark.label for mark in track.marks] == list(TASKS["counting"].keyframes)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", ["data_path", "video_path"])
def test_a_data_set_names_no_files_outside_its_folder(tmp_path: Path, kind: str, name: str) -> None:
    data_set = export_bags([write_panda_bag(tmp_path, "e")], tmp_path / "set", kind).folder
    info = json.loads((data_set / "meta/info.json").read_text())
    (data_set / "meta/info.json").write_text(json.dumps({**info, name: "../" + info[name]}))
    with pytest.raises(BagError, match=r"bad path '\.\./.* leads out of") as raised:
        import_data_set(data_set, tmp_path / "out")
    assert "\n" not in str(raised.value)


# -- videos -------------------------------------------------------------------------------------------------------


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A folder with a pair of videos, 24 frames at 20 Hz, and joints at 50 Hz."""
    for view in ("third_person", "wrist"):
        with Mp4Writer(tmp_path / f"{view}.mp4", 32, 32, 0.05, {"crf": "10"}) as video:
            for number in range(24):
                video.add(picture(number, view=view), number)
    rows = [f"{0.02 * k:.2f},{','.join(str(0.1 * j + 0.01 * k) for j in range(7))}" for k in range(60)]
    (tmp_path / "joints.csv").write_text("\n".join(["time," + ",".join(PIPER_NAMES), *rows]))
    return tmp_path


@pytest.mark.parametrize("views", [("front",), ("side", "front", "hand")], ids=len)
def test_videos_of_any_views_become_an_episode(film: Path, views: tuple[str, ...]) -> None:
    shown = dict(zip(views, ("wrist", "third_person", "wrist"), strict=False))
    words = [word for view in views for word in ("--view", f"{view}={film / shown[view]}.mp4")]
    assert main(["bag", "import", *words, "--task=counting", f"--output={film}/out", "--name=mine"]) == 0
    episode = RecordedEpisode(film / "out" / "mine" / "bag")
    assert episode.views == views
    assert len(episode.frames) == 24
    for view, ref in episode.frames[7].pictures.items():
        assert np.abs(episode.image(ref).astype(int) - picture(7, view=shown[view])).mean() < 6


def test_videos_and_a_table_become_an_episode(film: Path, capsys) -> None:
    files = [f"--third-person={film}/third_person.mp4", f"--wrist={film}/wrist.mp4", f"--joints={film}/joints.csv"]
    words = ["bag", "import", *files, "--task=counting", f"--output={film}/out", "--name=mine"]
    assert main(words) == 0
    assert "1 episodes, 24 new frames" in capsys.readouterr().out
    rows = read_rows(film / "out/mine/bag")
    assert (rows.robot, rows.clock.fps, len(rows), list(rows.sizes)) == ("piper", 20, 24, ["third_person", "wrist"])
    state = next(values for column, values in rows.columns.items() if column.key == "observation.state")
    np.testing.assert_allclose(state[:, 0], [0.025 * frame for frame in range(24)], atol=0.005 + 1e-6)
    for number, (_, pictures) in enumerate(rows.rows()):
        assert np.abs(pictures["wrist"].astype(int) - picture(number, view="wrist")).mean() < 8
    assert main(words) == 1
    assert "mine is there already: choose another --output or --name" in capsys.readouterr().err


def test_a_table_that_ends_early_is_told(film: Path) -> None:
    text = (film / "joints.csv").read_text().splitlines()
    (film / "joints.csv").write_text("\n".join(text[:20]))
    done = import_videos(
        Videos({"third_person": film / "third_person.mp4"}, film / "joints.csv", "counting"), film / "out"
    )
    assert done.notes == (f"{film}/joints.csv tells of 0 to 0.36 s, the video goes from 0 to 1.15 s",)


@pytest.mark.parametrize("turn", TURNS)
def test_a_video_of_a_telephone_becomes_pictures_as_they_are_to_be_shown(tmp_path: Path, turn: str) -> None:
    video = write_turned_video(tmp_path / "phone.mp4", turn)
    assert main(["bag", "import", f"--third-person={video}", "--task=counting", f"--output={tmp_path}/out"]) == 0
    episode = RecordedEpisode(tmp_path / "out/phone/bag")
    pixels, wanted = episode.image(episode.frames[0].pictures["third_person"]), shown(corner(), turn)
    assert pixels.shape == wanted.shape
    assert np.abs(pixels.astype(int) - wanted).mean() < 12


@pytest.mark.parametrize("keep", [0.0, 0.6])
def test_a_video_that_cannot_be_read_is_told(film: Path, keep: float) -> None:
    path = film / "third_person.mp4"
    path.write_bytes(path.read_bytes()[: int(keep * path.stat().st_size)])
    with pytest.raises(ExchangeError, match=r"third_person\.mp4"):
        import_videos(Videos({"third_person": path}, None, "counting"), film / "out")
    assert not list((film / "out").glob("*"))


def test_a_task_must_be_told(film: Path) -> None:
    with pytest.raises(
        ExchangeError, match=r"third_person\.mp4: it does not say what its task is: give --task, one of"
    ):
        import_videos(Videos({"third_person": film / "third_person.mp4"}), film / "out")


# -- bags of other stacks -----------------------------------------------------------------------------------------

TOPICS = {
    "third_person/image_raw": "/third_person/image_raw",
    "wrist/image_raw": "/wrist/image_raw",
    "joint_states": "/joint_states",
}


COMPRESSED = {f"{view}/image_raw": f"/{view}/image_raw/compressed" for view in ("third_person", "wrist")}


def test_a_bag_of_another_stack_becomes_an_episode(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "theirs", Script(size=32))
    done = import_bags([bag], tmp_path / "out", Asked(TOPICS, "counting"))
    episode = RecordedEpisode(done.folders[0] / "bag")
    assert done.folders == (tmp_path / "out/theirs",)
    assert (len(episode.frames), episode.status.frame_period_s) == (61, 0.05)
    assert np.array_equal(
        episode.image(episode.frames[15].pictures["third_person"]), third_person_view(Script(size=32), 15)
    )
    assert set(episode.message_counts) == {
        "/episode/status",
        "/third_person/image_raw",
        "/wrist/image_raw",
        "/joint_states",
    }


def test_compressed_pictures_and_joint_targets_are_taken_over(tmp_path: Path, capsys) -> None:
    bag = write_piper_bag(tmp_path / "theirs", "desk")
    lines = {
        "third_person/image_raw": "/third_person/image_raw/compressed",
        "wrist/image_raw": "/wrist/image_raw/compressed",
        "arm/command": "/joint_states",
        "tool_pose": "/tool_pose",
    }
    (tmp_path / "map.yaml").write_text("".join(f"{ours}: {theirs}\n" for ours, theirs in lines.items()))
    words = [str(bag), f"--topics={tmp_path}/map.yaml", f"--output={tmp_path}/out", "--task=counting"]
    assert main(["bag", "import", *words]) == 0
    episode = RecordedEpisode(tmp_path / "out/desk/bag")
    original = RecordedEpisode(bag)
    assert [stamp for stamp, _ in episode.pictures("third_person")] == piper_stamps(24)
    here, there = (e.image(e.pictures("wrist")[9][1]) for e in (original, episode))
    assert np.array_equal(here, there)
    assert {command.mode for command in episode.commands} == {CommandMode.JOINT_POSITION}
    assert episode.commands[0].names == PIPER_NAMES


def test_pictures_can_be_had_raw_for_the_live_nodes(made: Path, tmp_path: Path) -> None:
    assert main(["bag", "import", str(made), f"--output={tmp_path}/raw", "--raw"]) == 0
    assert main(["bag", "import", str(made), f"--output={tmp_path}/jpeg"]) == 0
    raw, jpeg = (RecordedEpisode(tmp_path / kind / "counting-000001/bag") for kind in ("raw", "jpeg"))
    assert {"/third_person/image_raw", "/wrist/image_raw"} < set(raw.message_counts)
    exact = list(DataSet(made).frames(1))
    for frame in raw.frames:
        assert np.array_equal(raw.image(frame.pictures["third_person"]), exact[frame.index])
    again = import_bags([jpeg.bag], tmp_path / "again", Asked(COMPRESSED, "counting", name="x", raw=True))
    pixels = RecordedEpisode(again.folders[0] / "bag")
    assert pixels.frames[3].pictures["wrist"].type == "sensor_msgs/msg/Image"
    assert np.array_equal(
        pixels.image(pixels.frames[3].pictures["wrist"]), jpeg.image(jpeg.frames[3].pictures["wrist"])
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"wrist/image_raw": "/cam"}, r"no messages on /cam \(wrist/image_raw\); it has /arm/command, /diagnostics"),
        (
            {"tool_pose": "/arm/command"},
            r"/arm/command is kc_vla_msgs/msg/ArmCommand; tool_pose can be filled from geom",
        ),
    ],
)
def test_a_map_that_does_not_fit_the_bag_is_told(tmp_path: Path, change: dict[str, str], told: str) -> None:
    bag = write_episode(tmp_path / "theirs", Script(size=8, steps=12, oracle=(0, 3, 6, 8, 10)))
    with pytest.raises(ExchangeError, match=told):
        import_bags([bag], tmp_path / "out", Asked({**TOPICS, **change}, "counting"))
    assert not (tmp_path / "out").exists()


def test_bags_need_a_map(tmp_path: Path, capsys) -> None:
    bag = write_episode(tmp_path / "theirs", Script(size=8, steps=12, oracle=(0, 3, 6, 8, 10)))
    assert main(["bag", "import", str(bag), f"--output={tmp_path}/out"]) == 1
    assert "is no LeRobot data set (no meta/info.json); for bags, say which topics: --topics" in capsys.readouterr().err
    assert main(["bag", "import", f"--output={tmp_path}/out"]) == 1
    assert "nothing to import" in capsys.readouterr().err


def test_an_imported_bag_can_be_exported_without_annotation_only_when_asked(tmp_path: Path) -> None:
    bag = write_panda_bag(tmp_path, "e")
    data_set = DataSet(export_bags([bag], tmp_path / "set").folder)
    (data_set.folder / "meta/keyframes.json").unlink()
    info = data_set.folder / "meta/info.json"
    info.write_text(info.read_text().replace("annotation.keyframe", "annotation.other"))
    done = import_data_set(data_set.folder, tmp_path / "out")
    with pytest.raises(ExchangeError, match="1 of 1 bags have no confirmed annotation"):
        export_bags([done.folders[0] / "bag"], tmp_path / "again")
