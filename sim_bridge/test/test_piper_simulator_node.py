"""The node of a simulated Piper as a process of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from node_process import Peer, running
from sensor_msgs.msg import CameraInfo, Image
from tf2_msgs.msg import TFMessage

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.convert import image_pixels

NODE = "kc_vla_sim.nodes.piper_simulator"
CANNOT_START = 2


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"task": "kitchen"}, "parameter 'task' is 'kitchen': allowed is"),
        ({"robot": "piper_h"}, "a simulated Piper has the body of robots/piper.yaml: robot 'piper_h' is another one"),
        ({}, "no usable Vulkan driver: run ./setup.sh"),
    ],
    ids=str,
)
def test_it_says_why_it_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parameters: dict[str, object], line: str
) -> None:
    for name in ("VK_ICD_FILENAMES", "VK_DRIVER_FILES"):
        monkeypatch.setenv(name, str(tmp_path / "no_driver.json"))
    with running(NODE, tmp_path / "log", path=tmp_path / "bus", **parameters) as process:
        assert process.wait(60) == CANNOT_START
    said = (tmp_path / "log").read_text()
    assert line in said
    assert "Traceback" not in said


@pytest.mark.usefixtures("piper_meshes")
def test_it_publishes_images_depths_and_places_of_its_cameras(tmp_path: Path) -> None:
    with Peer() as peer, running(NODE, tmp_path / "log", path=tmp_path / "bus", image_size=64):
        images = peer.hear(Image, f"/{topics.image_topic('third_person')}", qos.IMAGE)
        depths = peer.hear(Image, f"/{topics.depth_topic('wrist')}", qos.IMAGE)
        infos = peer.hear(CameraInfo, f"/{topics.camera_info_topic('wrist')}", qos.STATE)
        places = peer.hear(TFMessage, f"/{topics.CAMERA_PLACES}", qos.STATUS)
        peer.until(lambda: images and depths and infos and places)
        assert image_pixels(images[-1]).std() > 10
        assert (depths[-1].encoding, depths[-1].header.frame_id) == ("32FC1", "wrist_optical_frame")
        assert np.frombuffer(bytes(depths[-1].data), np.float32).max() > 0.05
        assert infos[-1].k[2] == pytest.approx(32.0)
        parents = {each.child_frame_id: each.header.frame_id for each in places[-1].transforms}
        assert parents == {"third_person_optical_frame": "robot_base", "wrist_optical_frame": "tool"}
