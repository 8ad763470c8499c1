"""Between messages and the plain objects of the stack."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from numpy.typing import NDArray
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import Header

from kc_vla.cameras.calibration import Calibration, calibration_of
from kc_vla.cameras.errors import CalibrationError
from kc_vla.core.chunk import ActionType, Chunk
from kc_vla.core.episode import Episode
from kc_vla.core.stamps import nanoseconds as nanoseconds
from kc_vla.keyframes.joining import Index
from kc_vla.keyframes.live import ScoredFrame
from kc_vla.keyframes.observation import Keyframe, Observation
from kc_vla.keyframes.selector import Held, SelectorEvent
from kc_vla.media.images import ImageError, raw_pixels
from kc_vla_msgs.msg import ActionChunk, EpisodeStatus, KeyframeEvent, KeyframeIndex, KeyframeScore, View
from kc_vla_msgs.msg import Keyframe as KeyframeMessage
from kc_vla_msgs.msg import Observation as ObservationMessage

FUTURE_NS = 10_000_000_000
"""How far ahead of a node's clock a stamp may be, ns: simulated time comes in jumps, and on a topic of its own."""


class BadMessageError(ValueError):
    """A message that contradicts itself; the text says how."""


def check_stamp(stamp_ns: int, now_ns: int) -> None:
    """Refuse a stamp from the future: everything that is true would look late beside it. No clock shows one below 0.

    Raises:
        BadMessageError: the stamp lies more than `FUTURE_NS` after `now_ns`, or is negative.
    """
    if stamp_ns < 0:
        raise BadMessageError(f"its stamp is {stamp_ns / 1e9:g} s: no clock shows a time below 0")
    ahead = stamp_ns - now_ns
    if ahead > FUTURE_NS:
        raise BadMessageError(
            f"its stamp lies {ahead / 1e9:.0f} s ahead of this node's clock: do all nodes agree on use_sim_time?"
        )


