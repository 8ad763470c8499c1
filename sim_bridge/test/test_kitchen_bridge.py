"""The bridge with the kitchen: depth on its topics, and detections of what its cameras see alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from node_process import Peer, running
from sensor_msgs.msg import Image

from kc_vla.core import topics
from kc_vla.media.images import check_depth
from kc_vla.ros import qos
from kc_vla_msgs.msg import ObjectDetections
from kc_vla_msgs.srv import ResetSimulation
from kc_vla_sim.kitchen.layout import draw_layout

CLOSED = next(seed for seed in range(100) if not draw_layout(seed)["cabinet"].openings["drawer_2"])


def test_depth_and_color_are_of_one_moment_and_what_is_in_a_closed_drawer_is_not_reported(tmp_path: Path) -> None:
    with Peer() as peer, running("kc_vla_sim.nodes.maniskill_bridge", tmp_path / "log", image_size=64, depth="true"):
        depths = peer.hear(Image, topics.depth_topic("third_person"), qos.IMAGE)
        images = peer.hear(Image, topics.image_topic("third_person"), qos.IMAGE)
        found = peer.hear(ObjectDetections, topics.DETECTIONS_TRUTH, qos.STATE)
        request = ResetSimulation.Request(task="kitchen", seed=CLOSED, request_id="a")
        assert peer.call(ResetSimulation, "/simulator/reset", request).success
        peer.until(lambda: depths and images and found)  # the frame is shown again while the bridge waits
    depth = depths[-1]
    check_depth(depth)
    assert depth.header == images[-1].header
    values = np.frombuffer(bytes(depth.data), np.float32).reshape(depth.height, depth.width)
    assert values.shape == (64, 64)
    assert 0.8 < np.median(values) < 2.5
    seen = {each.object_id for each in found[-1].detections}
    inside = {thing.thing_id for thing in draw_layout(CLOSED).things if thing.holder == "drawer_2"}
    assert inside
    assert not seen & inside
    assert seen >= {"cupboard", "cabinet", "stove"}
