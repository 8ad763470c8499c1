"""What live nodes made of a recorded episode beside what its bag holds: keyframes, scores, frames, chunks, latency."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from kc_vla.core.chunk import TOOL_DELTA_NAMES, TOOL_DELTA_UNITS
from kc_vla.core.robot import unit_of
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import KeyframeState, NodeDiagnostics, RecordedChunk, Score, keyframes_after
from kc_vla.replay.differences import (
    Annotated,
    ChunkDifference,
    ColumnDifference,
    Comparison,
    FrameCount,
    KeyframePair,
    LiveRun,
    Loss,
    ScoreDifference,
    Stage,
)
from kc_vla.reports.summary import dropped, latencies

NODES = ("keyframe_selector", "keyframe_buffer", "policy_server")
"""The nodes that run live."""
_TOOL_DELTA_UNITS = dict(zip(TOOL_DELTA_NAMES, TOOL_DELTA_UNITS, strict=True))


def last_frame(episode: RecordedEpisode) -> int:
    """Return the last frame number of an episode; -1 without frames."""
    return episode.frames[-1].index if episode.frames else -1


def compare(episode: RecordedEpisode, live: LiveRun, annotated: Annotated | None = None) -> Comparison:
    """Compare a live run with the episode that was played to it, and with what a person marked in it."""
    last = last_frame(episode)
    events = tuple(event for event in live.events if event.decided_at_frame <= last)
    return Comparison(
        keyframes=_keyframes(episode, keyframes_after(events), annotated.frames if annotated is not None else {}),
        scores=score_difference(episode.scores, live.scores),
        frames=_frames(episode, live.scores),
        chunks=None if live.refusals is None else _chunks(episode, live.chunks, live.refusals),
        stages=_stages(episode.diagnostics, live.diagnostics),
        losses=_losses(episode.diagnostics, live.diagnostics),
        annotated=annotated,
    )


def score_difference(bag: Mapping[int, Score], live: Mapping[int, Score]) -> ScoreDifference:
    """Compare two score curves, each by frame number."""
    both = sorted(bag.keys() & live.keys())
    pairs = [(frame, bag[frame].score, live[frame].score) for frame in both]
    told = [(frame, abs(a - b)) for frame, a, b in pairs if math.isfinite(a) and math.isfinite(b)]
    largest = max(told, key=lambda pair: pair[1], default=(None, math.nan))
    return ScoreDifference(
        frames=len(told),
        mean=math.fsum(apart for _, apart in told) / len(told) if told else math.nan,
        largest=largest[1],
        largest_at=largest[0],
        one_sided=sum(math.isfinite(a) != math.isfinite(b) for _, a, b in pairs),
        other_phase=sum(bag[frame].phase != live[frame].phase for frame in both),
    )


def _keyframes(
    episode: RecordedEpisode, live: tuple[KeyframeState, ...], marked: Mapping[int, int]
) -> tuple[KeyframePair, ...]:
    truth = dict(enumerate(episode.result.oracle_frames)) if episode.result is not None else {}
    recorded = {state.phase: state for state in episode.keyframes}
    found = {state.phase: state for state in live}
    return tuple(
        KeyframePair(phase, recorded.get(phase), found.get(phase), truth.get(phase), marked.get(phase))
        for phase in sorted({*recorded, *found, *truth, *marked})
    )


def _frames(episode: RecordedEpisode, scores: Mapping[int, Score]) -> FrameCount:
    played = [frame.index for frame in episode.frames]
    dropped_frames = tuple(index for index in played if index not in scores)
    return FrameCount(
        played=len(played),
        scored_in_bag=sum(index in episode.scores for index in played),
        scored=len(played) - len(dropped_frames),
        dropped=dropped_frames,
    )


def _chunks(
    episode: RecordedEpisode, answers: Mapping[int, RecordedChunk], refusals: Mapping[int, str]
) -> ChunkDifference:
    answered = [(chunk, answers[n]) for n, chunk in enumerate(episode.chunks) if n in answers]
    missing = [
        (chunk.observation_frame, refusals.get(n, "it was not asked for: the replay ended before"))
        for n, chunk in enumerate(episode.chunks)
        if n not in answers
    ]
    overlaps = [found for pair in answered if (found := _overlap(*pair)) is not None]
    names = answered[0][0].names if overlaps else ()
    comparable = [(steps, apart) for columns, steps, apart in overlaps if columns == names]
    is_given = any(chunk.keyframes_used for chunk in episode.chunks)  # a person who leads the arm is given none
    return ChunkDifference(
        asked=len(episode.chunks),
        answered=len(answered),
        missing=tuple(missing),
        later=sum(answer.observation_frame > chunk.observation_frame for chunk, answer in answered),
        other_keyframes=tuple(
            (chunk.observation_frame, chunk.keyframes_used, answer.keyframes_used)
            for chunk, answer in answered
            if is_given and answer.keyframes_used != chunk.keyframes_used
        ),
        other_columns=len(answered) - len(comparable),
        actions=sum(len(steps) for steps, _ in comparable),
        columns=_columns(names, comparable),
    )


def _overlap(chunk: RecordedChunk, answer: RecordedChunk) -> tuple[tuple[str, ...], np.ndarray, np.ndarray] | None:
    """Return the columns, control steps (n,) and differences (n, dimension) of what both plan; None for nothing."""
    first = max(chunk.observation_frame, answer.observation_frame)
    end = min(c.observation_frame + len(c.actions) for c in (chunk, answer))
    if chunk.names != answer.names or first >= end:
        return None
    a, b = (c.actions[first - c.observation_frame : end - c.observation_frame] for c in (chunk, answer))
    return chunk.names, np.arange(first, end), b.astype(np.float64) - a


def _columns(names: tuple[str, ...], comparable: list[tuple[np.ndarray, np.ndarray]]) -> tuple[ColumnDifference, ...]:
    if not comparable:
        return ()
    steps = np.concatenate([steps for steps, _ in comparable])
    apart = np.abs(np.concatenate([apart for _, apart in comparable]))
    return tuple(
        ColumnDifference(
            name=name,
            unit=_unit(name, names),
            largest=float(apart[:, column].max()),
            largest_at=int(steps[apart[:, column].argmax()]),
            rms=float(np.sqrt(np.mean(apart[:, column] ** 2))),
        )
        for column, name in enumerate(names)
    )


def _unit(name: str, names: tuple[str, ...]) -> str:
    if names == TOOL_DELTA_NAMES:
        return _TOOL_DELTA_UNITS[name]
    return unit_of(name)


def _stages(bag: Mapping[str, NodeDiagnostics], live: Mapping[str, NodeDiagnostics]) -> tuple[Stage, ...]:
    found = []
    for name in NODES:
        before, now = (latencies(known[name]) if name in known else {} for known in (bag, live))
        found += [Stage(name, stage, before.get(stage), now.get(stage)) for stage in sorted({*before, *now})]
    return tuple(found)


def _losses(bag: Mapping[str, NodeDiagnostics], live: Mapping[str, NodeDiagnostics]) -> tuple[Loss, ...]:
    found = []
    for name in NODES:
        before, now = (dropped(known[name]) if name in known else {} for known in (bag, live))
        found += [Loss(name, topic, before.get(topic), now.get(topic)) for topic in sorted({*before, *now})]
    return tuple(found)