def time_message(stamp_ns: int) -> Time:
    """Return a stamp as a message."""
    return Time(sec=stamp_ns // 1_000_000_000, nanosec=stamp_ns % 1_000_000_000)


def episode_from(message: EpisodeStatus) -> Episode | None:
    """Return the episode in a status, or None if its frame period is not positive and finite."""
    period_ns = round(message.frame_period * 1e9) if math.isfinite(message.frame_period) else 0
    if period_ns <= 0:
        return None
    return Episode(
        id=message.episode_id,
        task=message.task,
        instruction=message.instruction,
        start_ns=nanoseconds(message.start_time),
        period_ns=period_ns,
        running=message.state == EpisodeStatus.RUNNING,
        seed=int(message.seed),
        variant=message.variant,
    )


def attributes_message(attributes: Mapping[str, str]) -> list[KeyValue]:
    """Return what else is known of an object."""
    return [KeyValue(key=name, value=value) for name, value in attributes.items()]


def bytes_array(data: NDArray[np.uint8]) -> array[int]:
    """Return pixels in the one form that a message field takes without a slow copy element by element."""
    out = array("B")
    out.frombytes(np.ascontiguousarray(data).data)
    return out


def floats_array(data: NDArray[Any]) -> array[float]:
    """Return numbers in the form that a `float32[]` field takes fast, row-major."""
    out = array("f")
    out.frombytes(np.ascontiguousarray(data, np.float32).tobytes())
    return out


def image_message(pixels: NDArray[np.uint8], stamp: Time, frame_id: str) -> Image:
    """Return an rgb8 image message of (H, W, 3) uint8 RGB pixels."""
    message = Image(height=pixels.shape[0], width=pixels.shape[1], encoding="rgb8", step=pixels.shape[1] * 3)
    message.header.stamp, message.header.frame_id = stamp, frame_id
    message.data = bytes_array(pixels)
    return message


def depth_message(depth: NDArray[np.float32], stamp: Time, frame_id: str) -> Image:
    """Return a 32FC1 image message of (H, W) float32 depth, m."""
    message = Image(height=depth.shape[0], width=depth.shape[1], encoding="32FC1", step=depth.shape[1] * 4)
    message.header.stamp, message.header.frame_id = stamp, frame_id
    message.is_bigendian = int(sys.byteorder == "big")
    message.data = bytes_array(np.ascontiguousarray(depth).view(np.uint8))
    return message


def image_pixels(message: Image) -> NDArray[np.uint8]:
    """Return an image message's pixels, (H, W, 3) uint8 RGB; for rgb8 without padding a view of the message.

    Raises:
        BadMessageError: the encoding is not known, or the data has another length than the size says.
    """
    try:
        return raw_pixels(message)
    except ImageError as error:
        raise BadMessageError(f"an image {error}") from error


def check_sample(message: Any) -> None:
    """Check a message of a sensor by itself; kinds that are not checked pass.

    Raises:
        BadMessageError: an image is malformed; joint names, positions and velocities (if any) differ in number.
    """
    if isinstance(message, Image):
        image_pixels(message)
    elif isinstance(message, JointState):
        names, positions, velocities = len(message.name), len(message.position), len(message.velocity)
        if names != positions:
            raise BadMessageError(f"joint states name {names} joints and give {positions} positions")
        if velocities not in (0, names):
            raise BadMessageError(f"joint states name {names} joints and give {velocities} velocities")


def point_message(position: Sequence[float] | NDArray[np.float64]) -> Point:
    """Return a place, m."""
    x, y, z = map(float, position)
    return Point(x=x, y=y, z=z)


def set_vector(message: Point | Vector3, numbers: Sequence[float]) -> None:
    """Put three numbers, m, into a message that is there: a deep message makes its parts itself, and once is enough."""
    message.x, message.y, message.z = map(float, numbers)


def pose_message(pose: Sequence[float] | NDArray[np.float64]) -> Pose:
    """Return a pose message of x, y, z (m) and quaternion x, y, z, w."""
    qx, qy, qz, qw = map(float, pose[3:])
    return Pose(position=point_message(pose[:3]), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


def joint_message(names: tuple[str, ...], positions: Any, velocities: Any, stamp: Time) -> JointState:
    """Return a joint state message (rad, m; rad/s, m/s)."""
    message = JointState(name=list(names), position=list(map(float, positions)), velocity=list(map(float, velocities)))
    message.header.stamp = stamp
    return message


def observation_message(seen: Observation, episode_id: str, frame_id: str, images: bool) -> ObservationMessage:
    """Return an observation message; without `images` no views are in it."""
    stamp = time_message(seen.stamp_ns)
    message = ObservationMessage(
        episode_id=episode_id,
        frame_index=seen.frame,
        joints=joint_message(seen.joint_names, seen.joint_positions, seen.joint_velocities, stamp),
        tool_pose=pose_message(seen.tool_pose),
    )
    message.header.stamp, message.header.frame_id = stamp, frame_id
    if images:
        message.views = [
            View(name=view, image=image_message(pixels, stamp, f"{view}_camera")) for view, pixels in seen.views.items()
        ]
    return message


def keyframe_message(keyframe: Keyframe, episode_id: str, frame_id: str, images: bool) -> KeyframeMessage:
    """Return a keyframe message; without `images` no views are in it."""
    return KeyframeMessage(
        label=keyframe.label,
        phase=keyframe.phase,
        score=keyframe.score,
        source=keyframe.source,
        committed=keyframe.committed,
        observation=observation_message(keyframe.observation, episode_id, frame_id, images),
    )


def event_message(event: SelectorEvent, episode: Episode, sequence: int, source: str, frame_id: str) -> KeyframeEvent:
    """Return the message of a keyframe event, stamped as its keyframe; `frame_id` of the camera."""
    message = KeyframeEvent(
        episode_id=episode.id,
        sequence=sequence,
        type=int(event.decision),
        frame_index=event.frame,
        decided_at_frame=event.decided_at,
        phase=event.phase,
        label=event.label,
        score=event.score,
        source=source,
    )
    message.header.stamp = time_message(episode.start_ns + event.frame * episode.period_ns)
    message.header.frame_id = frame_id
    return message


def score_message(
    found: ScoredFrame, episode: Episode, frame: int, events: int, source: str, header: Header
) -> KeyframeScore:
    """Return the message of a frame's score; `events` is their number up to it, `header` that of its image."""
    return KeyframeScore(
        header=header,
        episode_id=episode.id,
        frame_index=frame,
        phase=found.phase,
        score=found.score,
        threshold=found.threshold,
        source=source,
        events=events,
    )


def index_from(message: KeyframeIndex) -> Index:
    """Return what the buffer holds by its message."""
    columns = (message.frame_indices, message.phases, message.scores, message.committed)
    held = tuple(Held(*row) for row in zip(*columns, strict=True))
    return Index(message.episode_id, message.newest_frame, message.events, held)


def chunk_message(
    chunk: Chunk, episode: Episode, stamp_ns: int, backend: str, latency_s: float, keyframes: Sequence[int] = ()
) -> ActionChunk:
    """Return the message of a chunk; its header is left to the node that publishes it.

    Args:
        chunk: of actions.
        episode: that it is for.
        stamp_ns: of the observation that it was computed from.
        backend: name of what computed it.
        latency_s: that it took, s.
        keyframes: frames of those that were used.
    """
    message = ActionChunk(
        episode_id=episode.id,
        sequence=chunk.sequence,
        observation_stamp=time_message(stamp_ns),
        observation_frame=chunk.start,
        latency=latency_s,
        action_type=int(chunk.action_type),
        names=list(chunk.names),
        period=episode.period_ns * 1e-9,
        horizon=chunk.actions.shape[0],
        dimension=chunk.actions.shape[1],
        keyframes_used=keyframes,
        backend=backend,
    )
    message.actions = floats_array(chunk.actions)
    return message


def chunk_from(message: ActionChunk) -> Chunk:
    """Return the chunk in a message.

    Raises:
        BadMessageError: the shape that it states is not the one that it has, or its action type is unknown.
    """
    values = np.array(message.actions, np.float32)
    if values.size == 0:  # in words of its own: lines that differ in numbers alone are logged as one kind
        raise BadMessageError(f"chunk {message.sequence} carries no actions")
    if message.horizon * message.dimension != values.size:
        raise BadMessageError(
            f"chunk {message.sequence} says {message.horizon} actions of {message.dimension} numbers and carries "
            f"{values.size}"
        )
    if message.action_type not in tuple(ActionType):
        raise BadMessageError(f"chunk {message.sequence} has the unknown action type {message.action_type}")
    return Chunk(
        sequence=message.sequence,
        start=message.observation_frame,
        action_type=ActionType(message.action_type),
        names=tuple(message.names),
        actions=values.reshape(message.horizon, message.dimension),
    )


def info_message(known: Calibration | None, width: int, height: int, stamp: Time, frame_id: str) -> CameraInfo:
    """Return a calibration as a message; all zeros where there is none, as CameraInfo prescribes."""
    message = CameraInfo(width=width, height=height)
    message.header.stamp, message.header.frame_id = stamp, frame_id
    if known is not None:
        message.distortion_model, message.d = known.distortion_model, list(known.d)
        message.k, message.r, message.p = list(known.k), list(known.r), list(known.p)
    return message


def calibration_in(message: CameraInfo, name: str) -> Calibration | None:
    """Return the calibration in a message, called `name`; None where it says that there is none.

    Raises:
        BadMessageError: it holds something that is not a finite number.
    """
    try:
        return calibration_of(message, name)
    except CalibrationError as error:
        raise BadMessageError(str(error)) from error
