"""Detections of bags in a long-term memory: what they say is believed as far as it can be, the rest is told."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, Vector3
from rclpy.serialization import serialize_message
from scipy.spatial.transform import Rotation

from kc_vla.bags.topics import Qos, RecordedEpisodeInfo, TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.calibration.files import write_hand_eye
from kc_vla.calibration.hand_eye import HandEye
from kc_vla.calibration.reading import load_camera
from kc_vla.cameras.errors import CalibrationError
from kc_vla.cli import main
from kc_vla.memory.intake import MOST_DETECTIONS, Intake, IntakeError, unit_of
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import SceneObject
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.short_term.unit import ObjectState, UnitError
from kc_vla_msgs.msg import ObjectDetection, ObjectDetections

FRAME = "robot_base"
OPTICAL = "cam_optical_frame"
BEGIN_S = 1_790_000_000
OLDER_FIELDS = ("object_id", "object_type", "state", "pose", "size", "confidence")
DOWN = Rotation.from_euler("x", 180, degrees=True).as_matrix()


def detection(x: float = 0.4, kind: str = "mug", **fields: Any) -> ObjectDetection:
    given = {"object_id": f"{kind}-1", "state": "dirty", "size": Vector3(x=0.1, y=0.1, z=0.1), "confidence": 0.9}
    pose = Pose(position=Point(x=x, y=0.1, z=0.2))
    return ObjectDetection(**{"object_type": kind, "pose": pose, **given, **fields})


def seen(*detections: ObjectDetection, at_s: float = 0.0, frame: str = FRAME) -> ObjectDetections:
    message = ObjectDetections(episode_id="e", detections=list(detections))
    message.header.frame_id = frame
    message.header.stamp = Time(sec=BEGIN_S + int(at_s), nanosec=int(at_s % 1 * 1e9))
    return message


def bag(folder: Path, messages: Sequence[tuple[str, Any]]) -> Path:
    kinds = {
        topic: f"{type(message).__module__.split('.')[0]}/msg/{type(message).__name__}" for topic, message in messages
    }
    infos = {topic: TopicInfo(kind, Qos()) for topic, kind in kinds.items()}
    writer = EpisodeBagWriter(folder, infos, RecordedEpisodeInfo("e", "counting", 0, "", "0.1.0", 1))
    for topic, message in messages:
        stamp = message.header.stamp
        at_ns = stamp.sec * 1_000_000_000 + stamp.nanosec
        writer.write(topic, serialize_message(message), at_ns, at_ns)
    writer.close()
    return folder


def objects(store: Path, map_id: str = "home") -> dict[str, SceneObject]:
    with Store(store, read_only=True) as opened:
        return {each.object_type: each for each in LongTermMemory(opened).objects(map_id)}


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., int]:
    def build(messages: Sequence[tuple[str, Any]], *words: object) -> int:
        path = bag(tmp_path / f"bag_{len(list(tmp_path.iterdir()))}", messages)
        return main(["memory", "build", str(tmp_path / "memory.db"), str(path), *map(str, words)])

    return build


@pytest.fixture
def camera_file(tmp_path: Path) -> Callable[..., Path]:
    """A camera that looks straight down from 1 m above (0.5, 0, 0): of the base frame, or of the flange's."""

    def write(in_hand: bool) -> Path:
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = DOWN, (0.5, 0.0, 1.0)
        found = HandEye(pose, np.eye(4), np.array([0.4]), np.array([0.1]))
        write_hand_eye(tmp_path / "place.yaml", "cam", "1", in_hand, found)
        return tmp_path / "place.yaml"

    return write


def test_what_was_seen_often_is_one_object_and_believed_in(tmp_path: Path, build, capsys) -> None:
    assert build([("/detections", seen(detection(), detection(1.4, "table"), at_s=k)) for k in range(5)]) == 0
    found = objects(tmp_path / "memory.db")
    assert set(found) == {"mug", "table"}
    assert found["mug"].position == pytest.approx((0.4, 0.1, 0.2))
    assert found["mug"].sightings == 5
    assert found["mug"].confidence > 0.9
    assert found["mug"].state == "dirty"
    assert (
        "map 'home' has 2 objects; 5 of 5 messages were taken in: 2 objects were new, 0 gone" in capsys.readouterr().out
    )


def test_what_a_simulator_knows_is_taken_only_where_it_is_named(tmp_path: Path, build, capsys) -> None:
    truth = "/detections/truth"
    assert build([("/detections", seen(detection())), (truth, seen(detection(kind="pan")))]) == 0
    assert set(objects(tmp_path / "memory.db")) == {"mug"}
    assert build([(truth, seen(detection(kind="pan")))]) == 1
    assert "what the simulator knows alone: say so with --topic /detections/truth" in capsys.readouterr().err
    assert build([(truth, seen(detection(kind="pan")))], "--topic", truth) == 0
    assert set(objects(tmp_path / "memory.db")) == {"mug", "pan"}


