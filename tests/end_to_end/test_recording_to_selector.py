"""From recorded bags to a selector of one's own and back: annotate, export, train, make a model of it, replay."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_server import PageServer
from robot_bags import write_panda_bag
from stack import REPLAY, Stack

SETTINGS = {
    "image_size": 32,
    "init": "scratch",
    "stage_one.epochs": 1,
    "stage_one.batch": 16,
    "stage_two.epochs": 2,
    "stage_two.first": 0,
    "stage_two.batch": 16,
}
"""A selector that knows little, in seconds: what it is worth is measured elsewhere."""


def kc_vla(*words: object) -> str:
    """What the command prints; it must succeed."""
    command = [sys.executable, "-m", "kc_vla.cli", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def ask(server: PageServer, path: str, body: dict[str, Any] | None = None) -> Any:
    """As the page asks the server."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    method = "GET" if body is None else "PUT"
    request = urllib.request.Request(f"{server.address}/api/{path}", data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def record(folder: Path, episodes: int, chance: np.random.Generator) -> dict[str, list[int]]:
    """Bags that nobody has annotated yet, and where their keyframes are."""
    truth = {}
    for number in range(episodes):
        gaps = chance.integers(12, 20, 5)
        truth[f"e{number}"] = [0, *np.cumsum(gaps[:-1]).tolist()]
        write_panda_bag(folder, f"e{number}", int(gaps.sum()), truth[f"e{number}"], annotated=False)
    return truth


def annotate(folder: Path, truth: dict[str, list[int]], cache: Path) -> None:
    """A person marks the keyframes and confirms them."""
    with PageServer(folder, cache) as server:
        for row in ask(server, "episodes")["episodes"]:
            marks = [
                {"frame": f, "phase": k, "source": "person", "score": 1.0} for k, f in enumerate(truth[row["name"]])
            ]
            track = {"author": "anna", "since": 0, "state": "confirmed", "action": "confirm", "marks": marks}
            assert ask(server, f"episodes/{row['key']}/track", track)["revision"] == 1


@pytest.mark.nightly  # its links: test_annotation_page.py, test_learning_pipeline.py, test_exchange_export.py
def test_a_person_teaches_a_selector_with_recordings(tmp_path: Path) -> None:
    chance = np.random.default_rng(4)
    for split, episodes in (("train", 3), ("validation", 2)):
        bags = tmp_path / "bags" / split
        annotate(bags, record(bags, episodes, chance), tmp_path / "cache")
        kc_vla("bag", "export", bags, "--output", tmp_path / "data" / split)
    settings = [f"--set={name}={value}" for name, value in SETTINGS.items()]
    folders = ["--data", tmp_path / "data" / "train", "--validation", tmp_path / "data" / "validation"]
    kc_vla("train", "selector", *folders, "--output", tmp_path / "run", "--device", "cpu", *settings)
    kc_vla("export", "selector", tmp_path / "run", "--precision", "fp32", "--models", tmp_path / "models")
    bag = tmp_path / "bags" / "train" / "e0" / "bag"
    arguments = {"bag": bag, "models": tmp_path / "models"}
    with Stack(tmp_path, arguments, launch_file=REPLAY, environment={"ROS_HOME": str(tmp_path)}) as stack:
        assert stack.finish() == 0, stack.text
        text = stack.text
    (report,) = tmp_path.glob("*-replay/replay.json")
    found = json.loads(report.read_text())
    assert found["scores"] is not None
    assert "Traceback" not in text
