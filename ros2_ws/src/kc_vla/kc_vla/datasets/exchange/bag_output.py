"""Writes an imported episode as a bag in the stack's topics, whole or not at all."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePath
from types import TracebackType
from typing import Any

import cv2
import numpy as np
from mcap_ros2._dynamic import serialize_dynamic
from numpy.typing import NDArray

from kc_vla.bags.recorder import BAG_FOLDER
from kc_vla.bags.schemas import collect_schema
from kc_vla.bags.topics import Qos, RecordedEpisodeInfo, TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.core import topics as names
from kc_vla.core.files import locks
from kc_vla.core.topics import picture_topics, view_on
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.samples import UNEXPLAINED

IMAGE, COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"
JOINTS, POSE = "sensor_msgs/msg/JointState", "geometry_msgs/msg/PoseStamped"
STATUS, COMMAND = "kc_vla_msgs/msg/EpisodeStatus", "kc_vla_msgs/msg/ArmCommand"
DRIVER_TOPIC, DRIVER = f"/{names.DRIVER}", "kc_vla_msgs/msg/Driver"
JPEG_QUALITY = 95
"""JPEG quality of images that were decoded from a video, of 100."""
RAW = 0
"""In place of a quality: as it is."""
START_NS = 1_000_000_000
"""Stamp of frame 0 where the source does not know when it was recorded; 0 would mean no stamp."""
_RUNNING, _FINISHED = 1, 2
_PICTURES, _STATES = Qos(reliable=False, depth=1), Qos(reliable=False, depth=5)
OFFERED = {
    "/joint_states": TopicInfo(JOINTS, _STATES),
    "/tool_pose": TopicInfo(POSE, _STATES),
    f"/{UNEXPLAINED}": TopicInfo(JOINTS, _STATES),
    "/arm/command": TopicInfo(COMMAND, Qos(depth=100)),
    DRIVER_TOPIC: TopicInfo(DRIVER, Qos(transient_local=True, depth=100)),
    "/episode/status": TopicInfo(STATUS, Qos(transient_local=True, depth=1)),
}
_WAIT_S = 0.002


@dataclass(frozen=True)
class Announcement:
    """What an imported episode says of itself.

    Attributes:
        episode_id: names its folder.
        task: name in the task table.
        instruction: in words.
        start_ns: stamp of frame 0.
        period_s: time between two frames.
        seed: of the simulator, 0 otherwise.
        variant: of the simulator's task; empty otherwise.
    """

    episode_id: str
    task: str
    instruction: str
    start_ns: int
    period_s: float
    seed: int = 0
    variant: str = ""


class BagOutput:
    """An episode on its way to `output`/<its id>/bag; a context manager. Left with an error, nothing stays."""

    def __init__(self, output: Path, about: Announcement, topics: Sequence[str], log_ns: int | None = None) -> None:
        """Begin to write.

        Args:
            output: folder for the episodes.
            about: the episode.
            topics: full names of those of the stack's topics that will be written; of the views, the first first.
            log_ns: when the recording began, where that is another time than `about.start_ns`.

        Raises:
            BagError: its folder is there already, or cannot be written.
        """
        if not about.episode_id or PurePath(about.episode_id).name != about.episode_id or about.episode_id == "..":
            raise ExchangeError(f"'{about.episode_id}' cannot name a folder: give --name")
        self._folder = output / about.episode_id
        if self._folder.exists():
            raise ExchangeError(f"{self._folder} is there already: choose another --output or --name")
        self._part = output / f".{about.episode_id}.part"
        self.about = about
        self._lock = _alone(self._part)
        infos = {topic: _offered(topic) for topic in dict.fromkeys(["/episode/status", *topics])}
        views = tuple(dict.fromkeys(view for topic in topics if (view := view_on(topic))))
        self._encode = {topic: _encoder(info.type) for topic, info in infos.items()}
        episode = RecordedEpisodeInfo(
            about.episode_id, about.task, about.seed, about.instruction, _stack_version(), about.start_ns, views
        )
        self._writer = EpisodeBagWriter(self._part / BAG_FOLDER, infos, episode)
        self._status(_RUNNING, about.start_ns, about.start_ns if log_ns is None else log_ns)

    @property
    def bag(self) -> Path:
        """Return the bag while it is written; what is put into it stays with it."""
        return self._part / BAG_FOLDER

    def __enter__(self) -> BagOutput:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
            if kind is None:
                self._part.rename(self._folder)
        finally:
            shutil.rmtree(self._part, ignore_errors=True)
            os.close(self._lock)

    def write(
        self, topic: str, fields: Mapping[str, Any], stamp_ns: int, frame_id: str = "", log_ns: int | None = None
    ) -> None:
        """Write a message with a header of that stamp; `fields` are the others, `log_ns` as for the whole bag.

        Raises:
            BagError: it cannot be written.
        """
        message = {"header": {"stamp": _time(stamp_ns), "frame_id": frame_id}, **fields}
        log_ns = stamp_ns if log_ns is None else log_ns
        self.copy(topic, self._encode[topic](message), log_ns, log_ns)

    def picture(
        self,
        view: str,
        pixels: NDArray[np.uint8],
        stamp_ns: int,
        quality: int = JPEG_QUALITY,
        log_ns: int | None = None,
    ) -> None:
        """Write an image (H, W, 3), RGB, on `picture_topic`: as JPEG of that quality, or as it is with `RAW`.

        Raises:
            BagError: it cannot be encoded or written.
        """
        height, width = pixels.shape[:2]
        if quality == RAW:
            form = {"height": height, "width": width, "encoding": "rgb8", "is_bigendian": 0, "step": 3 * width}
            fields = {**form, "data": np.ascontiguousarray(pixels).tobytes()}
        else:
            bgr = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
            done, data = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
            if not done:
                raise ExchangeError(f"an image of {width}x{height} pixels cannot be encoded as JPEG")
            fields = {"format": "jpeg", "data": data.tobytes()}
        self.write(picture_topic(view, quality), fields, stamp_ns, f"{view}_optical_frame", log_ns)

    def joints(
        self,
        names: Sequence[str],
        positions: Sequence[float],
        velocities: Sequence[float],
        stamp_ns: int,
        topic: str = "/joint_states",
        log_ns: int | None = None,
    ) -> None:
        """Write a joint state, rad and m, or other numbers by their names; velocities may be empty."""
        fields = {
            "name": list(names),
            "position": [float(v) for v in positions],
            "velocity": [float(v) for v in velocities],
            "effort": [],
        }
        self.write(topic, fields, stamp_ns, "robot_base", log_ns)

    def tool_pose(self, pose: Sequence[float], stamp_ns: int) -> None:
        """Write a tool pose: x, y, z (m), quaternion x, y, z, w, in the robot's base frame."""
        x, y, z, qx, qy, qz, qw = (float(value) for value in pose)
        place, turn = {"x": x, "y": y, "z": z}, {"x": qx, "y": qy, "z": qz, "w": qw}
        self.write("/tool_pose", {"pose": {"position": place, "orientation": turn}}, stamp_ns, "robot_base")

    def command(
        self,
        step: int,
        mode: int,
        names: Sequence[str],
        values: Sequence[float],
        stamp_ns: int,
        log_ns: int | None = None,
    ) -> None:
        """Write the command of a control step; `mode` is a constant of ArmCommand."""
        fields = {
            "episode_id": self.about.episode_id,
            "step": step,
            "mode": mode,
            "names": list(names),
            "values": [float(value) for value in values],
            "chunk_sequence": 0,
            "chunk_index": 0,
            "reason": "",
        }
        self.write("/arm/command", fields, stamp_ns, "robot_base", log_ns)

    def driver(self, turn: int, by_person: bool, after_frame: int, stamp_ns: int) -> None:
        """Write that a person drives from the frame after that one on, or the policy; `turn` counts the changes."""
        fields = {
            "episode_id": self.about.episode_id,
            "sequence": turn,
            "frame_index": after_frame,
            "driver": int(by_person),
            "device": "",
        }
        self.write(DRIVER_TOPIC, fields, stamp_ns)

    def finish(self, end_ns: int, log_ns: int | None = None) -> None:
        """Write that the episode has ended at the stamp `end_ns`, recorded at `log_ns` where that is another time."""
        self._status(_FINISHED, end_ns, end_ns if log_ns is None else log_ns)

    def close(self) -> None:
        """End the bag, so that it can be read; nothing more can be written. BagError where it cannot be."""
        self._writer.close()

    def copy(self, topic: str, data: bytes, publish_ns: int, log_ns: int) -> None:
        """Write a serialized message as it is, waiting for the disk where it is slow.

        Raises:
            BagError: it cannot be written.
        """
        while not self._writer.write(topic, data, publish_ns, log_ns):
            time.sleep(_WAIT_S)

    def _status(self, state: int, stamp_ns: int, log_ns: int) -> None:
        about = self.about
        message = {
            "header": {"stamp": _time(stamp_ns), "frame_id": ""},
            "episode_id": about.episode_id,
            "task": about.task,
            "variant": about.variant,
            "instruction": about.instruction,
            "seed": about.seed,
            "start_time": _time(about.start_ns),
            "frame_period": about.period_s,
            "state": state,
        }
        self.copy("/episode/status", self._encode["/episode/status"](message), log_ns, log_ns)


