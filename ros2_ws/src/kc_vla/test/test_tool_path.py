"""The tool's way is drawn where the camera saw it, out of a bag alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from builtin_interfaces.msg import Time
from episode_bag import PERIOD_NS, START_NS, TOPICS, WALL_NS, Script, info, messages
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CameraInfo
from std_msgs.msg import String

from kc_vla.bags.errors import ReportError
from kc_vla.bags.topics import Qos, TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.cli import main
from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.core.robot import load_robot
from kc_vla.core.urdf import Placed
from kc_vla.description.robot import description_of
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.media.canvas import AMBER, BLUE, GREEN
from kc_vla.reports.tool_path import ToolPath, robot_of_bag, spread
from kc_vla.ros.convert import joint_message
from kc_vla.ros.transforms import transforms_message
from kc_vla_msgs.msg import ActionChunk

PANDA = load_robot("panda_sim")
TEXT, TREE = description_of(PANDA)
SIZE, STEPS = 64, 30
SCRIPT = Script(size=SIZE, steps=STEPS, oracle=(0, 5, 10, 15, 20))
FOCAL = 60.0
BESIDE = pose_matrix([0.45, 0.0, 1.4], [1.0, 0.0, 0.0, 0.0])
"""Looks down at the table: x to the right, y of the base towards the picture's upper edge."""
ON_TOOL = pose_matrix([0.05, 0.0, -0.08], [0.0, 0.0, 0.0, 1.0])
EXTRA = {
    "/tf": TopicInfo("tf2_msgs/msg/TFMessage"),
    "/tf_static": TopicInfo("tf2_msgs/msg/TFMessage", Qos(transient_local=True, depth=1)),
    "/robot_description": TopicInfo("std_msgs/msg/String", Qos(transient_local=True, depth=1)),
    "/third_person/camera_info": TopicInfo("sensor_msgs/msg/CameraInfo"),
    "/wrist/camera_info": TopicInfo("sensor_msgs/msg/CameraInfo"),
}


def joints(frame: int) -> np.ndarray:
    """Turns about the vertical axis, so that the tool goes round in a circle."""
    return np.array([-0.4 + 0.8 * frame / STEPS, *PANDA.rest[1:], 0.02, 0.02])


def tool(frame: int) -> np.ndarray:
    pose = TREE.pose(PANDA.tool_frame, dict(zip(PANDA.names, joints(frame), strict=True)))
    assert pose is not None
    return pose


def stamp(frame: int) -> Time:
    seconds, rest = divmod(START_NS + frame * PERIOD_NS, 10**9)
    return Time(sec=seconds, nanosec=rest)


def told(with_transforms: bool, joint_chunks: bool) -> Iterator[tuple[str, Any, int]]:
    standing = [
        *TREE.fixed,
        Placed(PANDA.base_frame, "third_person_optical", BESIDE),
        Placed(PANDA.tool_frame, "wrist_optical", ON_TOOL),
    ]
    for topic, message, wall in messages(SCRIPT):
        frame = round((wall - WALL_NS) / PERIOD_NS)
        if topic == "/joint_states":
            yield topic, joint_message(PANDA.names, joints(frame), [0.0] * 9, stamp(frame)), wall
            moved = TREE.moved(dict(zip(PANDA.names, joints(frame), strict=True)))
            if with_transforms:
                yield "/tf", transforms_message(moved, stamp(frame)), wall + 1
        elif topic == "/policy/chunk":
            ahead = [frame + k for k in range(message.horizon)]
            if joint_chunks:
                names, rows = list(PANDA.names), [joints(k + 1) for k in ahead]
            else:
                names = list(message.names)
                rows = [[*(tool(k + 1) - tool(k))[:3, 3], 0.0, 0.0, 0.0, 1.0] for k in ahead]
            actions = np.array(rows, np.float32)
            yield topic, chunk(message, names, actions), wall
        else:
            yield topic, message, wall
        if topic == "/episode/status" and frame == 0:
            if with_transforms:
                yield "/tf_static", transforms_message(standing, stamp(0)), wall
                yield "/robot_description", String(data=TEXT), wall
            for view, optical in PANDA.cameras.items():
                lens = CameraInfo(width=SIZE, height=SIZE, distortion_model="plumb_bob", d=[0.0] * 5)
                lens.k = [FOCAL, 0.0, SIZE / 2, 0.0, FOCAL, SIZE / 2, 0.0, 0.0, 1.0]
                lens.header.frame_id = optical
                yield f"/{view}/camera_info", lens, wall


def chunk(message: ActionChunk, names: list[str], actions: np.ndarray) -> ActionChunk:
    message.names, message.dimension = names, len(names)
    message.actions = actions.ravel().tolist()
    return message


