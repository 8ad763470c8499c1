"""What an episode consists of once it is read from a bag: plain values, images left in the bag."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from kc_vla.bags.messages import MessageRef
from kc_vla.keyframes.smoothing import Decision


class CommandMode(IntEnum):
    """As in kc_vla_msgs/msg/ArmCommand."""

    JOINT_POSITION = 0
    TOOL_DELTA = 1
    HOLD = 2


@dataclass(frozen=True)
class RecordedStatus:
    """The episode as it was announced. Times in ns of ROS time, periods in s."""

    episode_id: str
    task: str
    variant: str
    instruction: str
    seed: int
    start_ns: int
    frame_period_s: float

    @property
    def simulated(self) -> bool:
        """Return whether it happened in the simulator: a robot knows neither variant nor seed."""
        return bool(self.variant)

    @property
    def title(self) -> str:
        """Return the task, and in the simulator variant and seed, as people name an episode."""
        return f"{self.task} ({self.variant}), seed {self.seed}" if self.simulated else self.task


@dataclass(frozen=True)
class RecordedResult:
    """How it ended; see kc_vla_msgs/msg/EpisodeResult for the fields."""

    success: bool
    completion_rate: float
    stages: tuple[str, ...]
    completed_stages: int
    reason: str
    steps: int
    duration_s: float
    end_ns: int
    oracle_frames: tuple[int, ...]
    oracle_labels: tuple[str, ...]

    @property
    def judged(self) -> bool:
        """Return whether anything can judge how well it went: on a robot nothing does."""
        return bool(self.stages)


@dataclass(frozen=True)
class RecordedFrame:
    """One moment as the cameras saw it.

    Attributes:
        index: frame number, 0 at the start of the episode.
        stamp_ns: capture time of the image of the first view, ns of ROS time.
        pictures: in the bag, by view: that of the first, and of each other view that which is nearest in time; a view
            of which none lies within a frame period is left out.
    """

    index: int
    stamp_ns: int
    pictures: Mapping[str, MessageRef]


@dataclass(frozen=True)
class Score:
    """The selector's word on one frame; the score is NaN where it had none."""

    frame: int
    phase: int
    score: float
    threshold: float
    source: str


@dataclass(frozen=True)
class RecordedEvent:
    """A step in the life of a keyframe."""

    type: Decision
    frame: int
    decided_at_frame: int
    phase: int
    label: str
    score: float
    source: str


@dataclass(frozen=True)
class KeyframeState:
    """A keyframe as it stands after the events so far.

    Attributes:
        phase: its index, 0 for frame 0.
        frame: its frame number.
        label: name of the phase that it completes.
        score: 0..1.
        committed: final; otherwise a candidate.
        decided_at_frame: the frame at which this state was decided.
    """

    phase: int
    frame: int
    label: str
    score: float
    committed: bool
    decided_at_frame: int


@dataclass(frozen=True)
class RecordedChunk:
    """One action chunk. `actions` is (horizon, dimension) float32; times in ns and s."""

    sequence: int
    observation_frame: int
    stamp_ns: int
    latency_s: float
    period_s: float
    actions: npt.NDArray[np.float32]
    names: tuple[str, ...]
    keyframes_used: tuple[int, ...]
    backend: str


@dataclass(frozen=True)
class RecordedCommand:
    """One set-point for the arm. `values` is (dimension,) float32, empty for a hold; `names` says what they are."""

    step: int
    stamp_ns: int
    mode: CommandMode
    values: npt.NDArray[np.float32]
    chunk_sequence: int
    chunk_index: int
    reason: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class DriverChange:
    """A change between policy and person in control of the robot; see kc_vla_msgs/msg/Driver.

    Attributes:
        after_frame: newest frame at the time of the change.
        by_person: whether a person drives from then on, otherwise the policy.
        device: the device of the person.
    """

    after_frame: int
    by_person: bool
    device: str


@dataclass(frozen=True)
class NodeDiagnostics:
    """The last word of a node on /diagnostics. `level`: 0 ok, 1 warning, 2 error, 3 stale."""

    name: str
    level: int
    message: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Takeover:
    """Frames in which a person drove, both ends included; `device`: what with."""

    first: int
    last: int
    device: str


def takeovers(changes: tuple[DriverChange, ...], last: int) -> tuple[Takeover, ...]:
    """Return the segments in which a person was in control, in order, up to the episode's `last` frame."""
    found: list[Takeover] = []
    ends = [*(each.after_frame for each in changes[1:]), last][: len(changes)]
    for change, until in zip(changes, ends, strict=True):
        if not change.by_person or until <= change.after_frame:
            continue
        if found and (found[-1].last, found[-1].device) == (change.after_frame, change.device):
            found.append(Takeover(found.pop().first, until, change.device))
        else:
            found.append(Takeover(change.after_frame + 1, until, change.device))
    return tuple(found)


def driven_by_person(changes: tuple[DriverChange, ...], frames: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return whether a person was in control in each of `frames` (T,), their indices.

    Before the first change the policy is.
    """
    indices = np.asarray(frames, np.int64)
    person = np.zeros(indices.shape, bool)
    for change in changes:
        person[indices > change.after_frame] = change.by_person
    return person


def keyframes_after(events: tuple[RecordedEvent, ...], frame: int | None = None) -> tuple[KeyframeState, ...]:
    """Return the keyframes that stand, by phase, after the events decided up to `frame` (all by default)."""
    states: dict[int, KeyframeState] = {}
    for event in events:
        if frame is not None and event.decided_at_frame > frame:
            continue
        if event.type == Decision.RESET:
            states.clear()
            continue
        states[event.phase] = KeyframeState(
            phase=event.phase,
            frame=event.frame,
            label=event.label,
            score=event.score,
            committed=event.type == Decision.COMMITTED,
            decided_at_frame=event.decided_at_frame,
        )
    return tuple(states[phase] for phase in sorted(states))
