"""Images joined with lens, depth and pose: what waits, what is looked at without depth, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from sensor_msgs.msg import Image

from kc_vla.cameras.calibration import Calibration
from kc_vla.core.frame_tree import FrameTree
from kc_vla.core.urdf import Placed
from kc_vla.perception.camera_frame import CameraFrameError
from kc_vla.perception.view_stream import StreamSettings, ViewStream

WIDTH, HEIGHT = 64, 48
K = (60.0, 0.0, 32.0, 0.0, 60.0, 24.0, 0.0, 0.0, 1.0)
SECOND = 1_000_000_000
FRAME = "third_person_optical_frame"


def lens(width: int = WIDTH, height: int = HEIGHT, k: tuple[float, ...] = K, **other: object) -> Calibration:
    given = {"distortion_model": "plumb_bob", "d": (0.0,) * 5} | other
    return Calibration("third_person", width, height, r=(1.0,) * 9, p=(1.0,) * 12, k=k, **given)  # type: ignore[arg-type]


def image(stamp_ns: int = SECOND, encoding: str = "rgb8", width: int = WIDTH, height: int = HEIGHT) -> Image:
    size = {"rgb8": 3, "16UC1": 2, "32FC1": 4}.get(encoding, 1)
    values = np.full((height, width), 800, np.uint16) if encoding == "16UC1" else np.zeros(0)
    data = values.tobytes() or bytes(height * width * size)
    message = Image(height=height, width=width, step=width * size, encoding=encoding, data=data)
    message.header.stamp = Time(sec=stamp_ns // SECOND, nanosec=stamp_ns % SECOND)
    message.header.frame_id = FRAME
    return message


def placed(x: float = 0.5) -> Placed:
    pose = np.eye(4)
    pose[0, 3] = x
    return Placed("robot_base", FRAME, pose)


LENS, PLACES = lens(), (placed(),)


class Stream(ViewStream):
    """A camera that stands, with a lens."""

    def __init__(self, known: Calibration | None = LENS, places: tuple[Placed, ...] = PLACES) -> None:
        self.tree = FrameTree()
        self.tree.put_fixed(places)
        super().__init__("third_person", self.tree, StreamSettings("robot_base"))
        self.put_lens(known)


def test_an_image_waits_for_its_depth_as_long_as_depth_comes() -> None:
    stream = Stream()
    stream.put_image(image(SECOND), SECOND, 0.0)
    first = stream.newest(0.0)
    assert first is not None
    assert first.unpacked().depth_m is None
    stream.put_depth(image(SECOND, "16UC1"), SECOND, 0.01)
    stream.put_image(image(2 * SECOND), 2 * SECOND, 1.0)
    assert stream.newest(1.01) is None
    stream.put_depth(image(2 * SECOND, "16UC1"), 2 * SECOND, 1.05)
    found = stream.newest(1.05)
    assert found is not None
    frame = found.unpacked()
    assert frame.depth_m is not None
    np.testing.assert_allclose(frame.depth_m, 0.8)
    assert (frame.camera, frame.stamp_ns, frame.pose[0, 3], stream.problem) == ("third_person", 2 * SECOND, 0.5, "")
    assert stream.newest(1.06) is None


def test_the_newest_image_wins_and_older_ones_are_never_looked_at() -> None:
    stream = Stream()
    for number in (1, 2, 3):
        stream.put_image(image(number * SECOND), number * SECOND, float(number))
    found = stream.newest(3.0)
    assert found is not None
    assert found.stamp_ns == 3 * SECOND
    assert stream.newest(3.0) is None


@pytest.mark.parametrize(
    ("depth", "off_ns", "words"),
    [
        (image(encoding="16UC1", width=32, height=24), 0, "depth of third_person has 32x24 px and its image 64x48"),
        (image(encoding="mono8"), 0, "depth of third_person is in 'mono8', which is no depth"),
        (image(encoding="16UC1"), SECOND // 10, "depth of third_person is 0.10 s off its images"),
    ],
)
def test_depth_that_cannot_be_used_is_said_once_and_the_image_is_looked_at_without(
    depth: Image, off_ns: int, words: str
) -> None:
    stream = Stream()
    stream.put_depth(depth, SECOND + off_ns, 0.0)
    stream.put_image(image(), SECOND, 0.0)
    stream.put_depth(depth, SECOND + off_ns, 0.5)
    found = stream.newest(0.5)
    assert found is not None
    assert found.unpacked().depth_m is None
    assert stream.problem.startswith(words)
    assert "without it" in stream.problem


@pytest.mark.parametrize(
    ("known", "places", "words"),
    [
        (None, (placed(),), "no camera_info on third_person/camera_info"),
        (lens(640, 480), (placed(),), "camera_info of third_person is of 640x480 px, its images have 64x48"),
        (lens(k=(0.5, *K[1:])), (placed(),), "has the focal lengths 0.5, 60 px"),
        (lens(k=(60.0, 0.0, 700.0, *K[3:])), (placed(),), "and the middle 700, 24 px"),
        (lens(distortion_model="brown", d=(0.1,) * 5), (placed(),), "distortion model 'brown', which is not known"),
        (lens(), (), "no transform names the frame 'third_person_optical_frame'"),
    ],
)
def test_without_a_true_lens_or_a_pose_no_image_is_looked_at(
    known: Calibration | None, places: tuple[Placed, ...], words: str
) -> None:
    stream = Stream(known, places)
    stream.put_image(image(), SECOND, 0.0)
    assert stream.newest(1.0) is None
    assert words in stream.problem
    assert "\n" not in stream.problem
    stream.put_lens(lens())
    stream.tree.put_fixed([placed()])
    assert stream.newest(1.0) is not None
    assert stream.problem == ""


def test_an_unknown_distortion_model_without_coefficients_is_none() -> None:
    stream = Stream(lens(distortion_model="", d=()))
    stream.put_image(image(), SECOND, 0.0)
    found = stream.newest(0.0)
    assert found is not None
    assert found.unpacked().distortion_model == "plumb_bob"


def test_an_image_that_contradicts_itself_is_refused_in_a_line() -> None:
    stream = Stream()
    torn = image()
    torn.data = bytes(10)
    stream.put_image(torn, SECOND, 0.0)
    found = stream.newest(0.0)
    assert found is not None
    with pytest.raises(CameraFrameError, match=r"an image of third_person says 64x48 px .* and carries 10 bytes"):
        found.unpacked()


def test_a_fixed_camera_that_moves_is_noted_and_one_on_the_arm_is_not() -> None:
    stream = Stream()

    def look(stamp_ns: int) -> str:
        stream.put_image(image(stamp_ns), stamp_ns, stamp_ns / 1e9)
        found = stream.newest(stamp_ns / 1e9)
        assert found is not None
        return stream.moved(found)

    assert look(SECOND) == ""
    stream.tree.put_fixed([placed(0.501)])
    assert look(2 * SECOND) == ""
    stream.tree.put_fixed([placed(0.55)])
    assert look(3 * SECOND).startswith("the fixed camera third_person has moved by 49 mm and 0.0 degrees")
    assert look(4 * SECOND) == ""
    for number in range(5, 8):
        stream.tree.put([placed(0.1 * number)], number * SECOND)
        assert look(number * SECOND) == ""


def test_a_report_gets_the_image_of_its_stamp_or_a_reason() -> None:
    stream = Stream()
    assert stream.nearest(SECOND, 0.02, 0.0) is None
    for number in range(5):
        stream.put_image(image(SECOND + number * SECOND // 10), SECOND + number * SECOND // 10, 0.1 * number)
    found = stream.nearest(SECOND + 210_000_000, 0.02, 0.5)
    assert found is not None
    assert found.stamp_ns == SECOND + 200_000_000
    assert stream.nearest(2 * SECOND, 0.02, 0.5) is None  # its image may still come
    with pytest.raises(CameraFrameError, match=r"no image of it within 0\.02 s of their stamp"):
        stream.nearest(SECOND + 250_000_000, 0.02, 0.5)


def test_a_camera_that_is_silent_is_named_and_time_that_begins_anew_is_no_fault() -> None:
    stream = Stream()
    assert stream.stale(1.0, 0.0) == ""
    assert stream.stale(3.0, 0.0) == "no image on third_person/image_raw for 3 s: look at the camera and its node"
    stream.put_image(image(100 * SECOND), 100 * SECOND, 3.0)
    assert stream.newest(3.0) is not None
    assert stream.stale(4.0, 0.0) == ""
    stream.put_image(image(SECOND), SECOND, 4.0)
    again = stream.newest(4.0)
    assert again is not None
    assert again.stamp_ns == SECOND


def test_what_is_kept_is_bounded_by_bytes() -> None:
    tree = FrameTree([placed()])
    size = WIDTH * HEIGHT * 3
    stream = ViewStream("third_person", tree, StreamSettings("robot_base", most_bytes=3 * size))
    stream.put_lens(lens())
    for number in range(10):
        stream.put_image(image(SECOND + number), SECOND + number, 0.0)
    assert stream.nearest(SECOND + 8, 1e-9, 0.0) is not None
    found = stream.nearest(SECOND, 1e-6, 0.0)
    assert found is not None
    assert found.stamp_ns == SECOND + 7
