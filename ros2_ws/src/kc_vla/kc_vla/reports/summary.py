"""The summary of an episode: what a person or a benchmark wants to know of it, as plain values for JSON."""

from __future__ import annotations

import math
from typing import Any

from kc_vla.core.holds import is_wait
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode, NodeDiagnostics
from kc_vla.episodes.keyframe_match import match_keyframes
from kc_vla.episodes.plan import CarriedOut
from kc_vla.reports.verdict import success_of

_BEGINS_S = 3.0
"""So long an arm may wait for its first chunk, and for the first joint states, s."""


def summarize(episode: RecordedEpisode) -> dict[str, Any]:
    """Return the content of summary.json.

    Where the bag ends before the result, `success` and everything else of the result is None; where nobody judged it,
    `success` and `completion_rate` are. For `success` a planner judges what it carried out.
    """
    status, result = episode.status, episode.result
    nodes = [episode.diagnostics[name] for name in sorted(episode.diagnostics)]
    return {
        "episode_id": status.episode_id,
        "task": status.task,
        "variant": status.variant if status.simulated else None,
        "seed": status.seed if status.simulated else None,
        "instruction": status.instruction,
        "stack_version": episode.info.stack_version if episode.info is not None else None,
        "settings": _settings(episode),
        "success": success_of(episode),
        "completion_rate": round(result.completion_rate, 6) if result is not None and result.judged else None,
        "stages": list(result.stages) if result is not None else None,
        "completed_stages": result.completed_stages if result is not None else None,
        "reason": result.reason if result is not None else None,
        "instructions": [_instruction(each) for each in episode.instructions],
        "remembered": dict(episode.remembered),
        "steps": result.steps if result is not None else None,
        "duration_s": result.duration_s if result is not None else None,
        "frames": len(episode.frames),
        "keyframes": _keyframes(episode),
        "latency_ms": {node.name: stages for node in nodes if (stages := latencies(node))},
        "dropped": {node.name: topics for node in nodes if (topics := dropped(node))},
        "problems": {node.name: node.message for node in nodes if node.level > 0},
        "chunks": len(episode.chunks),
        "commands": len(episode.commands),
        "holds": _holds(episode),
        "takeovers": [{"first": each.first, "last": each.last, "device": each.device} for each in episode.takeovers],
        "messages": dict(sorted(episode.message_counts.items())),
        "damages": list(episode.damages),
    }


def _instruction(each: CarriedOut) -> dict[str, Any]:
    steps = [{"s": round(step.told_s, 2), "frame": step.frame, step.kind: step.text} for step in each.steps]
    return {"instruction": each.instruction, "success": each.success, "reason": each.reason, "steps": steps}


def _settings(episode: RecordedEpisode) -> dict[str, str]:
    """Return what the episode was run with, as those who took part in it said; what nobody said is left out."""
    told = {
        "policy": {chunk.backend for chunk in episode.chunks} - {each.device for each in episode.takeovers}
        or _said(episode, "policy_server", "backend"),
        "keyframes": {score.source for score in episode.scores.values()}
        or _said(episode, "keyframe_selector", "source"),
        "selector_runs_on": _said(episode, "keyframe_selector", "runs on"),
        "mode": _said(episode, "arm_controller", "mode"),
        "looks": _said(episode, "maniskill_bridge", "looks"),
    }
    return {name: text for name, values in told.items() if (text := ", ".join(sorted(filter(None, values))))}


def _said(episode: RecordedEpisode, node: str, key: str) -> set[str]:
    """Return what a node reported of itself, or nothing."""
    diagnostics = episode.diagnostics.get(node)
    return {diagnostics.values[key]} if diagnostics is not None and key in diagnostics.values else set()


def _keyframes(episode: RecordedEpisode) -> dict[str, Any]:
    matches = match_keyframes(episode)
    has_truth = any(match.has_truth for match in matches)
    return {
        "ours": [
            {
                "phase": match.phase,
                "label": match.label,
                "frame": match.frame,
                "score": _rounded(match.score),
                "committed": match.committed,
                "difference": match.difference,
            }
            for match in matches
            if match.frame is not None
        ],
        "oracle": [match.oracle_frame for match in matches if match.oracle_frame is not None],
        "wanted": sum(match.oracle_frame is not None for match in matches if match.phase > 0),
        "right": sum(match.right for match in matches if match.phase > 0),
        "equal": all(m.difference == 0 and m.committed for m in matches) if has_truth else None,
    }


def _rounded(score: float | None) -> float | None:
    return round(score, 4) if score is not None and math.isfinite(score) else None


def latencies(node: NodeDiagnostics) -> dict[str, dict[str, float]]:
    """Return the figures of each stage of a node, from keys `latency/<stage>/<figure>`."""
    stages: dict[str, dict[str, float]] = {}
    for key, value in node.values.items():
        head, _, rest = key.partition("/")
        stage, _, figure = rest.rpartition("/")
        number = _number(value)
        if head == "latency" and stage and number is not None:
            stages.setdefault(stage, {})[figure.removesuffix("_ms")] = int(number) if figure == "count" else number
    return stages


def dropped(node: NodeDiagnostics) -> dict[str, int]:
    """Return how many messages a node lost of each topic, from keys `dropped/<topic>`."""
    found = {}
    for key, value in node.values.items():
        head, _, topic = key.partition("/")
        number = _number(value)
        if head == "dropped" and topic and number is not None:
            found[topic] = int(number)
    return found


def _number(text: str) -> float | None:
    """Return the finite number in `text`, or None (JSON knows no NaN)."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _holds(episode: RecordedEpisode) -> list[dict[str, Any]]:
    """Return each reason for which the arm held, how often, and when first; a short wait to begin is none."""
    moved = (command.step for command in episode.commands if command.mode != CommandMode.HOLD)
    begun = next(moved, 0)
    if begun * episode.status.frame_period_s > _BEGINS_S:
        begun = 0
    holds: dict[str, dict[str, Any]] = {}
    for command in episode.commands:
        if command.mode == CommandMode.HOLD and not (command.step < begun and is_wait(command.reason)):
            entry = holds.setdefault(command.reason, {"reason": command.reason, "count": 0, "first_step": command.step})
            entry["count"] += 1
    return list(holds.values())
