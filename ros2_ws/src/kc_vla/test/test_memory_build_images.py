"""Camera images of bags in a long-term memory: bags of this stack and of others, and what is wrong with them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from box_scene import on_table
from recorded_desk import BOXES, RecordedDesk, own_topics, realsense_topics
from seen_desk import PLACES

from kc_vla.bags.reader import BagReader
from kc_vla.calibration.files import write_hand_eye
from kc_vla.calibration.hand_eye import HandEye
from kc_vla.cli import main
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import SceneObject
from kc_vla.memory.long_term.store import Store
from kc_vla.perception.recorded.camera_topics import WantedTopics
from kc_vla.perception.recorded.looks import LookSettings, RecordedLooks
from kc_vla.perception.recorded.progress import ENDING, BuildProgress

MUG = on_table("mug", 0.3, 0.05, (0.08, 0.08, 0.1))
BOWL = on_table("bowl", 0.38, -0.12, (0.14, 0.14, 0.07))
OPTIONS = f"{{boxes: [{BOXES}]}}"
OPTICAL = "camera_color_optical_frame"
Build = Callable[..., int]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    def build(desk: RecordedDesk, *words: object, detector: str = "vision_msgs") -> int:
        bag = desk.write(tmp_path / f"bag_{len(list(tmp_path.iterdir()))}")
        return main(
            ["memory", "build", str(tmp_path / "memory.db"), str(bag), "--detector", detector, *map(str, words)]
        )

    return build


def objects(store: Path) -> dict[str, SceneObject]:
    with Store(store, read_only=True) as opened:
        return {each.object_type: each for each in LongTermMemory(opened).objects("home")}


def seen(count: int = 6) -> list[list]:
    return [[MUG, BOWL]] * count


@pytest.mark.parametrize(
    ("depth", "jpeg", "name"),
    [
        ("16UC1", False, own_topics),
        ("32FC1", True, own_topics),
        ("16UC1 compressedDepth", True, realsense_topics),
        ("32FC1 compressedDepth", True, realsense_topics),
        ("16UC1 compressed", True, realsense_topics),
    ],
)
def test_images_of_a_bag_with_depth_become_objects_that_can_be_asked_for(
    tmp_path: Path, build: Build, capsys: pytest.CaptureFixture[str], depth: str, jpeg: bool, name: Callable
) -> None:
    assert build(RecordedDesk(seen(), depth, jpeg, name), "--detector-options", OPTIONS) == 0
    found = objects(tmp_path / "memory.db")
    assert set(found) == {"mug", "bowl"}
    for each in (MUG, BOWL):
        assert math.dist(found[each.kind].position, each.position) < 0.03
    said = capsys.readouterr().out
    assert "without it" not in said
    assert "2 objects were new, 0 gone" in said
    assert "positions are in 'robot_base'" in said
    assert main(["memory", "ask", str(tmp_path / "memory.db"), "where is the mug?"]) == 0
    assert "mug" in capsys.readouterr().out


def test_what_was_taken_away_is_gone_and_what_was_moved_is_at_its_new_place(tmp_path: Path, build: Build) -> None:
    moved = MUG.at(0.22, -0.05)
    assert build(RecordedDesk([*seen(8), *[[moved]] * 12])) == 0
    found = objects(tmp_path / "memory.db")
    assert set(found) == {"mug"}
    assert math.dist(found["mug"].position, moved.position) < 0.03


def test_without_depth_a_place_is_estimated_and_says_so(tmp_path: Path, build: Build) -> None:
    assert build(RecordedDesk(seen(), depth="")) == 0
    mug = objects(tmp_path / "memory.db")["mug"]
    assert math.dist(mug.position, MUG.position) < 0.06
    assert mug.attributes["position"]


@pytest.mark.parametrize(
    ("desk", "words", "line"),
    [
        (
            RecordedDesk(seen(), without=["info"]),
            (),
            "no camera_info of /third_person/image_raw, or one of zeros: name",
        ),
        (RecordedDesk(seen(), without=["tf"]), (), "has no transform of 'third_person_optical_frame'"),
        (RecordedDesk(seen(), base="shelf"), (), "in the frames third_person_optical_frame, shelf, and none of them"),
        (
            RecordedDesk(seen(), boxes=False),
            (),
            "has no vision_msgs/msg/Detection2DArray or vision_msgs/",
        ),
        (RecordedDesk(seen()), ("--images", "/front/image"), "has no messages on /front/image: of this type there are"),
        (RecordedDesk(seen()), ("--info", BOXES), "has vision_msgs/msg/Detection2DArray on /yolo/detections, not"),
        (
            RecordedDesk(seen()),
            ("--images", "/third_person/depth/image"),
            "no color images on /third_person/depth/image",
        ),
        (RecordedDesk(seen()), ("--detector-options", "{boxs: [/x]}"), "there is no option 'boxs'"),
    ],
)
def test_what_cannot_be_looked_at_is_a_line(
    build: Build, capsys: pytest.CaptureFixture[str], desk: RecordedDesk, words: tuple[str, ...], line: str
) -> None:
    assert build(desk, *words) == 1
    told = capsys.readouterr()
    assert line in told.out + told.err
    assert "Traceback" not in told.err
    assert len(told.err.splitlines()) == 1


def test_a_detector_that_nobody_knows_is_a_line(build: Build, capsys: pytest.CaptureFixture[str]) -> None:
    assert build(RecordedDesk(seen(2)), detector="yolo") == 1
    assert "no object detector 'yolo'" in capsys.readouterr().err


def test_depth_that_is_not_aligned_is_named_and_not_used(
    tmp_path: Path, build: Build, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = RecordedDesk(seen(), name=realsense_topics, depth_frame="camera_depth_optical_frame")
    assert build(desk) == 0
    assert "is not aligned with /third_person/camera/color/image_raw" in capsys.readouterr().out
    assert objects(tmp_path / "memory.db")["mug"].attributes["position"]
    assert build(desk, "--depth", realsense_topics("third_person", "depth"), "--map", "other") == 0
    assert "not aligned" not in capsys.readouterr().out


def test_a_calibration_file_places_a_camera_and_a_frame_can_be_named(
    tmp_path: Path, build: Build, capsys: pytest.CaptureFixture[str]
) -> None:

    place = HandEye(PLACES["third_person"], np.eye(4), np.array([0.4]), np.array([0.1]))
    write_hand_eye(tmp_path / "place.yaml", "cam", "1", False, place, OPTICAL)
    desk = RecordedDesk(seen(), name=realsense_topics, frames={"third_person": OPTICAL}, without=["tf"])
    assert build(desk) == 1
    assert "name the file of the camera's place with --camera" in capsys.readouterr().err
    assert build(desk, "--camera", tmp_path / "place.yaml") == 0
    assert math.dist(objects(tmp_path / "memory.db")["mug"].position, MUG.position) < 0.03
    shelf = RecordedDesk(seen(), base="shelf")
    assert build(shelf, "--frame", "shelf", "--support", "0", "--map", "shelf") == 0
    assert "positions are in 'shelf'" in capsys.readouterr().out


def test_a_build_that_was_interrupted_goes_on_and_a_whole_one_is_not_made_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store, bag = tmp_path / "memory.db", RecordedDesk(seen(14)).write(tmp_path / "bag")
    words = ["memory", "build", str(store), str(bag), "--detector", "vision_msgs"]
    observe, count = LongTermMemory.observe, 0

    def until_ctrl_c(*args: object, **given: object) -> object:
        nonlocal count
        count += 1
        if count == 6:
            raise KeyboardInterrupt
        return observe(*args, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(LongTermMemory, "observe", until_ctrl_c)
    assert main(words) == 130
    assert "5 images are in" in capsys.readouterr().err
    assert objects(store)["mug"].sightings >= 1
    monkeypatch.undo()
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "goes on where it was interrupted" in said
    before = objects(store)["mug"].sightings
    assert main(words) == 0
    assert "was taken in already" in capsys.readouterr().out
    assert objects(store)["mug"].sightings == before
    store.unlink()
    assert main(words) == 0  # of a store that is new, the file beside it says nothing
    assert set(objects(store)) == {"mug", "bowl"}


def test_a_torn_bag_gives_what_is_before_the_damage_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = RecordedDesk(seen(14)).write(tmp_path / "bag")
    (file,) = bag.glob("*.mcap")
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 2 // 3])
    assert main(["memory", "build", str(tmp_path / "memory.db"), str(bag), "--detector", "vision_msgs"]) == 0
    assert set(objects(tmp_path / "memory.db")) == {"mug", "bowl"}
    assert "messages before that were read" in capsys.readouterr().out


def test_what_the_node_would_wait_for_is_waited_for_in_a_bag(tmp_path: Path) -> None:
    """Each image is looked at once, with the depth and the transform that were recorded after it."""
    reader = BagReader(RecordedDesk(seen(10), views=("third_person", "wrist")).write(tmp_path / "bag"))
    looks = RecordedLooks(reader, LookSettings("vision_msgs", {}, WantedTopics(), rate=100.0))
    found = [each for each in looks.after() if each is not None]
    assert looks.looked == {"third_person": 10, "wrist": 10}
    assert all(each.seen.region is None or each.seen.region.depth_mm is not None for each in found)
    stamps = {view: [each.stamp_ns for each in found if each.camera == view] for view in looks.looked}
    assert all(each == sorted(set(each)) for each in stamps.values())


def test_the_progress_of_a_damaged_file_is_none(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    for text in ("", "{", '{"bag": "x"}', '{"bag": 7}'):
        (tmp_path / f"memory.db{ENDING}").write_text(text)
        assert BuildProgress(store, False).until("bag") == (7 if "7" in text else 0)
    progress = BuildProgress(store, False)
    progress.note("other", 9)
    progress.note("other", 5)
    progress.write()
    assert json.loads(progress.file.read_text()) == {"bag": 7, "other": 9}
