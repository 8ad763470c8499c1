"""An episode from its bag: what happened, in order, with the images left in the bag until they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.messages import MessageRef
from kc_vla.core import topics
from kc_vla.core.driver import Driver
from kc_vla.core.stamps import nanoseconds
from kc_vla.episodes.episode_data import (
    CommandMode,
    DriverChange,
    KeyframeState,
    NodeDiagnostics,
    RecordedChunk,
    RecordedCommand,
    RecordedEvent,
    RecordedFrame,
    RecordedResult,
    Score,
    Takeover,
    keyframes_after,
    takeovers,
)
from kc_vla.episodes.plan import PlanStep, carried_out, remembered, step_from
from kc_vla.episodes.recording import RUNNING, Recording, announced, beside, within
from kc_vla.keyframes.smoothing import Decision

_NO_MOTION = 0.0
_GRIPPER_OPEN = 1.0


class RecordedEpisode:
    """One recorded episode.

    Attributes:
        bag: where it came from.
        recording: what else is in it.
        info: what the bag says of itself; None where it does not.
        status: how the episode was announced.
        result: how it ended; None where the bag ends before it.
        views: names of the robot's views; the images of the first are the frames.
        frames: every frame of the episode, in order.
        scores: the selector's word by frame number.
        events: the life of the keyframes, in order.
        chunks: every action chunk, in order.
        commands: every arm command, in order.
        changes: of who drives, in order; empty where nobody could take over.
        instructions: what a planner was asked for, with its steps and what came of it; empty without a planner.
        remembered: what the planner believed at the end, by the ids of things; see `belief`.
        diagnostics: the last word of every node, by its name.
        message_counts: messages in the bag by topic.
        damages: one line for each torn file.
        episode_ids: of all episodes that are announced in the bag; more than one in a bag that was merged.
    """

    def __init__(self, bag: Path) -> None:
        """Read `bag`, a bag folder, an .mcap or a .db3 file.

        Raises:
            BagReadError: it cannot be read, holds no episode (no RUNNING status), or its messages are not ours.
        """
        self.bag = bag
        self.recording = Recording(bag)
        try:
            self._load()
        except (AttributeError, TypeError, ValueError) as error:
            raise BagReadError(f"{bag} was recorded with other message definitions: {error}") from error

    @property
    def keyframes(self) -> tuple[KeyframeState, ...]:
        """Return the keyframes as they stood at the end, by phase."""
        return keyframes_after(self.events)

    @property
    def takeovers(self) -> tuple[Takeover, ...]:
        """Return where a person was in control in place of the policy."""
        last = max(
            (*(frame.index for frame in self.frames[-1:]), *(command.step for command in self.commands)), default=0
        )
        return takeovers(self.changes, last)

    def image(self, ref: MessageRef) -> npt.NDArray[np.uint8]:
        """Return an image of a frame as (height, width, 3) uint8 RGB; errors as `Recording.image`."""
        return self.recording.image(ref)

    def time_s(self, stamp_ns: int) -> float:
        """Return seconds since the start of the episode for a ROS time."""
        return (stamp_ns - self.status.start_ns) / 1e9

    def pictures(self, view: str) -> list[tuple[int, MessageRef]]:
        """Stamp (ns) and place of the images of a view, by time; those that are the frames from the episode."""
        refs = self.recording.pictures(view)
        found = sorted(((self.recording.stamp_ns(ref), ref) for ref in refs), key=itemgetter(0))
        if view != self.views[0]:
            return found
        end_ns = self.result.end_ns if self.result is not None else None
        return list(within(found, itemgetter(0), self.status.start_ns, end_ns))

    def _load(self) -> None:
        decoded: dict[str, list[Any]] = {name: [] for name in _DECODED_TOPICS}
        steps: list[PlanStep | None] = []
        frame, belief = 0, ""
        for name, message in self.recording.walk(*_DECODED_TOPICS, *_PLANNER_TOPICS):
            if name == topics.PLANNER_STEPS:
                steps.append(step_from(message.data, frame))
            elif name == topics.PLANNER_BELIEF:
                belief = message.data
            else:
                decoded[name].append(message)
            frame = message.frame_index if name == "keyframes/score" else frame
        self.instructions = carried_out(filter(None, steps))
        self.remembered = remembered(belief)
        self.message_counts, self.damages = self.recording.counts, self.recording.damages
        self.info, self.views = self.recording.info, self.recording.views
        running = [m for m in decoded["episode/status"] if m.state == RUNNING]
        self.episode_ids = tuple(dict.fromkeys(m.episode_id for m in running))
        status = announced(decoded["episode/status"], self.info)
        if status is None:
            hint = f" ({self.damages[0]})" if self.damages else ""
            raise BagReadError(f"{self.bag} holds no episode: no RUNNING message on episode/status{hint}")
        self.status = status
        own = {
            name: [m for m in decoded[name] if m.episode_id == status.episode_id]
            for name in _DECODED_TOPICS
            if name != "diagnostics"
        }
        self.result = next(map(_result, own["episode/result"]), None)
        self.scores = {m.frame_index: score_from(m) for m in own["keyframes/score"]}
        self.frames = self._frames({nanoseconds(m.header.stamp): m.frame_index for m in own["keyframes/score"]})
        # A recorder that starts again hears the earlier events once more: each counts once.
        events = {(m.sequence, m.type, m.phase, m.frame_index): event_from(m) for m in own["keyframes/event"]}
        self.events = tuple(events.values())
        self.chunks = tuple(chunk_from(m) for m in own["policy/chunk"])
        self.commands = tuple(_command(m) for m in own["arm/command"])
        self.changes = _changes(own["policy/driver"])
        self.diagnostics: dict[str, NodeDiagnostics] = {}
        for array in decoded["diagnostics"]:
            self.diagnostics |= diagnostics_from(array)

    def _frames(self, numbered: Mapping[int, int]) -> tuple[RecordedFrame, ...]:
        """Number the frames as the selector did by their stamps, or by these alone where it was silent."""
        period_ns = max(1, round(self.status.frame_period_s * 1e9))
        first, *beyond = self.views
        pictures = self.pictures(first)
        stamps = np.array([stamp for stamp, _ in pictures], np.int64)
        others = {view: beside(stamps, self.pictures(view), period_ns) for view in beyond}
        frames = {}
        for k, (stamp, ref) in enumerate(pictures):
            index = numbered.get(stamp, round((stamp - self.status.start_ns) / period_ns))
            seen = {view: other for view, found in others.items() if (other := found[k]) is not None}
            frames[index] = RecordedFrame(index, stamp, {first: ref, **seen})
        return tuple(frames[index] for index in sorted(frames))


def recorded_actions(episode: RecordedEpisode) -> npt.NDArray[np.float32]:
    """Return the arm's commands as (T, 7) float32 by control step: tool deltas in m and rad, gripper 0..1.

    A step without a command, or with a hold, is no motion with the gripper as it was (open at first).

    Raises:
        BagReadError: the bag holds no tool-delta commands, or joint commands, or numbers that are not finite.
    """
    commands, bag = episode.commands, episode.bag
    if any(c.mode == CommandMode.JOINT_POSITION for c in commands):
        raise BagReadError(f"{bag} holds joint commands: only episodes of tool deltas can be replayed")
    by_step = {c.step: c.values for c in commands if c.mode == CommandMode.TOOL_DELTA}
    if not by_step:
        raise BagReadError(f"{bag} holds no arm commands: there is nothing to replay")
    actions = np.full((max(by_step) + 1, 7), _NO_MOTION, dtype=np.float32)
    gripper = _GRIPPER_OPEN
    for step in range(len(actions)):
        values = by_step.get(step)
        if values is not None:
            if values.shape != (7,) or not np.isfinite(values).all():
                raise BagReadError(f"{bag}: the command of step {step} is not 7 finite numbers")
            actions[step] = values
            gripper = float(values[6])
        actions[step, 6] = gripper
    return actions


_DECODED_TOPICS = (
    "episode/status",
    "episode/result",
    "keyframes/score",
    "keyframes/event",
    "policy/chunk",
    "policy/driver",
    "arm/command",
    "diagnostics",
)

_PLANNER_TOPICS = (topics.PLANNER_STEPS, topics.PLANNER_BELIEF)


def _changes(messages: list[Any]) -> tuple[DriverChange, ...]:
    """Return the changes of control, each once and where it was.

    A recorder that starts again hears the earlier ones once more.
    """
    told = {(nanoseconds(m.header.stamp), m.sequence): m for m in messages}
    return tuple(
        DriverChange(m.frame_index, m.driver == Driver.PERSON, m.device) for _, m in sorted(told.items()) if m.sequence
    )


def _result(m: Any) -> RecordedResult:
    return RecordedResult(
        success=m.success,
        completion_rate=m.completion_rate,
        stages=tuple(m.stages),
        completed_stages=m.completed_stages,
        reason=m.reason,
        steps=m.steps,
        duration_s=m.duration,
        end_ns=nanoseconds(m.header.stamp),
        oracle_frames=tuple(m.oracle_frames),
        oracle_labels=tuple(m.oracle_labels),
    )


def score_from(m: Any) -> Score:
    """Return the score in a message, from a bag or from a topic."""
    return Score(m.frame_index, m.phase, m.score, m.threshold, m.source)


def event_from(m: Any) -> RecordedEvent:
    """Return the event in a message, from a bag or from a topic."""
    return RecordedEvent(Decision(m.type), m.frame_index, m.decided_at_frame, m.phase, m.label, m.score, m.source)


def chunk_from(m: Any) -> RecordedChunk:
    """Return the chunk in a message, from a bag or from a topic."""
    actions = np.asarray(m.actions, dtype=np.float32)
    fits = actions.size == m.horizon * m.dimension
    return RecordedChunk(
        sequence=m.sequence,
        observation_frame=m.observation_frame,
        stamp_ns=nanoseconds(m.header.stamp),
        latency_s=m.latency,
        period_s=m.period,
        # A chunk whose numbers do not fit its shape was refused by the controller; here it is empty.
        actions=actions.reshape(m.horizon, m.dimension) if fits else np.empty((0, 0), np.float32),
        names=tuple(m.names),
        keyframes_used=tuple(m.keyframes_used),
        backend=m.backend,
    )


def _command(m: Any) -> RecordedCommand:
    return RecordedCommand(
        step=m.step,
        stamp_ns=nanoseconds(m.header.stamp),
        mode=CommandMode(m.mode),
        values=np.asarray(m.values, dtype=np.float32),
        chunk_sequence=m.chunk_sequence,
        chunk_index=m.chunk_index,
        reason=m.reason,
        names=tuple(m.names),
    )


def diagnostics_from(array: Any) -> dict[str, NodeDiagnostics]:
    """Return what a message reports of each node, by its name, from a bag or from a topic."""
    found = {}
    for status in array.status:
        level = int.from_bytes(status.level, "little") if isinstance(status.level, bytes) else int(status.level)
        values = {pair.key: pair.value for pair in status.values}
        found[status.name] = NodeDiagnostics(status.name, level, status.message, values)
    return found
