"""The keyframes of an episode beside those of the ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import KeyframeState
from kc_vla.keyframes.metrics import TOLERANCE_FRAMES, paired


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
        """Return frames by which the choice is late (negative: early); None where there is nothing to compare."""
        if self.frame is None or self.oracle_frame is None:
            return None
        return self.frame - self.oracle_frame

    @property
    def right(self) -> bool:
        """Return whether the choice is final and within the tolerance of the ground truth."""
        return self.committed and self.difference is not None and abs(self.difference) <= TOLERANCE_FRAMES

    @property
    def differs(self) -> bool:
        """Return whether the ground truth is another frame."""
        return self.oracle_frame is not None and self.difference != 0


def match_keyframes(episode: RecordedEpisode) -> tuple[KeyframeMatch, ...]:
    """Return one entry for each phase that the selector or the ground truth knows, by phase."""
    result = episode.result
    frames, labels = (result.oracle_frames, result.oracle_labels) if result is not None else ((), ())
    return match_with_truth(episode.keyframes, frames, labels)


def match_with_truth(
    keyframes: Sequence[KeyframeState], frames: Sequence[int], labels: Sequence[str]
) -> tuple[KeyframeMatch, ...]:
    """Pair keyframes with those of the ground truth: by phase, or, of a source that knows of none, by nearness.

    Args:
        keyframes: that were selected.
        frames: of the ground truth, by phase, ascending; none where there is no ground truth.
        labels: of these.
    """
    ours = {keyframe.phase: keyframe for keyframe in keyframes}
    truth = {phase: phase for phase in range(len(frames))}
    phases = {keyframe.label for keyframe in keyframes if keyframe.phase > 0}
    if phases and labels and phases.isdisjoint(labels):
        truth = _nearest(keyframes, frames)
    matches = []
    for phase in sorted({*ours, *truth}):
        own, number = ours.get(phase), truth.get(phase)
        told = labels[number] if number is not None and number < len(labels) else f"keyframe {phase}"
        matches.append(
            KeyframeMatch(
                phase=phase,
                label=own.label if own is not None else told,
                frame=own.frame if own is not None else None,
                committed=own is not None and own.committed,
                score=own.score if own is not None else None,
                oracle_frame=None if number is None else frames[number],
                has_truth=bool(frames),
            )
        )
    return tuple(matches)


def _nearest(keyframes: Sequence[KeyframeState], frames: Sequence[int]) -> dict[int, int]:
    """Return which keyframe of the ground truth each phase stands for.

    Those for which none stands come after the last.
    """
    ours = sorted(keyframes, key=lambda keyframe: keyframe.frame)
    pairs = paired([keyframe.frame for keyframe in ours], frames)
    found = {ours[place].phase: number for place, number in pairs.items()}
    missed = [number for number in range(len(frames)) if number not in found.values()]
    return found | dict(enumerate(missed, max(keyframe.phase for keyframe in ours) + 1))
