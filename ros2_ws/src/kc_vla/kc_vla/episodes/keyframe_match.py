"""The keyframes of an episode beside those of the ground truth."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.keyframes.metrics import TOLERANCE_FRAMES


@dataclass(frozen=True)
class KeyframeMatch:
    """One phase as the selector saw it and as it was.

    Attributes:
        phase: index of the keyframe, 0 for frame 0.
        label: name of the phase.
        frame: frame number that the selector chose; None where it chose none.
        committed: whether that choice was final.
        score: of that frame, 0..1.
        oracle_frame: frame number of the ground truth; None where it knows no such phase.
        has_truth: whether this episode has a ground truth at all.
    """

    phase: int
    label: str
    frame: int | None
    committed: bool
    score: float | None
    oracle_frame: int | None
    has_truth: bool

    @property
    def difference(self) -> int | None:
        """Frames by which the choice is late (negative: early); None where there is nothing to compare."""
        if self.frame is None or self.oracle_frame is None:
            return None
        return self.frame - self.oracle_frame

    @property
    def right(self) -> bool:
        """Whether the choice is final and within the tolerance of the ground truth."""
        return self.committed and self.difference is not None and abs(self.difference) <= TOLERANCE_FRAMES

    @property
    def differs(self) -> bool:
        """Whether the ground truth is another frame."""
        return self.oracle_frame is not None and self.difference != 0


def match_keyframes(episode: RecordedEpisode) -> tuple[KeyframeMatch, ...]:
    """Return one entry for each phase that the selector or the ground truth knows, by phase."""
    result = episode.result
    frames = result.oracle_frames if result is not None else ()
    labels = result.oracle_labels if result is not None else ()
    ours = {keyframe.phase: keyframe for keyframe in episode.keyframes}
    matches = []
    for phase in sorted({*ours, *range(len(frames))}):
        own = ours.get(phase)
        label = own.label if own is not None else (labels[phase] if phase < len(labels) else f"keyframe {phase}")
        matches.append(
            KeyframeMatch(
                phase=phase,
                label=label,
                frame=own.frame if own is not None else None,
                committed=own is not None and own.committed,
                score=own.score if own is not None else None,
                oracle_frame=frames[phase] if phase < len(frames) else None,
                has_truth=bool(frames),
            )
        )
    return tuple(matches)
