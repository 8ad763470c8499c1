"""A selector is trained on annotated bags, through the commands that a user types."""

from pathlib import Path

import numpy as np
import pytest
import torch
from robot_bags import write_panda_bag

from kc_vla.cli import main
from kc_vla.learning.cli import main as learn
from kc_vla.learning.run import Run

SETTINGS = {
    "image_size": 32,
    "init": "scratch",
    "stage_one.epochs": 1,
    "stage_one.batch": 16,
    "stage_two.epochs": 2,
    "stage_two.first": 0,
    "stage_two.batch": 16,
}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Several wait for each other on a busy machine."""
    torch.set_num_threads(1)


def test_a_selector_learns_from_annotated_bags(tmp_path: Path, capsys) -> None:
    chance = np.random.default_rng(1)
    for split, episodes in {"train": 3, "validation": 2}.items():
        for number in range(episodes):
            gaps = chance.integers(12, 20, 5)
            keyframes = (0, *np.cumsum(gaps[:-1]).tolist())
            write_panda_bag(tmp_path / "bags" / split, f"e{number}", int(gaps.sum()), keyframes)
        words = ["--output", str(tmp_path / "data" / split), "--name", "mine"]
        assert main(["bag", "export", str(tmp_path / "bags" / split), *words]) == 0
        assert f"{split}/mine: {episodes} episodes" in capsys.readouterr().out
    folders = [f"--{name}={tmp_path / 'data' / split}" for name, split in (("data", "train"), ("validation",) * 2)]
    settings = [f"--set={name}={value}" for name, value in SETTINGS.items()]
    assert learn(["train", "selector", *folders, f"--output={tmp_path / 'run'}", "--device=cpu", *settings]) == 0
    assert {line["stage"] for line in Run(tmp_path / "run").read_log()} == {"stage one", "stage two"}
