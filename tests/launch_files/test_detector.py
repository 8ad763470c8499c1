"""`detector:=` of the launch files: which node finds objects, and where the simulator's truth goes."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kc_vla.cli import main
from kc_vla.core.options import options_in
from kc_vla.core.robot import load_robot
from kc_vla.launching.cameras import cameras_of, hand_eye_files
from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.perception.detectors import DETECTORS

ROOT = Path(__file__).parents[2]
Nodes = dict[str, dict[str, Any]]


def test_a_piper_detects_what_is_asked_for_and_nothing_otherwise(read: Callable[..., Nodes]) -> None:
    assert "perception" not in read("piper", policy="joy", memory="both")
    found = read(
        "piper", policy="joy", memory="both", detector="vision_msgs", detector_options="{boxes: [/yolo/detections]}"
    )
    assert found["perception"] == {
        "detector": "vision_msgs",
        "options": "{boxes: [/yolo/detections]}",
        "robot": "piper",
    }
    assert {"short_term_memory", "long_term_memory"} <= set(found)


@pytest.mark.parametrize(
    ("detector", "perceives", "topic"),
    [
        (None, False, "detections"),
        ("truth", False, "detections"),
        ("none", False, "detections/truth"),
        ("vision_msgs", True, "detections/truth"),
    ],
)
def test_the_simulators_truth_reaches_the_memories_only_where_that_is_said(
    read: Callable[..., Nodes], detector: str | None, perceives: bool, topic: str
) -> None:
    found = read("maniskill", policy="expert", memory="both", **({"detector": detector} if detector else {}))
    assert ("perception" in found) is perceives
    assert found["maniskill_bridge"]["detections/truth"] == topic


def test_a_piper_has_no_truth(read: Callable[..., Nodes]) -> None:
    with pytest.raises(Exception, match="truth"):
        read("piper", policy="joy", detector="truth")


@pytest.mark.parametrize(
    ("detector", "perceives"), [("none", False), ("truth", False), ("learned", True), ("vision_msgs", True)]
)
def test_a_replay_perceives_where_a_detector_is_named(
    read: Callable[..., Nodes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, detector: str, perceives: bool
) -> None:
    topics = ["/third_person/image_raw", "/detections/truth"]
    plan = {"notes": [], "params": "maniskill.yaml", "bag": "b", "folder": str(tmp_path), "topics": topics}
    plan |= {"policy": "none", "moved_by": "expert", "robot": "panda_sim"}
    asked: list[list[str]] = []

    def answer(words: list[str], **given: Any) -> subprocess.CompletedProcess[str]:
        asked.append(words)
        return subprocess.CompletedProcess(words, 0, json.dumps(plan), "")

    monkeypatch.setattr(subprocess, "run", answer)
    found = read("replay", bag=str(tmp_path), memory="both", detector=detector)
    assert f"--detector={detector}" in asked[0]
    assert ("perception" in found) is perceives
    assert {"bag_player", "short_term_memory", "long_term_memory"} <= set(found)
    if perceives:
        assert found["perception"]["detector"] == detector


def _block(after: str) -> str:
    """Return the first block of the page behind a text."""
    return (ROOT / "docs/perception.md").read_text().split(after, 1)[1].split("```", 2)[1].partition("\n")[2]


def test_the_page_starts_a_realsense_beside_a_yolo_node_as_it_says(read: Callable[..., Nodes], tmp_path: Path) -> None:
    (tmp_path / "desk.yaml").write_text(_block("Write the cameras of the robot into"))
    cameras = cameras_of(tmp_path / "desk.yaml", load_robot("piper"))
    assert cameras["third_person"]["topic"] == "/camera/camera/color/image_raw"
    assert cameras["third_person"]["depth"] == "/camera/camera/aligned_depth_to_color/image_raw"
    assert hand_eye_files(tmp_path / "desk.yaml", load_robot("piper")) == str(tmp_path / "third_person_pose.yaml")
    commands = _block("Then start the camera").replace("\\\n", " ").splitlines()
    launch = next(shlex.split(each) for each in commands if "kc_vla" in each)
    given = dict(word.split(":=", 1) for word in launch if ":=" in word)
    given["cameras"] = str(tmp_path / given["cameras"])
    found = read("piper", **given)
    assert {"camera", "short_term_memory", "long_term_memory"} <= set(found)
    options = DETECTORS.options_of("vision_msgs", options_in(found["perception"]["options"], ""))
    assert (options.boxes, options.camera, options.ignored) == (("/yolo/detections",), "third_person", ("person",))
    ask = next(shlex.split(each) for each in commands if each.startswith("kc-vla"))
    with Store(tmp_path / "memory.db") as store:
        seen = Detection("cup", (0.3, 0.1, 0.05), (0.08, 0.08, 0.1), 0.9, source_id="cup_1")
        LongTermMemory(store).observe("home", [seen], 10**18)
    assert main([*ask[1:3], str(tmp_path / "memory.db"), *ask[4:]]) == 0
