"""How fast the annotation page opens a long bag and steps through it, from the key press to the painted images."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import psutil
from geometry_msgs.msg import PoseStamped
from playwright.sync_api import Page
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image, JointState
from tqdm import tqdm

from kc_vla.bags.topics import Qos, RecordedEpisodeInfo, TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla_msgs.msg import EpisodeStatus, KeyframeScore
from tests.support import episode_bag
from tests.support.browser import LAPTOP, browser, chromium
from tests.support.page_server import PageServer

from .measuring import MeasurementError, Spread, Table

_HZ, _JOINTS_HZ = 20, 100
_SIZE = (480, 640)
_PICTURES = 40
_BEGUN_NS = 1_790_000_000_000_000_000
_TOPICS = {
    "/third_person/image_raw": TopicInfo("sensor_msgs/msg/Image", Qos(reliable=False, depth=1)),
    "/wrist/image_raw": TopicInfo("sensor_msgs/msg/Image", Qos(reliable=False, depth=1)),
    "/joint_states": TopicInfo("sensor_msgs/msg/JointState", Qos(reliable=False, depth=5)),
    "/tool_pose": TopicInfo("geometry_msgs/msg/PoseStamped", Qos(reliable=False, depth=5)),
    "/episode/status": TopicInfo("kc_vla_msgs/msg/EpisodeStatus", Qos(transient_local=True, depth=1)),
    "/keyframes/score": TopicInfo("kc_vla_msgs/msg/KeyframeScore"),
}
_WATCH = """() => {
  window.took = []; window.opened = [];
  let pressed = 0;
  document.addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
  document.addEventListener("painted", ({ detail }) => window.took.push([detail.frame, performance.now() - pressed]));
}"""


def measure(quick: bool, work: Path) -> Table:
    """Record a long bag, open it in headless Chromium, step through it with keys."""
    if chromium() is None:
        raise MeasurementError("there is no Chromium: apt-get install chromium")
    seconds, steps = (60, 100) if quick else (600, 400)
    bag = work / "long_0"
    _record(bag, seconds)
    size = sum(path.stat().st_size for path in bag.iterdir())
    with PageServer(bag, work / "cache") as server, browser() as chrome:
        page = chrome.new_page(viewport=LAPTOP)
        page.goto(server.address)
        page.fill("#whoname", "nobody")
        began = time.perf_counter()
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelector('#where').textContent.startsWith('frame 0 of')", polling=5)
        opened = time.perf_counter() - began
        before_curves = _memory(server.pid)
        page.wait_for_function(
            "fetch(`api/episodes/${location.hash.slice(1)}/curves`).then(a => a.json()).then(f => f.ready)",
            timeout=600_000,
            polling=500,
        )
        page.evaluate(_WATCH)
        rows = [
            _row(page, "→, one frame on", "ArrowRight", steps),
            _row(page, "←, one frame back", "ArrowLeft", steps // 2),
            _row(page, "Shift →, ten frames on", "Shift+ArrowRight", min(steps, seconds)),
        ]
        shown = _hold(page)
        memory = _memory(server.pid)
    return Table(
        "The annotation page: from the key press to both painted images, ms: p50 / p99 / max",
        rows,
        (
            f"A bag of the project's own recorder: {seconds} s, two cameras, 640x480 raw at {_HZ} Hz in zstd chunks, "
            f"joints at {_JOINTS_HZ} Hz; {size / 1e9:.1f} GB. Headless Chromium, {LAPTOP['width']}x{LAPTOP['height']}.",
            f"It opens in {opened:.2f} s, from the choice of the name to the first painted images; just begun.",
            f"Server: {before_curves:.0f} MB when open, {memory:.0f} MB after all of it (curves read, images shown).",
            f"Key held at 30 presses a second for 3 s: {shown} of 90 frames painted.",
        ),
    )


def _row(page: Page, name: str, key: str, presses: int) -> dict[str, object]:
    page.evaluate("window.took = []")
    for _ in tqdm(range(presses), desc=f"annotate: {name}", unit="key"):
        count = page.evaluate("window.took.length")
        page.keyboard.press(key)
        page.wait_for_function(f"window.took.length > {count}", polling=2)
    took = [row[1] for row in page.evaluate("window.took")]
    return {"key": name, "presses": presses, "ms": Spread.of(took)}


def _hold(page: Page) -> int:
    """Frames that are painted while a key is held."""
    page.keyboard.press("Home")
    page.wait_for_timeout(1000)
    page.evaluate("window.took = []")
    page.evaluate(
        """() => new Promise((done) => {
          let k = 0;
          const timer = setInterval(() => {
            document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
            if (++k === 90) { clearInterval(timer); setTimeout(done, 500); }
          }, 1000 / 30);
        })"""
    )
    return len(set(page.evaluate("window.took.map((row) => row[0])")))


def _memory(pid: int) -> float:
    """Of the server, MB."""
    return float(psutil.Process(pid).memory_info().rss) / 1e6


def _record(folder: Path, seconds: int) -> None:
    """Write the bag with the recorder's own writer."""
    info = RecordedEpisodeInfo("counting-000001-1", "counting", 1, "Wait for the lamp.", "0.1.0", _BEGUN_NS)
    writer = EpisodeBagWriter(folder, _TOPICS, info)
    for topic, data, at_ns in tqdm(_messages(seconds), total=_count(seconds), desc="annotate: recording", unit="msg"):
        while not writer.write(topic, data, _BEGUN_NS + at_ns, _BEGUN_NS + at_ns):
            time.sleep(0.01)  # the recorder would drop it; here the bag is to be whole
    writer.close(600.0)


