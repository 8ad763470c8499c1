"""Makes small but complete episode bags for tests: a counting episode with drawn pictures.

The lamp over the table lights up between the keyframes as in the real task, so that pictures, scores, events and
commands tell one story.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import String

from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import Qos, RecordedEpisodeInfo, TopicInfo
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla_msgs.msg import ActionChunk, ArmCommand, Driver, EpisodeResult, EpisodeStatus, KeyframeEvent, KeyframeScore

START_NS = 1_000_000_000
PERIOD_NS = 50_000_000
WALL_NS = 1_790_000_000_000_000_000
ORACLE = (0, 12, 20, 32, 40)
LABELS = ("start", "flash 1 on", "flash 1 off", "flash 2 on", "flash 2 off")
NAMES = ["dx", "dy", "dz", "drx", "dry", "drz", "gripper"]

TOPICS = {
    "/third_person/image_raw": TopicInfo("sensor_msgs/msg/Image", Qos(reliable=False, depth=1)),
    "/wrist/image_raw": TopicInfo("sensor_msgs/msg/Image", Qos(reliable=False, depth=1)),
    "/joint_states": TopicInfo("sensor_msgs/msg/JointState", Qos(reliable=False, depth=5)),
    "/episode/status": TopicInfo("kc_vla_msgs/msg/EpisodeStatus", Qos(transient_local=True, depth=1)),
    "/episode/result": TopicInfo("kc_vla_msgs/msg/EpisodeResult", Qos(transient_local=True, depth=1)),
    "/keyframes/score": TopicInfo("kc_vla_msgs/msg/KeyframeScore"),
    "/keyframes/event": TopicInfo("kc_vla_msgs/msg/KeyframeEvent"),
    "/policy/chunk": TopicInfo("kc_vla_msgs/msg/ActionChunk"),
    "/arm/command": TopicInfo("kc_vla_msgs/msg/ArmCommand", Qos(depth=1)),
    "/diagnostics": TopicInfo("diagnostic_msgs/msg/DiagnosticArray"),
}
DRIVER = TopicInfo("kc_vla_msgs/msg/Driver", Qos(transient_local=True, depth=1))

_TEXT = TopicInfo("std_msgs/msg/String", Qos(transient_local=True, depth=1))
PLANNER = {"/planner/steps": _TEXT, "/planner/belief": _TEXT}


@dataclass(frozen=True)
class Script:
    """What happens in the episode; frames at 20 Hz."""

    size: int = 64
    steps: int = 60
    task: str = "counting"
    variant: str = "paper"
    seed: int = 3
    episode_id: str = "counting-000003-1"
    instruction: str = "Wait for the signal light to flash twice, then push the cube to the target."
    success: bool = True
    reason: str = "success"
    oracle: tuple[int, ...] = ORACLE
    late: int = 0  # frames by which the last keyframe is late
    hold_steps: tuple[int, ...] = ()
    hold_reason: str = "chunk is stale"
    with_result: bool = True
    chunk_length: int = 16
    joints: tuple[str, ...] = tuple(f"joint{i}" for i in range(1, 8))
    takeovers: tuple[tuple[int, int], ...] = ()  # first and last frame of each; the arm is then a person's
    plan: tuple[tuple[int, str, str, bool | None], ...] = ()  # frame, kind, text, success: then nobody else judges it
    belief: str = ""  # of the planner at the end, JSON


def info(script: Script) -> RecordedEpisodeInfo:
    return RecordedEpisodeInfo(script.episode_id, script.task, script.seed, script.instruction, "0.1.0", WALL_NS)


def write_episode(folder: Path, script: Script = Script(), storage: Storage = Storage.MCAP) -> Path:
    """Write the episode as the bag `folder` and return it."""
    topics = {
        **TOPICS,
        **({"/policy/driver": DRIVER} if script.takeovers else {}),
        **(PLANNER if script.plan else {}),
    }
    writer = EpisodeBagWriter(folder, topics, info(script), storage=storage)
    for topic, message, time_ns in _serialized(script):
        assert writer.write(topic, message, time_ns, time_ns)
    writer.close()
    return folder


@lru_cache(maxsize=4)  # many tests of a file write the same episode, and drawing it takes longer than the test
def _serialized(script: Script) -> Sequence[tuple[str, bytes, int]]:
    return [(topic, serialize_message(message), time_ns) for topic, message, time_ns in messages(script)]


def action(step: int) -> list[float]:
    """Return the action of a step: distinct for every step, so that a mix-up shows."""
    return [0.001 * step, -0.002, 0.0, 0.0, 0.0, 0.0, float(step >= 10)]


def messages(script: Script) -> Iterator[tuple[str, Any, int]]:
    """Yield (topic, message, wall time in ns) in order."""
    yield "/episode/status", _status(script, EpisodeStatus.RUNNING, 0), WALL_NS
    ours = (*script.oracle[:-1], script.oracle[-1] + script.late)
    sequence = 0
    for frame in range(script.steps + 1):
        wall = WALL_NS + frame * PERIOD_NS
        yield "/third_person/image_raw", _image(third_person_view(script, frame), frame), wall
        yield "/wrist/image_raw", _image(wrist_view(script, frame), frame), wall + 1
        yield "/joint_states", _joints(script, frame), wall + 2
        yield "/keyframes/score", _score(script, frame, ours), wall + 3
        for event in _events(script, frame, ours):
            event.sequence = sequence
            sequence += 1
            yield "/keyframes/event", event, wall + 4
        if frame % (script.chunk_length // 2) == 0:
            yield "/policy/chunk", _chunk(script, frame, ours), wall + 5
        for driver in _drivers(script, frame):
            yield "/policy/driver", driver, wall + 5
        yield "/arm/command", _command(script, frame), wall + 6
        for at, kind, text, success in script.plan:
            if at == frame:
                step = {"kind": kind, "text": text, "now_s": frame * PERIOD_NS / 1e9, "success": success}
                yield "/planner/steps", String(data=json.dumps(step)), wall + 6
        if frame % 20 == 0:
            yield "/diagnostics", _diagnostics(frame), wall + 7
    if script.belief:
        yield "/planner/belief", String(data=script.belief), WALL_NS + script.steps * PERIOD_NS + 8
    if script.with_result:
        wall = WALL_NS + (script.steps + 1) * PERIOD_NS
        yield "/diagnostics", _diagnostics(script.steps), wall
        yield "/episode/result", _result(script), wall + 1
        yield "/episode/status", _status(script, EpisodeStatus.FINISHED, script.steps), wall + 2


def stamp(frame: int) -> Time:
    ns = START_NS + frame * PERIOD_NS
    return Time(sec=ns // 10**9, nanosec=ns % 10**9)


def lamp_is_on(script: Script, frame: int) -> bool:
    return any(on <= frame < off for on, off in zip(script.oracle[1::2], script.oracle[2::2], strict=False))


def third_person_view(script: Script, frame: int) -> np.ndarray:
    """Draw table, lamp, target, cube and arm at 4x and shrink, so that edges are smooth."""
    picture = np.full((256, 256, 3), (196, 203, 209), np.uint8)
    cv2.rectangle(picture, (0, 110), (255, 255), (156, 120, 86), -1)
    cv2.ellipse(picture, (190, 200), (26, 13), 0, 0, 360, (214, 88, 88), -1, cv2.LINE_AA)
    on = lamp_is_on(script, frame)
    if on:
        cv2.circle(picture, (56, 92), 26, (240, 226, 160), -1, cv2.LINE_AA)
    cv2.line(picture, (56, 96), (56, 150), (70, 74, 80), 5, cv2.LINE_AA)
    cv2.circle(picture, (56, 92), 13, (255, 214, 64) if on else (96, 92, 80), -1, cv2.LINE_AA)
    push = max(0.0, (frame - script.oracle[-1]) / max(1, script.steps - script.oracle[-1]))
    x = int(96 + 90 * push)
    cv2.rectangle(picture, (x, 176), (x + 24, 200), (64, 110, 200), -1)
    hand = (x - 8, 168 - int(10 * math.sin(frame / 9) * (1 - push)))
    cv2.line(picture, (128, 16), (hand[0] + 30, hand[1] - 74), (232, 234, 238), 15, cv2.LINE_AA)
    cv2.line(picture, (hand[0] + 30, hand[1] - 74), hand, (232, 234, 238), 11, cv2.LINE_AA)
    cv2.circle(picture, hand, 8, (60, 62, 66), -1, cv2.LINE_AA)
    return cv2.resize(picture, (script.size, script.size), interpolation=cv2.INTER_AREA)


def wrist_view(script: Script, frame: int) -> np.ndarray:
    """Draw what the hand sees: table, cube, its own fingers, brighter while the lamp is on."""
    picture = np.full((256, 256, 3), (156, 120, 86), np.uint8)
    if lamp_is_on(script, frame):
        picture = np.clip(picture.astype(np.int16) + 28, 0, 255).astype(np.uint8)
    push = max(0.0, (frame - script.oracle[-1]) / max(1, script.steps - script.oracle[-1]))
    cv2.rectangle(picture, (94, int(60 - 20 * push)), (164, int(130 - 20 * push)), (64, 110, 200), -1)
    for left in (52, 176):
        cv2.rectangle(picture, (left, 150), (left + 28, 255), (60, 62, 66), -1)
    return cv2.resize(picture, (script.size, script.size), interpolation=cv2.INTER_AREA)


def _image(picture: np.ndarray, frame: int) -> Image:
    height, width, _ = picture.shape
    message = Image(height=height, width=width, encoding="rgb8", step=width * 3)
    message.header.stamp = stamp(frame)
    data = array("B")
    data.frombytes(picture.tobytes())
    message.data = data
    return message


def _status(script: Script, state: int, frame: int) -> EpisodeStatus:
    message = EpisodeStatus(
        episode_id=script.episode_id,
        task=script.task,
        variant=script.variant,
        instruction=script.instruction,
        seed=script.seed,
        start_time=stamp(0),
        frame_period=PERIOD_NS / 1e9,
        state=state,
    )
    message.header.stamp = stamp(frame)
    return message


def _drivers(script: Script, frame: int) -> Iterator[Driver]:
    """Who drives from the frame after this one on, where it is another one."""
    turns = [(turn, after) for first, last in script.takeovers for turn, after in ((1, first - 1), (0, last))]
    said = [(0, -1), *turns] if script.takeovers else []
    for sequence, (by_person, after) in enumerate(said):
        if max(after, 0) == frame:
            message = Driver(
                episode_id=script.episode_id,
                sequence=sequence,
                frame_index=max(after, 0),
                driver=by_person,
                device="joy" if by_person else "",
            )
            message.header.stamp = stamp(frame)
            yield message


def _joints(script: Script, frame: int) -> JointState:
    names, count = list(script.joints), len(script.joints)
    message = JointState(name=names, position=[0.01 * frame] * count, velocity=[0.2] * count, effort=[0.0] * count)
    message.header.stamp = stamp(frame)
    return message


def _score(script: Script, frame: int, ours: tuple[int, ...]) -> KeyframeScore:
    near = min(abs(frame - own) for own in ours)
    message = KeyframeScore(
        episode_id=script.episode_id,
        frame_index=frame,
        phase=min(sum(own < frame for own in ours), len(ours) - 1),
        score=math.exp(-((near / 1.6) ** 2)) * 0.96 + 0.02,
        threshold=0.5,
        source="oracle",
    )
    message.header.stamp = stamp(frame)
    return message


def _events(script: Script, frame: int, ours: tuple[int, ...]) -> list[KeyframeEvent]:
    found = []
    if frame == 0:
        found.append((KeyframeEvent.RESET, 0, 0))
        found.append((KeyframeEvent.COMMITTED, 0, 0))
    for phase, own in enumerate(ours[1:], start=1):
        if frame == own - 1:
            found.append((KeyframeEvent.PROVISIONAL, own - 1, phase))
        elif frame == own:
            found.append((KeyframeEvent.SUPERSEDED, own, phase))
        elif frame == own + 4:
            found.append((KeyframeEvent.COMMITTED, own, phase))
    messages_ = []
    for kind, own, phase in found:
        message = KeyframeEvent(
            episode_id=script.episode_id,
            type=kind,
            frame_index=own,
            decided_at_frame=frame,
            phase=phase,
            label=LABELS[phase],
            score=0.97,
            source="oracle",
        )
        message.header.stamp = stamp(own)
        messages_.append(message)
    return messages_


def _chunk(script: Script, frame: int, ours: tuple[int, ...]) -> ActionChunk:
    rows = [value for i in range(script.chunk_length) for value in action(frame + i)]
    message = ActionChunk(
        episode_id=script.episode_id,
        sequence=frame // (script.chunk_length // 2),
        observation_stamp=stamp(frame),
        observation_frame=frame,
        latency=0.012,
        action_type=ActionChunk.TOOL_DELTA,
        names=NAMES,
        period=0.05,
        horizon=script.chunk_length,
        dimension=7,
        actions=rows,
        keyframes_used=[own for own in ours if own <= frame],
        backend="expert",
    )
    message.header.stamp = stamp(frame)
    return message


def _command(script: Script, step: int) -> ArmCommand:
    half = script.chunk_length // 2
    message = ArmCommand(episode_id=script.episode_id, step=step)
    message.header.stamp = stamp(step)
    if step in script.hold_steps:
        message.mode, message.reason = ArmCommand.HOLD, script.hold_reason
        return message
    message.mode, message.names, message.values = ArmCommand.TOOL_DELTA, NAMES, action(step)
    message.chunk_sequence, message.chunk_index = step // half, step % half
    return message


def _diagnostics(frame: int) -> DiagnosticArray:
    def status(name: str, **values: str) -> DiagnosticStatus:
        pairs = [KeyValue(key=key.replace("__", "/"), value=value) for key, value in values.items()]
        return DiagnosticStatus(level=DiagnosticStatus.OK, name=name, message="ok", values=pairs)

    message = DiagnosticArray(
        status=[
            status(
                "keyframe_selector",
                latency__image_to_event__count=str(frame),
                latency__image_to_event__p50_ms="3.100",
                latency__image_to_event__p99_ms="7.250",
                **{"dropped__third_person__image_raw": "0"},
            ),
            status(
                "policy_server",
                latency__predict__count="8",
                latency__predict__p50_ms="11.900",
                latency__predict__p99_ms="19.400",
                **{"dropped__wrist__image_raw": "2"},
            ),
        ]
    )
    message.header.stamp = stamp(frame)
    return message


def _result(script: Script) -> EpisodeResult:
    stages = ["waited for the first flash", "waited for the second flash", "cube at the target"]
    done = 3 if script.success else 2
    if script.plan:
        stages, done = [], 0
    message = EpisodeResult(
        episode_id=script.episode_id,
        task=script.task,
        seed=script.seed,
        success=script.success,
        completion_rate=done / 3,
        stages=stages,
        completed_stages=done,
        reason=script.reason,
        steps=script.steps,
        duration=script.steps * PERIOD_NS / 1e9,
        oracle_frames=list(script.oracle),
        oracle_labels=list(LABELS),
    )
    message.header.stamp = stamp(script.steps)
    return message
