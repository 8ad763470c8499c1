"""The rows and parts of the live page that each message becomes, as JSON of bounded size."""

from __future__ import annotations

import math
from typing import Any

from kc_vla.core.robot import Robot, unit_of
from kc_vla.core.untrusted import parsed_json
from kc_vla.web.numbers import number, numbers

_MOST_ACTIONS, _MOST_NUMBERS, _MOST_KEYFRAMES = 200, 32, 100
_TEXT = 2000
_MOST_THINGS, _MOST_LETTERS = 200, 4_000_000
_PERSON = 1
"""Value of `driver` in Driver.msg when a person has taken over."""


def robot_part(robot: Robot, kind: str = "") -> dict[str, Any]:
    """Return the robot: each joint with its bounds (rad, of fingers m), the views, and the kind of arm in words."""
    bounds = [*zip(numbers(robot.limits.lowest), numbers(robot.limits.highest), strict=True)]
    bounds += [(0.0, robot.opening / len(robot.gripper))] * len(robot.gripper)
    joints = [
        {"name": name, "low": low, "high": high, "unit": unit_of(name)}
        for name, (low, high) in zip(robot.names, bounds, strict=True)
    ]
    return {"name": robot.name, "kind": kind, "joints": joints, "views": list(robot.views)}


def episode_part(status: Any) -> dict[str, Any]:
    """Convert an EpisodeStatus message for the page."""
    return {
        "id": status.episode_id[:_TEXT],
        "task": status.task[:_TEXT],
        "variant": status.variant[:_TEXT],
        "instruction": status.instruction[:_TEXT],
        "seed": int(status.seed),
        "state": ("idle", "running", "finished")[min(int(status.state), 2)],
        "period": number(status.frame_period),
    }


def result_part(result: Any) -> dict[str, Any]:
    """Convert an EpisodeResult message for the page."""
    return {
        "id": result.episode_id[:_TEXT],
        "success": bool(result.success),
        "reason": result.reason[:_TEXT],
        "completed": int(result.completed_stages),
        "stages": [stage[:_TEXT] for stage in result.stages[:_MOST_KEYFRAMES]],
        "steps": int(result.steps),
        "seconds": number(result.duration),
    }


def driver_part(driver: Any) -> dict[str, Any]:
    """Convert a Driver message for the page."""
    return {
        "id": driver.episode_id[:_TEXT],
        "person": int(driver.driver) == _PERSON,
        "device": driver.device[:_TEXT],
        "frame": int(driver.frame_index),
    }


def joints_part(state: Any) -> dict[str, float | None]:
    """Convert a JointState message to the position of each joint, rad or m, by its name."""
    return dict(zip(state.name[:_MOST_NUMBERS], numbers(state.position[:_MOST_NUMBERS]), strict=False))


def score_row(score: Any) -> list[float | None]:
    """Convert a KeyframeScore message to frame, score, threshold and phase."""
    return [int(score.frame_index), number(score.score), number(score.threshold), int(score.phase)]


def event_row(event: Any) -> dict[str, Any]:
    """Convert a KeyframeEvent message for the page."""
    kinds = ("candidate", "superseded", "committed", "reset")
    return {
        "kind": kinds[min(int(event.type), 3)],
        "frame": int(event.frame_index),
        "decided": int(event.decided_at_frame),
        "phase": int(event.phase),
        "label": event.label[:_TEXT],
        "score": number(event.score),
    }


def keyframes_part(index: Any) -> list[dict[str, Any]]:
    """Convert a KeyframeIndex message to the keyframes that the buffer holds, a mapping each."""
    columns = (index.frame_indices, index.phases, index.labels, index.scores, index.committed)
    rows = list(zip(*columns, strict=False))[-_MOST_KEYFRAMES:]
    return [
        {"frame": int(f), "phase": int(p), "label": label[:_TEXT], "score": number(s), "committed": bool(c)}
        for f, p, label, s, c in rows
    ]


def step_row(text: str) -> dict[str, Any] | None:
    """Convert a step of the planner, JSON, for the page; return None where it is none."""
    step = _object_in(text)
    if step is None or not isinstance(step.get("now_s"), int | float):
        return None
    kind, told = (str(step.get(name, ""))[:_TEXT] for name in ("kind", "text"))
    return {"kind": kind, "text": told, "now_s": number(step["now_s"])}


def belief_part(text: str) -> dict[str, Any] | None:
    """Convert what the planner believes, JSON, for the page; return None where it is none.

    It has the things by their ids, what is in the hand, and the time, s. Furniture comes too: it is what things are on.
    """
    belief = _object_in(text)
    things = None if belief is None else belief.get("things")
    if belief is None or not isinstance(things, dict):
        return None
    try:
        shown = {str(name)[:_TEXT]: _thing_part(each) for name, each in list(things.items())[:_MOST_THINGS]}
        return {"holds": str(belief["holds"])[:_TEXT], "seconds": number(belief["seconds"]), "things": shown}
    except (KeyError, TypeError, ValueError):
        return None


def _thing_part(thing: dict[str, Any]) -> dict[str, Any]:
    size = numbers(thing["size"][:3]) if any(thing["size"]) else [0.0, 0.0, 0.0]
    return {
        "position": numbers(thing["position"][:3]),
        "size": size,
        "states": [str(each)[:_TEXT] for each in thing["states"][:_MOST_NUMBERS]],
        "place": [str(each)[:_TEXT] for each in thing["place"][:2]],
        "seen": number(thing["seen"]),
        "confidence": number(thing["confidence"]),
        "movable": bool(thing["movable"]),
        "memories": [str(each)[:_TEXT] for each in thing["memories"][:_MOST_NUMBERS]],
    }


def _object_in(text: str) -> dict[str, Any] | None:
    if len(text) > _MOST_LETTERS:
        return None
    try:
        value = parsed_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def chunk_row(chunk: Any) -> dict[str, Any] | None:
    """Convert an ActionChunk message for the page; return None where the message contradicts itself."""
    horizon, width = int(chunk.horizon), int(chunk.dimension)
    if horizon * width != len(chunk.actions) or len(chunk.names) != width:
        return None
    rows = [numbers(chunk.actions[at : at + width][:_MOST_NUMBERS]) for at in range(0, horizon * width, width or 1)]
    return {
        "sequence": int(chunk.sequence),
        "start": int(chunk.observation_frame),
        "names": [name[:_TEXT] for name in chunk.names[:_MOST_NUMBERS]],
        "actions": rows[:_MOST_ACTIONS],
        "backend": chunk.backend[:_TEXT],
        "latency": number(chunk.latency),
        "keyframes": [int(frame) for frame in chunk.keyframes_used[:_MOST_KEYFRAMES]],
    }


def command_row(command: Any) -> dict[str, Any]:
    """Convert an ArmCommand message for the page; a command to hold has a reason and no values."""
    values = [value for value in command.values[:_MOST_NUMBERS]]
    return {
        "step": int(command.step),
        "names": [name[:_TEXT] for name in command.names[:_MOST_NUMBERS]],
        "values": numbers(values) if all(map(math.isfinite, values)) else [],
        "reason": command.reason[:_TEXT],
    }