def _count(seconds: int) -> int:
    return seconds * (3 * _HZ + 2 * _JOINTS_HZ) + 1


def _messages(seconds: int) -> Iterator[tuple[str, bytes, int]]:
    script = episode_bag.Script(size=256)
    views = {
        "/third_person/image_raw": [_picture(episode_bag.third_person_view(script, k), 1) for k in range(_PICTURES)],
        "/wrist/image_raw": [_picture(episode_bag.wrist_view(script, k), 2) for k in range(_PICTURES)],
    }
    joints = JointState(name=[f"joint{k}" for k in range(1, 7)] + ["gripper"], position=[0.0] * 7, velocity=[0.1] * 7)
    status = EpisodeStatus(episode_id="counting-000001-1", task="counting", frame_period=1 / _HZ, state=1)
    status.start_time.sec = 1
    yield "/episode/status", serialize_message(status), 0
    for tick in range(seconds * _JOINTS_HZ):
        at_ns = round(tick * 1e9 / _JOINTS_HZ)
        joints.position[0], joints.position[6] = np.sin(tick / 100), 0.035 + 0.035 * np.sin(tick / 300)
        pose = PoseStamped()
        pose.pose.position.z = 0.2 + 0.1 * float(np.sin(tick / 200))
        yield "/joint_states", _stamped(serialize_message(joints), at_ns), at_ns
        yield "/tool_pose", _stamped(serialize_message(pose), at_ns), at_ns
        if tick % (_JOINTS_HZ // _HZ) == 0:
            frame = tick * _HZ // _JOINTS_HZ
            for topic, pictures in views.items():
                yield topic, _stamped(pictures[frame % _PICTURES], at_ns), at_ns
            score = KeyframeScore(episode_id="counting-000001-1", frame_index=frame, score=abs(np.sin(frame / 50)))
            yield "/keyframes/score", _stamped(serialize_message(score), at_ns), at_ns


def _picture(pixels: np.ndarray, seed: int) -> bytes:
    """A serialized picture of a camera's size, with a camera's noise, so that it is as hard to pack."""
    height, width = _SIZE
    large = cv2.resize(pixels, (width, height)).astype(np.int16)
    noisy = large + np.random.default_rng(seed).integers(-3, 4, large.shape, np.int16)
    message = Image(height=height, width=width, encoding="rgb8", step=3 * width)
    message.data.frombytes(np.clip(noisy, 0, 255).astype(np.uint8).tobytes())
    return bytes(serialize_message(message))


def _stamped(data: bytes, at_ns: int) -> bytes:
    """The serialized message with another stamp in its header: 1 s and `at_ns`."""
    seconds, rest = divmod(at_ns, 1_000_000_000)
    return data[:4] + struct.pack("<iI", 1 + seconds, rest) + data[12:]
