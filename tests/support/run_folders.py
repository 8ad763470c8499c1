"""Folders of runs as a launch leaves them: summaries, and where asked for small films and pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from kc_vla.media.mp4 import Mp4Writer
from kc_vla.reports.files import CONTACT_SHEET, POSTER, SUMMARY, VIDEO


def summary(task: str = "counting", seed: int = 0, success: bool | None = True, **more: Any) -> dict[str, Any]:
    """What `kc-vla report` writes of an episode, two of whose four keyframes are not where they should be."""
    ours = [
        {"phase": phase, "label": f"flash {phase}", "frame": 20 * phase, "committed": True, "difference": late}
        for phase, late in enumerate((0, 0, 4, -12, 90))
    ]
    return {
        "episode_id": f"{task}-{seed}",
        "task": task,
        "variant": "paper",
        "seed": seed,
        "instruction": f"Do {task}.",
        "stack_version": "0.1.0",
        "settings": {"policy": "learned", "keyframes": "learned", "mode": "lockstep"},
        "success": success,
        "stages": ["seen", "pushed"],
        "completed_stages": 2 if success else 1,
        "reason": "success" if success else "the cube is not on the target",
        "steps": 300,
        "duration_s": 15.0,
        "frames": 301,
        "keyframes": {"ours": ours, "oracle": [0, 20, 36, 72, 0], "wanted": 4, "right": 2, "equal": False},
        "latency_ms": {
            "keyframe_selector": {"camera_to_event": {"count": 301, "p50": 8.25, "p99": 50.5}},
            "policy_server": {"predict": {"count": 60, "p50": 30.0, "p99": 84.0}},
        },
        "dropped": {},
        "problems": {},
        "holds": [],
        "damages": [],
    } | more


def write_episode(folder: Path, told: dict[str, Any], films: bool = False) -> Path:
    """Write the folder of an episode into that of a run, called by the episode's id."""
    own = folder / told["episode_id"]
    (own / "bag").mkdir(parents=True)
    (own / SUMMARY).write_text(json.dumps(told))
    if films:
        with Mp4Writer(own / VIDEO, 64, 36, 0.05) as video:
            for shade in range(0, 200, 20):
                video.add(np.full((36, 64, 3), shade, np.uint8), shade // 20)
        Image.new("RGB", (64, 36), (20, 90, 40)).save(own / POSTER)
        Image.new("RGB", (300, 200), (40, 40, 90)).save(own / CONTACT_SHEET)
    else:
        (own / VIDEO).touch()
    return own


def write_table(folder: Path, told: list[dict[str, Any]], **more: Any) -> Path:
    """Write the table of a run of these episodes."""
    names = {"episode": "episode_id"} | {name: name for name in ("task", "seed", "success", "reason", "steps")}
    lines = [{ours: each[theirs] for ours, theirs in names.items()} for each in told]
    path = folder / f"run-{lines[0]['episode']}.json"
    path.write_text(json.dumps({"planned": len(lines), "table": lines} | more))
    return path
