"""Which keyframes of a bag go into a data set: a person's, the selector's, or the simulator's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.origin import Origin
from kc_vla.datasets.exchange.rows import EpisodeRows
from kc_vla.datasets.lerobot.annotations import Annotation
from kc_vla.episodes.annotation_log import AnnotationError, confirmed_track
from kc_vla.episodes.episode import RecordedEpisode


@dataclass(frozen=True)
class Chosen:
    """A keyframe of a bag.

    Attributes:
        stamp_ns: of its image of the first view.
        phase: index of the keyframe in its task, 0 for frame 0.
        label: its name in the task table.
        source: kind of annotator.
        author: who or what it was.
        score: its confidence, 0..1.
    """

    stamp_ns: int
    phase: int
    label: str
    source: str
    author: str
    score: float


def confirmed_keyframes(bags: Sequence[Path]) -> dict[Path, tuple[Chosen, ...]]:
    """Return the keyframes of each bag's newest confirmed annotation.

    Raises:
        ExchangeError: bags have none, all are named; or an annotation cannot be read.
    """
    found, without = {}, []
    for bag in bags:
        try:
            track = confirmed_track(bag)
        except AnnotationError as error:
            raise ExchangeError(str(error)) from error
        if track is None:
            without.append(str(bag))
            continue
        found[bag] = tuple(
            Chosen(mark.stamp_ns, mark.phase, mark.label, mark.source, track.author, mark.score) for mark in track.marks
        )
    if without:
        raise ExchangeError(
            f"{len(without)} of {len(bags)} bags have no confirmed annotation: {', '.join(without)}: "
            "confirm their keyframes on the annotation page, or ask for --keyframes committed or oracle"
        )
    return found


def recorded_keyframes(episode: RecordedEpisode, origin: Origin) -> tuple[Chosen, ...]:
    """Return the keyframes that the selector committed, or the oracle's, as the bag has them.

    Raises:
        ExchangeError: the bag has none, or of a frame that is not in it.
    """
    stamps = {frame.index: frame.stamp_ns for frame in episode.frames}
    result = episode.result
    if origin is Origin.ORACLE:
        if result is None or not result.oracle_frames:
            raise ExchangeError("it holds no keyframes of an oracle: only episodes of the simulator that ended do")
        labels = result.oracle_labels
        known = [(frame, phase, labels[phase], "kc_vla_sim", 1.0) for phase, frame in enumerate(result.oracle_frames)]
    else:
        known = [(k.frame, k.phase, k.label, "keyframe_selector", k.score) for k in episode.keyframes if k.committed]
        if not known:
            raise ExchangeError("it has no keyframe that its selector confirmed: choose other --keyframes")
    missing = [frame for frame, *_ in known if frame not in stamps]
    if missing:
        raise ExchangeError(f"frame {missing[0]}: it is a keyframe, but its image of the first view is not in the bag")
    return tuple(
        Chosen(stamps[frame], phase, label, origin.value, author, score) for frame, phase, label, author, score in known
    )


def annotation_rows(chosen: Sequence[Chosen], rows: EpisodeRows, episode: int) -> tuple[Annotation, ...]:
    """Return the keyframes as rows of `annotations.jsonl`, at the rows of the data set nearest to their stamps.

    Phase 0 is frame 0 by definition, wherever it was marked.

    Args:
        chosen: by phase.
        rows: of the bag.
        episode: index in the data set.

    Raises:
        ExchangeError: a phase is left out, a stamp lies outside of the episode, or two keyframes are on one row; the
            message names the bag.
    """
    stamps, near = rows.clock.stamps, 1_000_000_000 // rows.clock.fps
    made: list[Annotation] = []
    for place, keyframe in enumerate(sorted(chosen, key=lambda keyframe: keyframe.phase)):
        told = f"{rows.bag}, keyframe {keyframe.phase} '{keyframe.label}'"
        if keyframe.phase != place:
            raise ExchangeError(f"{told}: keyframe {place} is not annotated: the ones after it would be taken for it")
        row = int(np.abs(stamps - keyframe.stamp_ns).argmin()) if place else 0
        if place and abs(int(stamps[row]) - keyframe.stamp_ns) > near:
            raise ExchangeError(f"{told}: its stamp {keyframe.stamp_ns} ns is not one of the episode's frames")
        if made and row <= made[-1].frame:
            raise ExchangeError(f"{told}, frame {row}: keyframes must ascend, this one follows {made[-1].frame}")
        about = (keyframe.phase, keyframe.label, keyframe.source, keyframe.author, keyframe.score)
        made.append(Annotation(episode, row, row * 1_000_000_000 // rows.clock.fps, *about))
    return tuple(made)
