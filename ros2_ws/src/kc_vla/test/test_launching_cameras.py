"""The file of `cameras:=` and the robot name the same views, or it is told."""

from dataclasses import replace
from pathlib import Path

import pytest

from kc_vla.core.robot import load_robot
from kc_vla.launching.cameras import CamerasError, cameras_of, hand_eye_files

PIPER = load_robot("piper")


def test_each_view_of_the_robot_has_its_camera(tmp_path: Path) -> None:
    robot = replace(PIPER, cameras={"front": "front_lens", "hand": "hand_lens", "side": "side_lens"})
    (tmp_path / "pictures").mkdir()
    file = tmp_path / "cameras.yaml"
    file.write_text("side: {source: /dev/video2, fps: 30}\nhand: {source: pictures, frame_id: mine}\nfront: {}")
    found = cameras_of(file, robot)
    assert list(found) == ["front", "hand", "side"]
    assert (found["side"]["source"], found["side"]["fps"], found["side"]["frame_id"]) == (
        "/dev/video2",
        30,
        "side_lens",
    )
    assert (found["hand"]["source"], found["hand"]["frame_id"]) == (str(tmp_path / "pictures"), "mine")
    assert found["front"]["source"] == ""


def test_a_view_may_be_on_a_topic_of_a_driver(tmp_path: Path) -> None:
    (tmp_path / "camera").mkdir()  # nothing beside the file has to do with a topic
    file = tmp_path / "cameras.yaml"
    file.write_text("third_person: {topic: /camera, info: /camera/info, depth: /camera/depth}\nwrist: {topic: /usb}")
    found = cameras_of(file, PIPER)
    assert (found["third_person"]["topic"], found["third_person"]["info"]) == ("/camera", "/camera/info")
    assert (found["third_person"]["source"], found["third_person"]["frame_id"]) == ("", "third_person_optical_frame")
    assert (found["wrist"]["topic"], found["wrist"]["frame_id"]) == ("/usb", "wrist_optical_frame")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            "third_person: {topic: /a, source: /dev/video0}\nwrist: {}",
            "names a source and a topic for third_person: leave",
        ),
        (
            "third_person: {}",
            "must name third_person and wrist, the views of the robot 'piper', and names third_person: ",
        ),
        ("third_person: {}\nwrist: {}\nside: {}", "and names third_person and wrist and side: change that file, or"),
        ("third_person: {}\nwirst: {}", "and names third_person and wirst: "),
        ("{}", "and names none: "),
        ("third_person: /dev/video0\nwrist: {}", "must name third_person and wrist, each with its parameters"),
        ("[third_person, wrist]", "must name third_person and wrist, each with its parameters"),
        ("third_person: [", "cannot be read: "),
        (None, "cannot be read: "),
    ],
)
def test_a_file_for_another_robot_is_refused_in_a_line(tmp_path: Path, content: str | None, told: str) -> None:
    file = tmp_path / "cameras.yaml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(CamerasError, match=r"cameras:=.*cameras\.yaml ") as refused:
        cameras_of(file, PIPER)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_where_a_camera_is_goes_to_who_tells_it_and_not_to_the_camera(tmp_path: Path) -> None:
    file = tmp_path / "cameras.yaml"
    file.write_text("third_person: {source: 0}\nwrist: {source: 2, hand_eye: handeye/wrist.yaml}")
    assert "hand_eye" not in cameras_of(file, PIPER)["wrist"]
    assert hand_eye_files(file, PIPER) == str(tmp_path / "handeye" / "wrist.yaml")
    file.write_text("third_person: {hand_eye: /a/b.yaml}\nwrist: {hand_eye: c.yaml}")
    assert hand_eye_files(file, PIPER) == f"/a/b.yaml:{tmp_path / 'c.yaml'}"
    file.write_text("third_person: {}\nwrist: {}")
    assert hand_eye_files(file, PIPER) == ""
