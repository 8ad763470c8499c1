"""How a live run and a recorded episode differ: keyframes, scores, frames, chunks, latency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kc_vla.episodes.episode_data import KeyframeState, NodeDiagnostics, RecordedChunk, RecordedEvent, Score
from kc_vla.keyframes.metrics import TOLERANCE_FRAMES


@dataclass(frozen=True)
class LiveRun:
    """What the live nodes said.

    Attributes:
        scores: the selector's word by frame number.
        events: the life of the keyframes, in order.
        chunks: the policy server's answers by the position of the chunk among those of the bag.
        refusals: why there is no answer, likewise; None where the policy was not asked at all.
        diagnostics: the last word of every node, by its name.
    """

    scores: Mapping[int, Score] = field(default_factory=dict)
    events: tuple[RecordedEvent, ...] = ()
    chunks: Mapping[int, RecordedChunk] = field(default_factory=dict)
    refusals: Mapping[int, str] | None = field(default_factory=dict)
    diagnostics: Mapping[str, NodeDiagnostics] = field(default_factory=dict)


@dataclass(frozen=True)
class Annotated:
    """A person's keyframes.

    Attributes:
        author: who.
        frames: frame number by phase.
    """

    author: str
    frames: Mapping[int, int]


@dataclass(frozen=True)
class KeyframePair:
    """The keyframe of one phase in the bag and as it was found live; None where there is none.

    Attributes:
        phase: index of the keyframe, 0 for frame 0.
        bag: as the bag has it.
        live: as the live selector has it.
        oracle: frame of the ground truth; None where the bag knows none of this phase.
        annotated: frame that a person marked; None where nobody did.
    """

    phase: int
    bag: KeyframeState | None
    live: KeyframeState | None
    oracle: int | None
    annotated: int | None = None

    @property
    def difference(self) -> int | None:
        """Return frames by which the live one is later (negative: earlier); None where one is missing."""
        return None if self.bag is None or self.live is None else self.live.frame - self.bag.frame

    @property
    def as_annotated(self) -> bool:
        """Return whether it was committed live within the tolerance of what a person marked."""
        if self.live is None or self.annotated is None:
            return False
        return self.live.committed and abs(self.live.frame - self.annotated) <= TOLERANCE_FRAMES

    @property
    def label(self) -> str:
        """Return the label of the phase: that of the bag, otherwise that of the live selector."""
        state = self.bag or self.live
        return state.label if state is not None else f"keyframe {self.phase}"

    @property
    def same(self) -> bool:
        """Return whether frame, label and finality are those of the bag."""
        if self.bag is None or self.live is None:
            return self.bag is self.live
        return (self.bag.frame, self.bag.label, self.bag.committed) == (
            self.live.frame,
            self.live.label,
            self.live.committed,
        )

    @property
    def verdict(self) -> str:
        """Return the difference in a few words."""
        if self.bag is None or self.live is None:
            return "not found" if self.bag is None and self.live is None else "missing" if self.bag else "extra"
        found = []
        if self.difference:
            frames = "frame" if abs(self.difference) == 1 else "frames"
            found.append(f"{abs(self.difference)} {frames} {'later' if self.difference > 0 else 'earlier'}")
        if self.bag.label != self.live.label:
            found.append(f"called '{self.live.label}'")
        if self.bag.committed != self.live.committed:
            found.append("not committed" if self.bag.committed else "committed")
        return ", ".join(found) or "same"


@dataclass(frozen=True)
class ScoreDifference:
    """How far two score curves lie apart, over the frames that both have a score of.

    Attributes:
        frames: how many these are.
        mean, largest: absolute difference; NaN without such frames.
        largest_at: frame of the largest; None without such frames.
        one_sided: frames of which only one of the two has a score that is a number.
        other_phase: frames at which the two waited for different keyframes.
    """

    frames: int
    mean: float
    largest: float
    largest_at: int | None
    one_sided: int
    other_phase: int


@dataclass(frozen=True)
class FrameCount:
    """What became of the frames.

    Attributes:
        played: images of the first view of the episode in the bag.
        scored_in_bag: of how many the bag holds a score.
        scored: of how many the live selector gave a score.
        dropped: frame numbers of the others, ascending.
    """

    played: int
    scored_in_bag: int
    scored: int
    dropped: tuple[int, ...]


@dataclass(frozen=True)
class ColumnDifference:
    """How far the actions lie apart in one column, in `unit`.

    Attributes:
        name: of the column.
        unit: "m", "rad" or "0..1"; empty where it is not known.
        largest: absolute difference.
        largest_at: control step of it.
        rms: root of the mean square.
    """

    name: str
    unit: str
    largest: float
    largest_at: int
    rms: float


@dataclass(frozen=True)
class ChunkDifference:
    """The chunks of the bag and the answers to the same questions.

    Attributes:
        asked: chunks in the bag, each asked for once.
        answered: answers that came.
        missing: (frame, reason) of each that did not.
        later: answers that were computed from a later frame than the chunk in the bag.
        other_keyframes: (frame, those of the bag, the live ones) of each answer whose policy was given other keyframes.
        other_columns: answers that cannot be compared, for their columns are others or their steps do not overlap.
        actions: number of actions compared, paired by control step.
        columns: what they differ by.
    """

    asked: int
    answered: int
    missing: tuple[tuple[int, str], ...]
    later: int
    other_keyframes: tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]
    other_columns: int
    actions: int
    columns: tuple[ColumnDifference, ...]


@dataclass(frozen=True)
class Stage:
    """How long one stage of a node took, ms; None where it was not measured."""

    node: str
    stage: str
    bag: Mapping[str, float] | None
    live: Mapping[str, float] | None


@dataclass(frozen=True)
class Loss:
    """How many messages of a topic a node says it lost; None where it says nothing of that."""

    node: str
    topic: str
    bag: int | None
    live: int | None


@dataclass(frozen=True)
class Comparison:
    """Everything that is compared; `chunks` is None where the policy was not asked, `annotated` where nobody marked."""

    keyframes: tuple[KeyframePair, ...]
    scores: ScoreDifference
    frames: FrameCount
    chunks: ChunkDifference | None
    stages: tuple[Stage, ...]
    losses: tuple[Loss, ...]
    annotated: Annotated | None = None

    @property
    def same_keyframes(self) -> bool:
        """Return whether the live selector found what the bag holds, and nothing else."""
        return all(pair.same for pair in self.keyframes)
