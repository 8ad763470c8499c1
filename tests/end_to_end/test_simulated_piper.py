"""`piper.launch.py arm:=simulated`: the graph of a real arm around a body that cameras show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from node_process import Peer
from robot import Robot, check_what_the_arm_saw
from sensor_msgs.msg import Image

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.convert import image_pixels

pytestmark = pytest.mark.usefixtures("piper_meshes")


def test_the_cameras_show_the_arm_move_stand_after_an_emergency_stop_and_move_again(tmp_path: Path) -> None:
    arguments = {"arm": "simulated", "task": "temporal", "seed": 3}
    with Peer() as peer, Robot(tmp_path, arguments, peer, driver="/piper_simulator") as robot:
        images = peer.hear(Image, f"/{topics.image_topic('third_person')}", qos.IMAGE)

        def seen() -> np.ndarray:
            images.clear()
            peer.until(lambda: len(images) > qos.IMAGE.depth)  # so many may have waited
            return image_pixels(images[-1]).astype(int)

        def changed(before: np.ndarray) -> float:
            return float((np.abs(seen() - before).max(axis=2) > 30).mean())

        robot.wait_for("keyframe 0 'start' confirmed")
        robot.wait_until_it_moves()
        before = seen()
        peer.until(lambda: changed(before) > 0.01)
        assert "stopped" in robot.call("/arm/e_stop")
        assert robot.stands()
        assert changed(seen()) < 0.001
        stopped = seen()
        robot.call("/arm/release_e_stop")
        robot.wait_until_it_moves()
        peer.until(lambda: changed(stopped) > 0.01)
        robot.press_ctrl_c()
        assert robot.finish() == 0
        check_what_the_arm_saw(robot, steps_at_once=10)
