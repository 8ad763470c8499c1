"""A kitchen that was recorded with depth: a memory is built from the bag, and no camera of a tour counts as moved."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from rclpy.serialization import serialize_message
from sensor_msgs.msg import CameraInfo, Image
from std_msgs.msg import Header

from kc_vla.bags.topics import Qos, RecordedEpisodeInfo, TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.cli import main
from kc_vla.core import topics
from kc_vla.core.urdf import Placed
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.perception.camera_fit import CameraFit
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.ros.transforms import transforms_message
from kc_vla_sim.kitchen.perceiving.camera_frames import camera_frames
from kc_vla_sim.simulator import Simulator

BEGIN_NS = 1_790_000_000 * 10**9
INFO, IMAGE = "sensor_msgs/msg/CameraInfo", "sensor_msgs/msg/Image"


def record(simulator: Simulator, seed: int, steps: int, folder: Path) -> dict[str, tuple[float, ...]]:
    """Record the beginning of a tour, five images a second of each camera; return where the furniture is."""
    frame = simulator.reset("kitchen", seed)
    kinds = {topics.TF: "tf2_msgs/msg/TFMessage"}
    for view in frame.views:
        kinds |= {f"/{topics.image_topic(view)}": IMAGE, f"/{topics.depth_topic(view)}": IMAGE}
        kinds[f"/{topics.camera_info_topic(view)}"] = INFO
    infos = {topic: TopicInfo(kind, Qos()) for topic, kind in kinds.items()}
    writer = EpisodeBagWriter(folder, infos, RecordedEpisodeInfo("e", "kitchen", seed, "", "0.1.0", 1))
    while frame.index < steps:
        if frame.index % 4 == 0:
            for image in camera_frames(simulator, simulator.redrawn(frame), depth=True):
                write(writer, image)
        frame = simulator.step(simulator.expert.plan(1)[0][0])
    writer.close()
    return {each.object_id: each.pose.position for each in frame.detections}


def write(writer: EpisodeBagWriter, image: CameraFrame) -> None:
    at_ns = BEGIN_NS + image.stamp_ns
    stamp = Time(sec=at_ns // 10**9, nanosec=at_ns % 10**9)
    header = Header(stamp=stamp, frame_id=f"{image.camera}_optical_frame")
    height, width = image.image.shape[:2]
    info = CameraInfo(header=header, width=width, height=height, distortion_model="plumb_bob", d=[0.0] * 5)
    info.k = [float(each) for each in image.matrix.ravel()]
    assert image.depth_m is not None
    size = {"header": header, "height": height, "width": width}
    color = Image(**size, step=3 * width, encoding="rgb8", data=image.image.tobytes())
    depth = Image(**size, step=4 * width, encoding="32FC1", data=image.depth_m.astype(np.float32).tobytes())
    for topic, message in (
        (topics.TF, transforms_message([Placed("robot_base", header.frame_id, image.pose)], stamp)),
        (f"/{topics.camera_info_topic(image.camera)}", info),
        (f"/{topics.image_topic(image.camera)}", color),
        (f"/{topics.depth_topic(image.camera)}", depth),
    ):
        writer.write(topic, serialize_message(message), at_ns, at_ns)


@pytest.mark.nightly  # its links: test_memory_build_images.py in kc_vla, test_kitchen.py
def test_a_recorded_kitchen_is_remembered_by_its_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    simulator = Simulator(256, draw=False, depth=True)
    places = record(simulator, 7, 300, tmp_path / "bag")
    simulator.close()
    store = tmp_path / "memory.db"
    assert main(["memory", "build", str(store), str(tmp_path / "bag")]) == 0
    said = capsys.readouterr().out
    assert "the detector 'learned' looks at the images" in said
    assert "was moved by" not in said
    with Store(store, read_only=True) as opened:
        known = {each.object_type: each for each in LongTermMemory(opened).objects("home")}
    assert len(known) > 4
    assert math.dist(known["tray"].position, places["tray"]) < 0.1
    assert main(["memory", "ask", str(store), "where is the tray?"]) == 0
    assert "tray" in capsys.readouterr().out


@pytest.mark.nightly
@pytest.mark.parametrize("looks", ["standard", "varied"])
def test_no_camera_of_a_tour_counts_as_moved(looks: str) -> None:
    """Not while drawers, doors, things, the arm and a second hand move in view."""
    simulator = Simulator(128, draw=False, looks=looks, depth=True)
    for seed in (31, 32):
        fit, frame = CameraFit(), simulator.reset("kitchen", seed)
        while not frame.done and frame.index < 2400:
            if frame.index % 4 == 0:
                for image in camera_frames(simulator, simulator.redrawn(frame), depth=True):
                    assert fit.check(image) is None, f"{looks} {seed}: {image.camera}, step {frame.index}"
            frame = simulator.step(simulator.expert.plan(1)[0][0])
    simulator.close()