def picture_topic(view: str, quality: int = JPEG_QUALITY) -> str:
    """Return the topic for a view's images: raw, or compressed with a JPEG quality."""
    raw, compressed = picture_topics(view)
    return f"/{raw}" if quality == RAW else f"/{compressed}"


def _offered(topic: str) -> TopicInfo:
    if not view_on(topic):
        return OFFERED[topic]
    return TopicInfo(COMPRESSED if topic.endswith("/compressed") else IMAGE, _PICTURES)


def _encoder(kind: str) -> Callable[[Any], bytes]:
    """Return a function that makes a message of that type from a mapping of its fields."""
    encoder: Callable[[Any], bytes] = serialize_dynamic(kind, collect_schema(kind).text)[kind]
    return encoder


def _time(ns: int) -> dict[str, int]:
    return {"sec": ns // 1_000_000_000, "nanosec": ns % 1_000_000_000}


def _stack_version() -> str:
    try:
        return version("kc_vla")
    except PackageNotFoundError:
        return "source tree"


def _alone(part: Path) -> int:
    """Lock a folder that grows until the descriptor is closed, and delete what a killed process has left in it.

    Raises:
        ExchangeError: another process fills it.
        OSError: it cannot be made.
    """
    part.mkdir(parents=True, exist_ok=True)
    lock = os.open(part, os.O_RDONLY | os.O_DIRECTORY)
    if not locks(lock):
        os.close(lock)
        raise ExchangeError(f"{part} is being filled by another import of the same episode: wait for it")
    for left in part.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    return lock