def test_what_else_a_detector_tells_of_an_object_is_kept(tmp_path: Path, build) -> None:
    red = detection(attributes=[KeyValue(key="colour", value="red"), KeyValue(key="of", value="Ada")])
    assert build([("/detections", seen(red))]) == 0
    assert objects(tmp_path / "memory.db")["mug"].attributes == {"colour": "red", "of": "Ada"}


@pytest.mark.parametrize(
    ("attributes", "word"),
    [
        ([KeyValue(key="colour", value="r" * 1_000_000)], "its attribute has 1000000 letters: 200 are the most"),
        ([KeyValue(key="a\x1b[2J", value="red")], "its attribute's name has control characters"),
        ([KeyValue(key=str(k), value="red") for k in range(65)], "it has 65 attributes: 64 are the most"),
    ],
)
def test_attributes_that_cannot_be_cost_that_detection_alone(
    tmp_path: Path, build, capsys, attributes: list[KeyValue], word: str
) -> None:
    assert build([("/detections", seen(detection(kind="pan"), detection(attributes=attributes)))]) == 0
    assert set(objects(tmp_path / "memory.db")) == {"pan"}
    assert f"1 messages or detections were left out: 1 as {word}" in capsys.readouterr().out


def test_a_message_of_before_detections_had_attributes_is_taken() -> None:
    decoded = SimpleNamespace(
        header=seen().header,
        episode_id="e",
        detections=[
            SimpleNamespace(**{name: getattr(detection(), name) for name in OLDER_FIELDS})  # as a bag's reader gives it
        ],
    )
    (found,) = Intake(FRAME).take(decoded).detections
    assert (found.object_type, found.attributes) == ("mug", {})


def test_what_a_camera_sees_is_no_map(tmp_path: Path, build, capsys) -> None:
    assert build([("/detections", seen(detection(), frame=OPTICAL))]) == 1
    told = capsys.readouterr().err
    assert f"'{OPTICAL}', as a camera sees them" in told
    assert "--camera" in told
    assert build([("/detections", seen(detection(), frame=OPTICAL))], "--frame", OPTICAL) == 0


def test_a_lens_without_a_place_is_told(tmp_path: Path, build, capsys) -> None:
    assert build([("/detections", seen(detection()))], "--lens", "nowhere.yaml") == 1
    assert "name the file of its place, too, with --camera" in capsys.readouterr().err


@pytest.mark.parametrize("period", ["nan", "-1", "soon", "inf"])
def test_a_period_that_can_be_none_is_refused(build, period: str) -> None:
    with pytest.raises(SystemExit) as ended:
        build([("/detections", seen(detection()))], f"--period={period}")
    assert ended.value.code == 2


def test_what_was_mended_is_told(tmp_path: Path, build, capsys) -> None:
    assert build([("/detections", seen(detection()))]) == 0
    with sqlite3.connect(tmp_path / "memory.db") as file:
        file.execute("UPDATE node SET fields = '{}'")
    file.close()
    capsys.readouterr()
    assert build([("/detections", seen(detection(kind="pan"), at_s=9))]) == 0
    assert "damaged" in capsys.readouterr().out


def test_more_bags_add_to_a_store(tmp_path: Path, build) -> None:
    assert build([("/detections", seen(detection()))]) == 0
    assert build([("/detections", seen(detection(), detection(1.0, "pan"), at_s=9))]) == 0
    assert objects(tmp_path / "memory.db")["mug"].sightings == 2
    assert set(objects(tmp_path / "memory.db")) == {"mug", "pan"}


def test_looks_that_follow_too_soon_are_passed_over(tmp_path: Path, build) -> None:
    assert build([("/detections", seen(detection(), at_s=k / 10)) for k in range(20)], "--period", "1") == 0
    assert objects(tmp_path / "memory.db")["mug"].sightings == 2


def test_a_camera_beside_the_arm_places_what_it_sees(tmp_path: Path, build, camera_file) -> None:
    assert build([("/detections", seen(detection(0.1), frame=OPTICAL))], "--camera", camera_file(False)) == 0
    # 0.1 right of the lens's axis, 0.1 below it in the picture, 0.2 in front of it
    assert objects(tmp_path / "memory.db")["mug"].position == pytest.approx((0.6, -0.1, 0.8), abs=1e-6)


