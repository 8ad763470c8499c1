"""Messages of external detectors as detections, filled in the different ways in which public packages fill them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vision_msgs.msg import (
    Detection2D,
    Detection2DArray,
    Detection3D,
    Detection3DArray,
    LabelInfo,
    ObjectHypothesisWithPose,
    VisionClass,
)

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detectors import (
    DETECTORS,
    DetectorError,
    DetectorReport,
    open_detector,
    open_listener,
    reported_types,
)
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.image_fit import fit_of
from kc_vla.perception.vision_msgs_detector import VisionMsgsDetector

BOXES, POSES = "detections_2d", "detections_3d"
MATRIX = np.array([[600.0, 0.0, 320.0], [0.0, 600.0, 240.0], [0.0, 0.0, 1.0]])
AHEAD = np.array([[1.0, 0, 0, 0.4], [0, -1.0, 0, 0.0], [0, 0, -1.0, 0.8], [0, 0, 0, 1.0]])
FRAME = CameraFrame("third_person", 1_000_000_000, np.zeros((480, 640, 3), np.uint8), MATRIX, AHEAD)


def result(class_id: str, score: float) -> ObjectHypothesisWithPose:
    made = ObjectHypothesisWithPose()
    made.hypothesis.class_id, made.hypothesis.score = class_id, score
    return made


def box(*results: ObjectHypothesisWithPose, at: tuple[float, ...] = (320, 240, 40, 60), **other: Any) -> Detection2D:
    made = Detection2D(results=list(results), **other)
    made.bbox.center.position.x, made.bbox.center.position.y = map(float, at[:2])
    made.bbox.size_x, made.bbox.size_y = map(float, at[2:])
    return made


def boxes(*made: Detection2D, frame: str = "third_person_optical_frame", stamped: bool = True) -> Detection2DArray:
    message = Detection2DArray(detections=list(made))
    message.header.frame_id, message.header.stamp.sec = frame, int(stamped)
    return message


def detector(**options: Any) -> VisionMsgsDetector:
    found = open_listener("vision_msgs", options)
    assert isinstance(found, VisionMsgsDetector)
    return found


def heard(message: Any, topic: str = BOXES, **options: Any) -> DetectorReport:
    report = detector(**options).hear(topic, message)
    assert report is not None
    return report


def found(message: Any, topic: str = BOXES, where: Any = None, **options: Any) -> list[ImageDetection]:
    return list(heard(message, topic, **options).in_image(FRAME, where))


def test_a_class_is_named_and_the_best_result_counts_in_whatever_order() -> None:
    (seen,) = found(boxes(box(result("bowl", 0.2), result(" Mug ", 0.9), result("cup", 0.5))))
    assert (seen.object_type, seen.confidence, seen.box) == ("mug", 0.9, PixelBox(300.0, 210.0, 340.0, 270.0))
    assert (seen.object_id, seen.position) == ("", None)


def test_numbered_classes_have_names_from_options_files_or_the_detector(tmp_path: Path) -> None:
    numbered = boxes(box(result("1", 0.9)))
    listed = tmp_path / "names.txt"
    listed.write_text("person\nMug\n")
    data = tmp_path / "data.yaml"
    data.write_text("path: coco\nnames: {0: person, 1: mug}\n")
    for given_names in ({"names": ["person", "mug"]}, {"names_file": str(listed)}, {"names_file": str(data)}):
        assert [each.object_type for each in found(numbered, **given_names)] == ["mug"]
    listening = detector(labels="yolo/labels")
    assert listening.hear("yolo/labels", LabelInfo(class_map=[VisionClass(class_id=1, class_name="mug")])) is None
    report = listening.hear(BOXES, numbered)
    assert report is not None
    assert (report.remark, [each.object_type for each in report.in_image(FRAME, None)]) == ("", ["mug"])


def test_a_number_without_a_name_is_kept_and_said() -> None:
    report = heard(boxes(box(result("39", 0.9))))
    assert "number their classes, and 39 has no name: set the option 'names'" in report.remark
    assert [each.object_type for each in report.in_image(FRAME, None)] == ["class 39"]


def test_what_is_not_wanted_is_left_out() -> None:
    message = boxes(
        box(result("person", 0.9)),
        box(result("mug", 0.1)),
        box(result("mug", math.nan)),
        box(result("", 0.9)),
        box(),
        box(result("bowl", 0.8)),
        box(result("fork", 0.7)),
    )
    assert [each.object_type for each in found(message, ignored=["person"])] == ["bowl", "fork"]
    assert [each.object_type for each in found(message, only=["fork"], least_score=0.5)] == ["fork"]


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ((0, 0, 40, 60), PixelBox(0.0, 0.0, 20.0, 30.0)),
        ((640, 480, 4000, 4000), PixelBox(0.0, 0.0, 640.0, 480.0)),
        ((-100, 10, 20, 20), None),
        ((100, 100, 0, 10), None),
        ((100, 100, math.inf, 10), None),
        ((math.nan, 100, 10, 10), None),
    ],
)
def test_a_box_is_cut_to_the_image_and_one_that_cannot_be_is_left_out(at: Any, expected: PixelBox | None) -> None:
    assert [each.box for each in found(boxes(box(result("mug", 0.9), at=at)))] == ([expected] if expected else [])


def test_a_turned_box_becomes_an_upright_one_around_it() -> None:
    turned = box(result("mug", 0.9), at=(320, 240, 100, 20))
    turned.bbox.center.theta = math.pi / 2
    (seen,) = found(boxes(turned))
    np.testing.assert_allclose(seen.box, (310.0, 190.0, 330.0, 290.0), atol=1e-9)


@given(
    width=st.floats(64, 1920),
    height=st.floats(64, 1080),
    fit=st.sampled_from(("stretched", "letterboxed", "padded")),
    x=st.floats(0.1, 0.9),
    y=st.floats(0.1, 0.9),
)
def test_boxes_of_a_resized_image_come_back_to_the_pixels_of_the_camera(
    width: float, height: float, fit: str, x: float, y: float
) -> None:
    """A point of the camera's image, brought into the detector's input as its package does it, comes back."""
    scale = min(width / 640, height / 480)
    bars = ((width - scale * 640) / 2, (height - scale * 480) / 2) if fit == "letterboxed" else (0.0, 0.0)
    across, down = (width / 640, height / 480) if fit == "stretched" else (scale, scale)
    inside = x * 640 * across + bars[0], y * 480 * down + bars[1]
    back = fit_of((width, height), fit, (640, 480)).box(*inside, 10 * across, 20 * down)
    wanted = (x * 640 - 5, y * 480 - 10, x * 640 + 5, y * 480 + 10)
    np.testing.assert_allclose(back, wanted, atol=1e-6)


def test_a_flood_is_cut_to_the_best() -> None:
    flood = boxes(*(box(result("mug", 0.3 + 0.0005 * number)) for number in range(1000)))
    report = heard(flood)
    assert report.remark == "1000 detections in a message on detections_2d: the 100 best count"
    seen = report.in_image(FRAME, None)
    assert len(seen) == 100
    assert min(each.confidence for each in seen) == pytest.approx(0.3 + 0.0005 * 900)


def test_ids_of_a_tracker_are_trusted_only_if_that_is_said() -> None:
    message = boxes(box(result("mug", 0.9), id="7"))
    assert [each.object_id for each in found(message)] == [""]
    assert [each.object_id for each in found(message, track_ids=True)] == ["third_person/7"]


def posed(*results: ObjectHypothesisWithPose, at: tuple[float, ...], size: tuple[float, ...] = ()) -> Detection3D:
    made = Detection3D(results=list(results))
    if size:
        place = made.bbox.center.position
        made.bbox.size.x, made.bbox.size.y, made.bbox.size.z = size
    else:
        place = made.results[0].pose.pose.position
    place.x, place.y, place.z = at
    return made


def test_poses_come_in_any_frame_and_in_the_box_or_in_the_result() -> None:
    message = Detection3DArray(
        detections=[
            posed(result("mug", 0.9), at=(0.4, 0.1, 0.05), size=(0.08, 0.08, 0.1)),
            posed(result("bowl", 0.8), at=(0.4, -0.1, 0.05)),
            posed(result("far", 0.7), at=(9.0, 9.0, 0.0)),
            posed(result("lost", 0.7), at=(math.nan, 0.0, 0.0)),
        ]
    )
    message.header.frame_id, message.header.stamp.sec = "robot_base", 1
    report = heard(message, POSES)
    assert (report.posed, report.frame_id) == (True, "robot_base")
    mug, bowl = report.in_image(FRAME, np.eye(4))
    np.testing.assert_allclose(mug.position, (0.0, -0.1, 0.75), atol=1e-9)
    np.testing.assert_allclose(mug.size, (0.08, 0.08, 0.1), atol=1e-9)
    assert mug.box.left < 320.0 < mug.box.right
    assert mug.box.bottom < 240.0
    np.testing.assert_allclose(bowl.position, (0.0, 0.1, 0.75), atol=1e-9)
    assert bowl.size is None
    message.header.frame_id = "third_person_optical_frame"
    message.detections = [posed(result("mug", 0.9), at=(0.1, 0.05, 0.6), size=(0.08, 0.1, 0.06))]
    (mug,) = heard(message, POSES).in_image(FRAME, FRAME.pose)
    np.testing.assert_allclose(mug.position, (0.1, 0.05, 0.6), atol=1e-9)
    np.testing.assert_allclose(mug.size, (0.08, 0.1, 0.06), atol=1e-9)


def test_what_cannot_be_used_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(DetectorError, match="have no stamp"):
        detector().hear(BOXES, boxes(stamped=False))
    assert "have no frame_id" in heard(boxes(frame="")).remark
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    for options, words in (
        ({"names_file": str(tmp_path / "none.txt")}, "cannot be read"),
        ({"names_file": str(empty)}, "has no names"),
        ({"boxes": ["d"], "poses": ["d"]}, "name a topic twice"),
        ({"boxes": [], "poses": []}, "are both empty"),
        ({"input_size": [640.0]}, "must be two numbers"),
        ({"fit": "cropped"}, "allowed is one of stretched"),
    ):
        with pytest.raises(DetectorError, match=words):
            open_listener("vision_msgs", options)
    with pytest.raises(DetectorError, match="listens to vision_msgs/msg/Detection2DArray: run it in the node"):
        open_detector("vision_msgs")
    assert {"vision_msgs", "vlm", "truth"} <= set(DETECTORS.names())


@pytest.mark.parametrize(
    ("options", "types"),
    [
        ({}, ()),
        ({"names": ["mug", "fork", "person"], "ignored": ["person"]}, ("mug", "fork")),
        ({"names": ["mug", "fork"], "only": ["fork"]}, ("fork",)),
        ({"names": ["mug"], "labels": "/labels"}, ()),  # the detector names more of them
    ],
)
def test_which_types_can_be_reported_follows_from_the_options(options: dict[str, Any], types: tuple[str, ...]) -> None:
    assert reported_types("vision_msgs", options) == types
