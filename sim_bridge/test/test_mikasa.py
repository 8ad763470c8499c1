"""Environments of others as tasks: those of MIKASA-Robo, by examples/mikasa and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kc_vla.datasets.planned import read_planned

pytest.importorskip(
    "mikasa_robo_suite", reason="needs Python below 3.12: pip install --no-deps mikasa-robo-suite==1.0.0"
)

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "mikasa"


def kc_vla(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Return a command in a shell in which the tasks are known."""
    paths = os.pathsep.join([str(EXAMPLE), *sys.path])
    env = os.environ | {"KC_VLA_TASKS": str(EXAMPLE / "mikasa.yaml"), "PYTHONPATH": paths}
    return subprocess.run(["kc-vla", *words], cwd=folder, env=env, capture_output=True, text=True, timeout=250)


@pytest.mark.parametrize("task", ["remember_color_3", "remember_color_9", "chain_of_colors_3"])
def test_its_expert_succeeds_and_a_seed_is_one_episode(tmp_path: Path, task: str) -> None:
    asked = ["--task", task, "--only", "experts", "--only", "determinism", "--mode", "step"]
    small = ["--episodes", "2", "--repeats", "1", "--processes", "1", "--image-size", "32", "--json", "found.json"]
    done = kc_vla(tmp_path, "sim", "check", *asked, *small)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["experts"][0]["successes"] == 2
    assert found["holds"] is True


def test_plans_are_collected_that_show_the_color_and_tell_where_to_go(tmp_path: Path) -> None:
    words = ["--task", "remember_color_3", "--task", "remember_color_5", "--plans", "--episodes", "1"]
    done = kc_vla(tmp_path, "collect", *words, "--image-size", "64")
    assert done.returncode == 0, done.stdout + done.stderr
    for task in ("remember_color_3", "remember_color_5"):
        episode = read_planned(tmp_path / "data" / "train" / task / "episode_000000.npz")
        assert episode.keyframes == (0,)
        shown = episode.pictures["wrist"][0].astype(int)
        assert (shown.max(axis=2) - shown.min(axis=2)).max() > 150  # one saturated cube on a brown table
        assert float(abs(episode.plans[-1][-1, :3]).max()) < 1e-3  # it rests in the end


def test_what_has_been_done_of_a_chain_is_a_keyframe_as_no_picture_tells_it(tmp_path: Path) -> None:
    words = ["--task", "chain_of_colors_3", "--plans", "--episodes", "1", "--image-size", "64"]
    done = kc_vla(tmp_path, "collect", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    episode = read_planned(tmp_path / "data" / "train" / "chain_of_colors_3" / "episode_000000.npz")
    assert len(episode.keyframes) == 7  # three cubes shown, three touched, the button
    assert (np.diff(episode.keyframes) > 0).all()
    heights = dict(zip(episode.frames.tolist(), episode.states[:, 2].tolist(), strict=True))
    touched = [heights[frame] for frame in episode.keyframes[3:6].tolist()]
    assert max(touched) < 0.07  # the tool is down at a cube


def test_a_variant_that_it_has_not_is_one_line(tmp_path: Path) -> None:
    done = kc_vla(tmp_path, "sim", "play", "--task", "remember_color_3", "--seed", "1", "--variant", "paper")
    assert done.returncode != 0
    assert (
        "no variant 'paper': the environment 'mikasa_tasks:RememberColor3-Stack-v0' of task 'remember_color_3'"
        in done.stderr
    )
    assert "Traceback" not in done.stderr