def test_a_camera_on_the_flange_follows_it(tmp_path: Path, build, camera_file) -> None:
    flange = PoseStamped(pose=Pose(position=Point(x=1.0, y=2.0, z=3.0)))
    flange.header.stamp = seen().header.stamp
    said = [("/tool_pose", flange), ("/detections", seen(detection(0.1), frame=OPTICAL))]
    assert build(said, "--camera", camera_file(True)) == 0
    assert objects(tmp_path / "memory.db")["mug"].position == pytest.approx((1.6, 1.9, 3.8), abs=1e-6)


def test_what_cannot_be_is_left_out_and_told(tmp_path: Path, build, capsys) -> None:
    bad = detection(kind="pan", pose=Pose(position=Point(x=float("nan"))))
    assert (
        build([("/detections", seen(detection(), bad)), ("/detections", seen(detection(), at_s=2, frame="moon"))]) == 0
    )
    assert set(objects(tmp_path / "memory.db")) == {"mug"}
    said = capsys.readouterr().out
    assert "2 messages or detections were left out: 1 as its pose or size is not finite" in said
    assert "1 as detections in the frame 'moon'" in said


@pytest.mark.parametrize(
    ("messages", "words", "line"),
    [
        ([("/tool_pose", PoseStamped())], (), "has no detections: record a topic of kc_vla_msgs/msg/ObjectDetections"),
        ([("/a", seen(detection())), ("/b", seen(detection()))], (), "detections on /a, /b: choose one with --topic"),
        ([("/a", seen(detection()))], ("--topic", "b"), "has no detections on b"),
        ([("/a", seen(detection()))], ("--camera", "/nowhere.yaml"), "cannot read the calibration /nowhere.yaml"),
        ([("/a", seen(detection(), frame="moon"))], ("--frame", "map"), "nothing was taken in"),
    ],
)
def test_what_cannot_be_built_is_one_line(build, capsys, messages, words, line) -> None:
    assert build(messages, *words) == 1
    told = capsys.readouterr().err
    assert line in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"object_type": "m" * 1_000_000}, "its object_type has 1000000 letters: 200 are the most"),
        ({"object_type": "mug\x1b[2J"}, "its object_type has control characters"),
        ({"object_id": "a\nb"}, "its object_id has control characters"),
        ({"object_type": ""}, "an object has no type"),
        ({"pose": Pose(position=Point(x=float("inf")))}, "is not finite"),
        ({"pose": Pose(orientation=Quaternion(w=0.0))}, "is no unit quaternion"),
        ({"size": Vector3(x=-1.0)}, "size is"),
        ({"confidence": float("nan")}, "confidence is nan"),
    ],
)
def test_a_hostile_detection_is_left_out_with_one_short_line(wrong, line) -> None:
    taken = Intake(FRAME).take(seen(detection(), detection(**wrong)))
    assert [each.object_type for each in taken.detections] == ["mug"]
    (told,) = taken.refused
    assert line in told
    assert told.isprintable()
    assert len(told) < 300


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (seen(detection(), frame=""), "without a frame_id"),
        (seen(detection(), frame="moon\x1b" * 1000), "detections in the frame"),
        (ObjectDetections(detections=[detection()]), "without a stamp"),
        (seen(*[detection()] * (MOST_DETECTIONS + 1)), "1000 are the most"),
    ],
    ids=["no frame", "a wrong frame", "no stamp", "too many"],
)
def test_a_message_that_cannot_be_placed_is_refused(message, line) -> None:
    with pytest.raises(IntakeError, match=line) as refused:
        Intake(FRAME).take(message)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 300


def test_a_detection_is_a_unit_and_a_state_that_the_paper_has_not_is_not_lost() -> None:
    known, odd = Intake(FRAME).take(seen(detection(), detection(1.0, "pan", state="held"))).detections
    assert unit_of(known, FRAME, 17_000_000_000).state is ObjectState.DIRTY
    assert unit_of(known, FRAME, 17_000_000_000).stamp == 17.0
    assert unit_of(odd, FRAME, 17_000_000_000).attributes == {"state": "held"}
    nameless = Intake(FRAME).take(seen(detection(object_id=""))).detections[0]
    with pytest.raises(UnitError, match="without object_id"):
        unit_of(nameless, FRAME, 17_000_000_000)


@pytest.mark.parametrize(("was", "now"), [("eye_in_hand", "eye_of_newt"), ("qw", "qq"), ("x: 0.5", "x: .nan")])
def test_a_file_that_places_no_camera_is_refused(camera_file, was: str, now: str) -> None:
    path = camera_file(True)
    path.write_text(path.read_text().replace(was, now))
    with pytest.raises(CalibrationError, match=r"place\.yaml"):
        load_camera(path)
