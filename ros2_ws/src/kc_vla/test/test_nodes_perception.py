"""The node of perception beside an external detector: what it publishes, and what it says of what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box_scene import on_table
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from node_process import running
from plugin import install
from scipy.spatial.transform import Rotation
from seen_desk import BOXES, PIPER, PLACES, POSES, Desk
from vision_msgs.msg import Detection2DArray

from kc_vla.calibration.files import write_hand_eye
from kc_vla.calibration.hand_eye import HandEye
from kc_vla.core import topics
from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.media.images import file_pixels
from kc_vla.ros import qos
from kc_vla.ros.base import CANNOT_START
from kc_vla.ros.convert import pose_message
from kc_vla_msgs.msg import MemoryUnit, ObjectDetection, ObjectDetections, SceneObject
from kc_vla_msgs.srv import MemoryStatistics, QueryScene

PERCEPTION = "kc_vla.nodes.perception"
MUG = on_table("mug", 0.3, 0.05, (0.08, 0.08, 0.1))
BOWL = on_table("bowl", 0.38, -0.12, (0.14, 0.14, 0.07))
FORK = on_table("fork", 0.2, 0.15, (0.05, 0.12, 0.02))
OPTIONS = f"'{{boxes: [{BOXES}], poses: [{POSES}]}}'"  # a text for ROS, too
GIVEN: dict[str, Any] = {
    "robot": "piper",
    "detector": "vision_msgs",
    "options": OPTIONS,
    "diagnostics_period": 0.1,
    "rate": 50.0,
}


def off(each: ObjectDetection, position: tuple[float, ...]) -> float:
    place = each.pose.position
    return math.dist((place.x, place.y, place.z), position)


def found(heard: list[ObjectDetections]) -> dict[str, ObjectDetection]:
    """The objects of the newest message, by their type."""
    return {each.object_type: each for each in heard[-1].detections} if heard else {}


def mugs(heard: list[ObjectDetections]) -> list[ObjectDetection]:
    return [each for message in heard for each in message.detections if each.object_type == "mug"]


def shown(heard: list[ObjectDetections], depth: bool) -> list[bool]:
    """For each region that was published, whether depth was seen in it as it should be."""
    return [bool(region.depth_width) == depth for message in heard for region in message.regions]


@pytest.mark.parametrize(
    ("depth", "unit", "poses", "near_m"),
    [("16UC1", 1e-3, False, 0.03), ("32FC1", 1.0, False, 0.03), ("", 1.0, False, 0.06), ("", 1.0, True, 0.01)],
)
def test_a_detector_of_boxes_or_poses_becomes_objects_with_a_place(
    tmp_path: Path, depth: str, unit: float, poses: bool, near_m: float
) -> None:
    desk = Desk([MUG, BOWL], depth=depth, unit=unit)
    with running(PERCEPTION, tmp_path / "log", **GIVEN), desk:
        heard: list[ObjectDetections] = desk.hear(ObjectDetections, topics.DETECTIONS, qos.STATE)
        # The first images may come before the first of depth: whoever finds the one topic later has no depth of them.
        for done in (
            lambda: set(found(heard)) == {"mug", "bowl"},
            lambda: any(shown(heard, bool(depth))) and len(mugs(heard)) > 3,
        ):
            desk.until(lambda done=done: desk.see(boxes=not poses, poses=poses) or done())
        seen = found(heard)
        assert off(seen["mug"], MUG.position) < near_m
        assert off(seen["bowl"], BOWL.position) < near_m
        assert heard[-1].header.frame_id == PIPER.base_frame
        assert seen["mug"].object_id
        crops = [file_pixels(bytes(each.image)) for each in mugs(heard) if len(each.image)]
        assert 1 <= len(crops) < len(mugs(heard))
        red, green, blue = crops[0].mean(axis=(0, 1))
        assert red > 1.2 * max(green, blue)
        assert all((each.width, each.height) == (160, 120) for message in heard for each in message.regions)
        assert depth or not any(shown(heard, True))
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_node_that_was_started_again_does_not_reuse_the_ids_of_objects(tmp_path: Path) -> None:
    """The long-term memory takes the same id for the same object, and outlives this node."""

    def id_of_mug() -> str:
        with running(PERCEPTION, tmp_path / "log", **GIVEN), Desk([MUG]) as desk:
            heard: list[ObjectDetections] = desk.hear(ObjectDetections, topics.DETECTIONS, qos.STATE)
            desk.until(lambda: desk.see() or mugs(heard))
            return str(mugs(heard)[-1].object_id)

    one, other = id_of_mug(), id_of_mug()
    assert one != other
    assert all(each.startswith("mug_1-") for each in (one, other))


def test_a_hand_eye_file_and_the_flange_say_where_a_camera_is_before_tf(tmp_path: Path) -> None:
    in_flange = pose_matrix((0.02, -0.05, 0.04), (0.0, 0.0, 0.7071068, 0.7071068))
    file = tmp_path / "wrist.yaml"
    found_pose = HandEye(in_flange, np.eye(4), np.array([0.4]), np.array([0.1]))
    write_hand_eye(file, "wrist", "1", True, found_pose, PIPER.cameras["wrist"])
    flange = PLACES["wrist"] @ np.linalg.inv(in_flange)
    turn = Rotation.from_matrix(flange[:3, :3]).as_quat()
    with running(PERCEPTION, tmp_path / "log", **GIVEN, hand_eye=file), Desk([MUG]) as desk:
        heard: list[ObjectDetections] = desk.hear(ObjectDetections, topics.DETECTIONS, qos.STATE)
        tool = desk.node.create_publisher(PoseStamped, topics.TOOL_POSE, qos.STATE)
        desk.places["wrist"] = PLACES["third_person"]  # a lie
        desk.place_cameras()

        def see() -> None:
            desk.see(views=["wrist"])
            message = PoseStamped(pose=pose_message([*flange[:3, 3], *turn]))
            message.header.stamp, message.header.frame_id = desk.now(), PIPER.base_frame
            tool.publish(message)

        desk.until(lambda: see() or mugs(heard))
        assert off(mugs(heard)[-1], MUG.position) < 0.03


def test_whatever_is_wrong_is_one_line_and_spoils_nothing(tmp_path: Path) -> None:
    desk, log = Desk([MUG, BOWL]), tmp_path / "log"
    with running(PERCEPTION, log, **GIVEN, stale_after=0.5) as process, desk:
        heard: list[ObjectDetections] = desk.hear(ObjectDetections, topics.DETECTIONS, qos.STATE)
        health: list[DiagnosticArray] = desk.hear(DiagnosticArray, topics.DIAGNOSTICS, 10)

        def see_until(done: Callable[[], Any], **seen: Any) -> None:
            desk.until(lambda: desk.see(**seen) or done())

        def says(words: str, **seen: Any) -> None:
            see_until(lambda: words in log.read_text(), **seen)

        def recovers() -> None:
            heard.clear()
            see_until(lambda: len(heard) > 5 and set(found(heard)) == {"mug", "bowl"})
            assert off(found(heard)["mug"], desk.things[0].position) < 0.03

        recovers()
        desk.shrink = True
        says("depth of third_person has 80x60 px and its image 160x120")
        desk.shrink, desk.depth = False, "32FC1"
        says("it seems to be in millimeters")
        desk.depth, desk.lens_width = "16UC1", 640
        says("camera_info of third_person is of 640x120 px, its images have 160x120")
        desk.lens_width = 160
        recovers()
        desk.late_s = 20
        says("a message on third_person/image_raw is left out: its stamp lies 20 s behind this node's clock")
        desk.late_s = 0
        recovers()
        desk.frame = "camera_color_optical_frame"
        says("are in the frame 'camera_color_optical_frame' and images in third_person_optical_frame and wrist_optical")
        desk.frame = ""
        says("are in the frame '' and images in")
        desk.frame = None
        recovers()
        says("1000 detections in a message on yolo/detections: the 100 best count", copies=500)
        recovers()

        desk.things = [MUG.at(0.3, 0.05, -0.4), BOWL]
        heard.clear()
        see_until(lambda: len(heard) > 20, boxes=False, poses=True)
        assert not [each for each in mugs(heard) if each.pose.position.z < -0.1]
        desk.things = [MUG, BOWL]
        recovers()

        see_until(lambda: health and health[-1].status[0].message == "ok")
        moved = desk.places["third_person"].copy()
        moved[:3, 3] += (0.0, 0.3, 0.0)
        desk.places["third_person"] = moved
        desk.place_cameras()
        says("the fixed camera third_person has moved by 300 mm")
        desk.stop_detector()
        desk.until(lambda: "nobody publishes on yolo/detections or yolo/detections_3d" in log.read_text())
        assert process.poll() is None
    said = log.read_text()
    assert "Traceback" not in said
    assert all(len(line) < 400 for line in said.splitlines())
    for words in ("80x60 px", "in millimeters", "640x120 px", "1000 detections", "moved by 300 mm"):
        assert said.count(words) <= 4, words  # of each camera the first line, and a second one that counts the others


def test_the_memories_are_filled_by_cameras_and_a_foreign_detector(tmp_path: Path) -> None:
    store, desk = tmp_path / "memory.db", Desk([MUG, BOWL])
    common = {"robot": "piper", "diagnostics_period": 0.1}
    with (
        running(PERCEPTION, tmp_path / "log", **GIVEN),
        running("kc_vla.nodes.long_term_memory", tmp_path / "long", store=store, period=0.05, **common),
        running("kc_vla.nodes.short_term_memory", tmp_path / "short", **common),
        desk,
    ):

        def objects() -> dict[str, SceneObject]:
            answer = desk.call(QueryScene, topics.QUERY_SCENE, QueryScene.Request())
            return {each.object_type: each for each in answer.objects}

        def units() -> dict[str, MemoryUnit]:
            answer = desk.call(MemoryStatistics, topics.MEMORY_STATISTICS, MemoryStatistics.Request())
            return {each.object_type: each for each in answer.held.units}

        def see_a_while() -> None:
            for _ in range(10):
                desk.see()
                desk.rest(0.02)

        desk.until(lambda: see_a_while() or set(objects()) == {"mug", "bowl"} == set(units()))
        for kind, thing in (("mug", MUG), ("bowl", BOWL)):
            place = objects()[kind].position
            assert math.dist((place.x, place.y, place.z), thing.position) < 0.03
            place = units()[kind].position
            assert math.dist((place.x, place.y, place.z), thing.position) < 0.03
        assert units()["mug"].header.frame_id == PIPER.base_frame

        def is_off(kind: str, position: tuple[float, ...]) -> float:
            place = objects()[kind].position
            return math.dist((place.x, place.y, place.z), position)

        desk.lies = [FORK]
        desk.until(lambda: see_a_while() or "fork" in objects())
        desk.lies, desk.things = [], [MUG.at(0.25, -0.05)]  # the bowl is taken away, the mug moved
        desk.until(lambda: see_a_while() or set(objects()) == {"mug"})
        desk.until(lambda: see_a_while() or is_off("mug", desk.things[0].position) < 0.03)
        assert set(objects()) == {"mug"}


PLUG = """
import time
from dataclasses import dataclass
from kc_vla.core.options import NoOptions
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.detectors import DetectorKind
from kc_vla.perception.image_detection import ImageDetection

