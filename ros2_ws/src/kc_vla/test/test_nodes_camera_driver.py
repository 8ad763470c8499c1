"""A view that a driver of others sees: its pictures in whatever form, its calibration, its depth, its losses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from node_process import Peer, running
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from std_msgs.msg import String

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.base import CANNOT_START
from kc_vla.ros.convert import image_pixels, nanoseconds, time_message

MODULE = "kc_vla.nodes.camera"
EXAMPLE = Path(__file__).parents[4] / "calibration" / "cameras" / "example.yaml"
COLOUR, INFO, DEPTH = "/driver/color", "/driver/info", "/driver/depth"
RELIABLE, BEST_EFFORT = QoSProfile(depth=5), QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
RED = np.full((24, 32, 3), (220, 30, 10), np.uint8)


def raw(encoding: str = "bgr8", padding: int = 3) -> Image:
    rows = np.pad(RED[:, :, ::-1].reshape(24, -1), ((0, 0), (0, padding)))
    return Image(height=24, width=32, step=rows.shape[1], encoding=encoding, data=rows.tobytes())


def compressed(kind: str) -> CompressedImage:
    done, data = cv2.imencode(f".{kind}", RED[:, :, ::-1])
    assert done
    return CompressedImage(format=kind, data=data.tobytes())


@dataclass
class Bench:
    """The node, what it says, and drivers that come and go."""

    peer: Peer
    log: Path
    images: list[Image] = field(default_factory=list)
    infos: list[CameraInfo] = field(default_factory=list)
    depths: list[Image] = field(default_factory=list)
    diagnostics: list[DiagnosticArray] = field(default_factory=list)

    def begin(self) -> None:
        self.images = self.peer.hear(Image, "image_raw", qos.IMAGE)
        self.infos = self.peer.hear(CameraInfo, "camera_info", qos.IMAGE)
        self.depths = self.peer.hear(Image, "depth/image", qos.IMAGE)
        self.diagnostics = self.peer.hear(DiagnosticArray, topics.DIAGNOSTICS, 10)

    def driver(self, kind: type, topic: str, profile: QoSProfile = RELIABLE) -> Any:
        return self.peer.node.create_publisher(kind, topic, profile)

    def send(self, publisher: Any, message: Any, ahead_s: float = 0.0, frame: str = "") -> int:
        """Say it, stamped now; the stamp."""
        stamp_ns = self.peer.node.get_clock().now().nanoseconds + round(ahead_s * 1e9)
        message.header.stamp, message.header.frame_id = time_message(stamp_ns), frame
        publisher.publish(message)
        return stamp_ns

    def until(self, done: Callable[[], Any], *sent: tuple[Any, Any]) -> set[int]:
        """Send again and again until then; all stamps."""
        stamps = set()

        def step() -> Any:
            stamps.update(self.send(publisher, message) for publisher, message in sent)
            return done()

        self.peer.until(step)
        return stamps

    def tells(self, text: str) -> Callable[[], bool]:
        """Whether the diagnostics now say so."""
        self.diagnostics.clear()
        return lambda: any(text in s.message for a in self.diagnostics for s in a.status if s.name == "camera")

    def said(self, text: str) -> bool:
        return text in self.log.read_text()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Peer() as peer:
        bench = Bench(peer, tmp_path / "log")
        bench.begin()
        yield bench


def camera(bench: Bench, **parameters: object) -> Any:
    given = {"topic": COLOUR, "frame_id": "eye", "diagnostics_period": 0.1, "stale_after": 0.5, **parameters}
    return running(MODULE, bench.log, **given)


@pytest.mark.parametrize("profile", [RELIABLE, BEST_EFFORT], ids=["reliable", "best effort"])
def test_pictures_and_calibration_of_a_driver_come_with_its_stamps_in_the_frame_of_the_robot(
    bench: Bench, profile: QoSProfile
) -> None:
    colour, info = bench.driver(Image, COLOUR, profile), bench.driver(CameraInfo, INFO, profile)
    lens = CameraInfo(height=24, width=32, distortion_model="plumb_bob", d=[0.0] * 5)
    lens.k[0] = lens.k[4] = 30.0

    def paired() -> bool:
        """A picture has come, and the calibration of its moment."""
        stamps = ({nanoseconds(each.header.stamp) for each in come} for come in (bench.infos, bench.images))
        return bool(set.intersection(*stamps))

    with camera(bench, info=INFO):
        sent = bench.until(lambda: any(i.k[0] for i in bench.infos) and paired(), (info, lens), (colour, raw()))
        bench.send(colour, raw(), frame="driver_lens")
        bench.peer.until(lambda: bench.said("the driver calls its frame 'driver_lens' and the robot 'eye'"))
    np.testing.assert_array_equal(image_pixels(bench.images[0]), RED)
    assert bench.images[0].encoding == "rgb8"
    assert (
        {image.header.frame_id for image in bench.images} == {info.header.frame_id for info in bench.infos} == {"eye"}
    )
    assert nanoseconds(bench.images[0].header.stamp) in sent
    assert next(i for i in bench.infos if i.k[0]).distortion_model == "plumb_bob"


@pytest.mark.parametrize("kind", ["jpg", "png"])
def test_compressed_pictures_are_unpacked_and_scaled(bench: Bench, kind: str) -> None:
    colour = bench.driver(CompressedImage, COLOUR)
    with camera(bench, width=16, height=12):
        bench.until(lambda: bench.images, (colour, compressed(kind)))
    pixels = image_pixels(bench.images[0])
    assert pixels.shape == (12, 16, 3)
    assert np.abs(pixels.astype(int) - RED[0, 0]).max() < 6


def test_a_driver_may_come_later_go_and_come_back_as_another(bench: Bench) -> None:
    with camera(bench):
        bench.peer.until(bench.tells(f"camera lost, trying again: nobody publishes on {COLOUR}"))
        first = bench.driver(Image, COLOUR, BEST_EFFORT)
        bench.until(lambda: bench.images, (first, raw()))
        bench.until(bench.tells("ok"), (first, raw()))
        bench.peer.until(bench.tells(f"camera lost, trying again: nothing comes on {COLOUR}"))
        bench.peer.node.destroy_publisher(first)
        bench.peer.until(bench.tells("nobody publishes"))
        second = bench.driver(CompressedImage, COLOUR)
        bench.images.clear()
        bench.until(lambda: bench.images, (second, compressed("png")))
        bench.until(bench.tells("ok"), (second, compressed("png")))
    np.testing.assert_array_equal(image_pixels(bench.images[0]), RED)
    assert bench.log.read_text().count("camera is back") == 2


def cut_off() -> Image:
    message = raw()
    message.data = message.data[:-1]
    return message


@pytest.mark.parametrize(
    ("message", "ahead_s", "told"),
    [
        (cut_off(), 0.0, "it says 32x24 px in 'bgr8' with 99 bytes a row and carries 2375 bytes"),
        (raw("16UC1"), 0.0, "it is in '16UC1', which cannot be shown"),
        (raw(), 60.0, "its stamp lies 60 s ahead of this node's clock"),
        (raw(), -60.0, "its stamp lies 60 s behind this node's clock: does its driver stamp by another clock?"),
    ],
)
def test_what_cannot_be_is_left_out_and_told(bench: Bench, message: Image, ahead_s: float, told: str) -> None:
    colour = bench.driver(Image, COLOUR)
    with camera(bench):

        def step() -> bool:
            bench.send(colour, message, ahead_s)
            return bench.said(f"a picture on {COLOUR} left out: {told}")

        bench.peer.until(step)
        assert bench.images == []
        bench.until(lambda: bench.images, (colour, raw()))  # and the next good one is taken


def test_a_picture_without_a_stamp_is_left_out(bench: Bench) -> None:
    colour = bench.driver(Image, COLOUR)
    with camera(bench):

        def step() -> bool:
            colour.publish(raw())
            return bench.said("left out: it has no stamp")

        bench.peer.until(step)
    assert bench.images == []


def test_a_topic_of_something_else_is_told(bench: Bench) -> None:
    bench.driver(String, COLOUR)
    with camera(bench):
        bench.peer.until(lambda: bench.said(f"{COLOUR} carries std_msgs/msg/String: name a topic of sensor_msgs/msg/"))


@pytest.mark.nightly
def test_depth_is_passed_on_as_it_is_and_its_loss_told(bench: Bench) -> None:
    colour, depth = bench.driver(Image, COLOUR), bench.driver(Image, DEPTH)
    told = np.arange(24 * 32, dtype=np.uint16)
    distances = Image(height=24, width=32, step=64, encoding="16UC1", data=told.tobytes())
    with camera(bench, depth=DEPTH):
        bench.until(lambda: bench.images and bench.depths, (colour, raw()), (depth, distances))
        bench.until(bench.tells(f"nothing comes on {DEPTH}"), (colour, raw()))
        distances.encoding = "mono8"
        bench.until(lambda: bench.said("it is in 'mono8', which is no depth"), (colour, raw()), (depth, distances))
    got = bench.depths[0]
    assert (got.encoding, got.step, got.header.frame_id) == ("16UC1", 64, "eye")
    np.testing.assert_array_equal(np.frombuffer(got.data, np.uint16), told)


def test_a_calibration_of_another_size_is_not_told_of_these_pictures(bench: Bench) -> None:
    colour = bench.driver(Image, COLOUR)
    with camera(bench, calibration=EXAMPLE):
        told = "is for 640x480 px and the images have 32x24"
        bench.until(lambda: bench.said(told), (colour, raw()))
    assert bench.images == bench.infos == []


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"topic": "camera/color"}, "'topic' is 'camera/color': give the whole name of the topic, with its /"),
        ({"topic": "/image_raw"}, "'topic' is /image_raw, where this node itself publishes"),
        (
            {"topic": COLOUR, "source": "/dev/video0"},
            "set 'source' or, for a third-party driver, 'topic', and one only",
        ),
        ({"source": "/dev/video0", "depth": DEPTH}, "'info' and 'depth' belong to a third-party driver"),
    ],
)
def test_a_driver_that_cannot_be_is_refused_at_the_start(
    parameters: dict[str, object], reason: str, tmp_path: Path
) -> None:
    with running(MODULE, tmp_path / "log", **parameters) as process:
        assert process.wait(60) == CANNOT_START
    log = (tmp_path / "log").read_text()
    assert reason in log
    assert "Traceback" not in log
