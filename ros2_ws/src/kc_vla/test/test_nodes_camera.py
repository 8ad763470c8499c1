import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from camera_files import write_pictures, write_video
from diagnostic_msgs.msg import DiagnosticArray
from node_process import Peer, running
from sensor_msgs.msg import CameraInfo, Image

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.base import CANNOT_START

MODULE = "kc_vla.nodes.camera"
EXAMPLE = Path(__file__).parents[4] / "calibration" / "cameras" / "example.yaml"

DESK = Path(__file__).parents[4] / "launch" / "desk" / "wrist.mp4"


def level_and_text(peer_diagnostics: list[DiagnosticArray]) -> list[tuple[int, str]]:
    return [(s.level[0], s.message) for array in peer_diagnostics for s in array.status if s.name == "camera"]


def test_a_video_becomes_images_and_camera_infos(tmp_path: Path) -> None:
    video = write_video(tmp_path / "v.mp4", [30, 200])
    parameters = {
        "source": video,
        "loop": True,
        "fps": 50.0,
        "width": 640,
        "height": 480,
        "calibration": EXAMPLE,
        "frame_id": "eye",
    }
    with Peer() as peer:
        images = peer.hear(Image, "image_raw", qos.IMAGE)
        infos = peer.hear(CameraInfo, "camera_info", qos.IMAGE)
        with running(MODULE, tmp_path / "log", **parameters):
            peer.until(lambda: len(images) >= 6 and len(infos) >= 6)
    shades = [round(float(np.frombuffer(image.data, np.uint8).mean())) for image in images]
    assert set(shades) <= set(range(26, 35)) | set(range(196, 205))
    assert (images[0].encoding, images[0].width, images[0].height, images[0].step) == ("rgb8", 640, 480, 1920)
    assert images[0].header.frame_id == infos[0].header.frame_id == "eye"
    assert (infos[0].k[0], infos[0].distortion_model) == (612.4, "plumb_bob")
    stamps = [(image.header.stamp.sec, image.header.stamp.nanosec) for image in images]
    assert stamps == sorted(set(stamps))
    assert set(stamps) & {(info.header.stamp.sec, info.header.stamp.nanosec) for info in infos}
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_an_uncalibrated_camera_warns_and_a_lost_one_comes_back(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "pictures", [(7, 7, 7)])
    with Peer() as peer:
        images = peer.hear(Image, "image_raw", qos.IMAGE)
        diagnostics = peer.hear(DiagnosticArray, topics.DIAGNOSTICS, 10)
        with running(MODULE, tmp_path / "log", source=folder, loop=True, fps=50.0, diagnostics_period=0.1):
            peer.until(lambda: images)
            peer.until(lambda: level_and_text(diagnostics))
            assert {status.hardware_id for told in diagnostics for status in told.status} == {str(folder)}
            folder.rename(tmp_path / "away")
            peer.until(lambda: any(level == 2 and "camera lost" in text for level, text in level_and_text(diagnostics)))
            images.clear()
            write_pictures(folder, [(8, 8, 8)])
            peer.until(lambda: images and images[-1].data[0] == 8)
            diagnostics.clear()
            peer.until(lambda: any(level == 0 for level, _ in level_and_text(diagnostics)))
    log = (tmp_path / "log").read_text()
    assert log.count("not calibrated") == 1
    assert log.count("camera lost") == 1
    assert "camera is back" in log


def test_a_camera_that_comes_back_with_another_size_than_calibrated_is_not_heard(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "pictures", [(7, 7, 7)], width=640, height=480)
    with Peer() as peer:
        images = peer.hear(Image, "image_raw", qos.IMAGE)
        diagnostics = peer.hear(DiagnosticArray, topics.DIAGNOSTICS, 10)
        with running(MODULE, tmp_path / "log", source=folder, loop=True, calibration=EXAMPLE, diagnostics_period=0.1):
            peer.until(lambda: images)
            write_pictures(folder, [(8, 8, 8)])
            peer.until(lambda: any(level == 2 and "640x480" in text for level, text in level_and_text(diagnostics)))
    assert {(image.width, image.height) for image in images} == {(640, 480)}


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"source": "/dev/video_nowhere"}, "no camera source '/dev/video_nowhere'"),
        ({"source": EXAMPLE}, "is no video that can be read"),
        ({"source": "''"}, "no camera source is given"),
        ({"source": DESK, "calibration": "/nowhere.yaml"}, "cannot read the calibration /nowhere.yaml"),
        ({"fps": -1.0}, "parameter 'fps'"),
        ({"sauce": "/dev/video0"}, "there is no parameter 'sauce': did you mean 'source'?"),
        ({"source": DESK, "calibration": EXAMPLE}, "is for 640x480 px and the images have 128x128"),
    ],
)
def test_a_camera_that_cannot_start_says_why_and_exits(
    parameters: dict[str, object], reason: str, tmp_path: Path
) -> None:
    with running(MODULE, tmp_path / "log", **parameters) as process:
        assert process.wait(60) == CANNOT_START
    log = (tmp_path / "log").read_text()
    assert reason in log
    assert "Traceback" not in log


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_camera_that_is_stopped_ends_quietly(tmp_path: Path, how: signal.Signals) -> None:
    folder = write_pictures(tmp_path / "pictures", [(7, 7, 7)])
    with Peer() as peer:
        images = peer.hear(Image, "image_raw", qos.IMAGE)
        with running(MODULE, tmp_path / "log", source=folder, loop=True, fps=200.0) as process:
            peer.until(lambda: images)
            stop(process, how)
    assert "Traceback" not in (tmp_path / "log").read_text()


def stop(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    process.send_signal(how)
    assert process.wait(60) == 0