opened = looked = 0

class Moody:
    def __init__(self, options):
        global opened
        opened += 1

    def detect(self, frame):
        global looked
        looked += 1
        if looked == 3:
            raise RuntimeError("no memory left")
        if looked == 6:
            time.sleep(1000.0)
        return [ImageDetection("mug", PixelBox(60.0, 40.0, 90.0, 80.0), 0.9, "opened" if opened > 2 else "")]

    def close(self):
        pass

MOODY = DetectorKind("fails, then hangs, then works", NoOptions, Moody)
"""


def test_a_detector_that_fails_and_one_that_hangs_are_opened_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    install(package, monkeypatch, "kc_vla.detectors", {"moody": "moody_detector:MOODY"})
    (package / "moody_detector.py").write_text(PLUG)
    log = tmp_path / "log"
    given = {"robot": "piper", "detector": "moody", "diagnostics_period": 0.1, "answer_timeout": 1.0, "rate": 50.0}
    with running(PERCEPTION, log, **given) as process, Desk([MUG]) as desk:
        heard: list[ObjectDetections] = desk.hear(ObjectDetections, topics.DETECTIONS, qos.STATE)
        health: list[DiagnosticArray] = desk.hear(DiagnosticArray, topics.DIAGNOSTICS, 10)
        boxes: list[Detection2DArray] = desk.hear(Detection2DArray, topics.boxes_topic("wrist"), qos.IMAGE)
        desk.until(
            lambda: desk.see() or any(each.state == "opened" for message in heard for each in message.detections)
        )
        values = {each.key: each.value for each in health[-1].status[0].values}
        assert float(values["images_a_second"]) > 0.0
        assert float(values["latency/image_to_detection/p50_ms"]) > 0.0
        (box,) = desk.until(lambda: desk.see() or (boxes and boxes[-1].detections))
        assert (box.id[:6], box.results[0].hypothesis.class_id, box.bbox.size_x) == ("mug_1-", "mug", 30.0)
        assert process.poll() is None
    said = log.read_text()
    assert "detector 'moody' failed: RuntimeError: no memory left: it is opened anew in 1 s" in said
    assert "detector 'moody' has not answered for 1 s: it is opened anew" in said
    assert "Traceback" not in said


def test_truth_is_passed_on_as_it_is(tmp_path: Path) -> None:
    with running(PERCEPTION, tmp_path / "log", robot="piper", detector="truth") as process, Desk() as desk:
        heard: list[ObjectDetections] = desk.hear(ObjectDetections, topics.DETECTIONS, qos.STATE)
        publisher = desk.node.create_publisher(ObjectDetections, topics.DETECTIONS_TRUTH, qos.STATE)
        message = ObjectDetections(episode_id="e", detections=[ObjectDetection(object_id="cube", object_type="cube")])
        message.header.stamp = desk.now()
        desk.until(lambda: publisher.publish(message) or heard)
        assert heard[0] == message
        assert process.poll() is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"detector": "yolo"}, "no object detector 'yolo'"),
        ({"detector": "vlm"}, "option 'vision_model' is missing"),
        ({"options": "'{boxs: [/x]}'"}, "there is no option 'boxs': did you mean 'boxes'?"),
        ({"hand_eye": "nowhere.yaml"}, "nowhere.yaml"),
        ({"sizes": "'{mug: 3}'"}, "gives 'mug' the size 3: give three lengths, m"),
    ],
)
def test_what_it_cannot_start_with_is_one_line(tmp_path: Path, given: dict[str, str], words: str) -> None:
    log = tmp_path / "log"
    with running(PERCEPTION, log, robot="piper", **given) as process:
        assert process.wait(60) == CANNOT_START
    said = log.read_text()
    assert words in said
    assert "Traceback" not in said