def written(folder: Path, with_transforms: bool = True, joint_chunks: bool = False) -> Path:
    writer = EpisodeBagWriter(folder, {**TOPICS, **EXTRA}, info(SCRIPT))
    for topic, message, wall in told(with_transforms, joint_chunks):
        assert writer.write(topic, serialize_message(message), wall, wall)
    writer.close()
    return folder


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("path") / "bag")


def test_the_way_is_where_the_tool_was(bag: Path) -> None:
    episode = RecordedEpisode(bag)
    way = ToolPath(episode, PANDA)
    frame = episode.frames[20]
    np.testing.assert_allclose(way.done(frame), [tool(k)[:3, 3] for k in range(21)], atol=1e-6)
    seen = tool(20)[:3, 3] - BESIDE[:3, 3]
    wanted = [SIZE / 2 + FOCAL * seen[0] / -seen[2], SIZE / 2 - FOCAL * seen[1] / -seen[2]]
    np.testing.assert_allclose(way.pixels(tool(20)[None, :3, 3], "third_person", frame)[0], wanted, atol=1e-3)
    on_tool = way.pixels(tool(20)[None, :3, 3], "wrist", frame)[0]
    np.testing.assert_allclose(on_tool, [SIZE / 2 - FOCAL * 0.05 / 0.08, SIZE / 2], atol=1e-3)  # it rides on the hand
    assert np.isnan(way.pixels(tool(20)[None, :3, 3], "none", frame)).all()


@pytest.mark.parametrize("joint_chunks", [False, True])
def test_a_chunk_goes_on_where_the_tool_is(tmp_path: Path, joint_chunks: bool) -> None:
    episode = RecordedEpisode(written(tmp_path / "bag", joint_chunks=joint_chunks))
    way = ToolPath(episode, PANDA)
    planned = way.planned(episode.frames[19])  # the chunk of frame 16, of 16 actions
    np.testing.assert_allclose(planned, [tool(k)[:3, 3] for k in range(20, 33)], atol=1e-5)


def test_the_picture_has_the_tool_on_the_way_and_the_chunk_ahead(bag: Path, tmp_path: Path) -> None:
    assert main(["report", str(bag), "--path", "--frame", "6", "-o", str(tmp_path)]) == 0
    picture = cv2.cvtColor(cv2.imread(str(tmp_path / "tool_path.png")), cv2.COLOR_BGR2RGB)
    upper = picture[44 : 44 + 420, 10 : 10 + 420].astype(int)
    scale = 420 / SIZE

    def colour_at(frame: int) -> set[tuple[int, int, int]]:
        seen = tool(frame)[:3, 3] - BESIDE[:3, 3]
        x, y = SIZE / 2 + FOCAL * seen[0] / -seen[2], SIZE / 2 - FOCAL * seen[1] / -seen[2]
        x, y = round((x + 0.5) * scale - 0.5), round((y + 0.5) * scale - 0.5)
        return {tuple(each) for each in upper[y - 1 : y + 2, x - 1 : x + 2].reshape(-1, 3)}

    assert BLUE in colour_at(2)
    assert GREEN in colour_at(6)
    assert AMBER in colour_at(12)
    assert {AMBER, BLUE, GREEN}.isdisjoint(colour_at(25))


def test_a_bag_without_transforms_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bag: Path
) -> None:
    old = written(tmp_path / "bag", with_transforms=False)
    assert main(["report", str(old), "--path"]) == 1
    assert "does not tell where 'panda_hand_tcp' is in 'panda_link0': record it with" in capsys.readouterr().err
    assert main(["report", str(bag), "--path", "--frame", "99", "-o", str(tmp_path)]) == 1
    assert "has no frame 99: it has 31" in capsys.readouterr().err
    assert main(["report", str(bag), "--path", "--rig", "piper", "-o", str(tmp_path)]) == 1
    assert "does not tell where 'tool' is in 'robot_base'" in capsys.readouterr().err


def test_the_robot_is_known_by_its_joints(bag: Path) -> None:
    assert robot_of_bag(RecordedEpisode(bag)).name == "panda_sim"


def test_frames_are_spread_over_the_episode(bag: Path) -> None:
    frames = RecordedEpisode(bag).frames
    assert [frame.index for frame in spread(frames, 3)] == [5, 15, 25]
    assert [frame.index for frame in spread(frames[:1], 3)] == [0]


def test_a_bag_that_describes_no_robot_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "TEXT", "<robot/>")
    with pytest.raises(ReportError, match="the robot's description: it has no links"):
        ToolPath(RecordedEpisode(written(tmp_path / "bag")), PANDA)
