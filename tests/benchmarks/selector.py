"""Time of the learned selector per frame, against the way of the paper's authors, on one thread in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.core.tasks import TASKS
from kc_vla.inference.models import shipped_models
from kc_vla.keyframes.learned import LearnedScorer, SelectorNetwork
from kc_vla.keyframes.model import SelectorModel, load_selector
from kc_vla.keyframes.scoring import ScorerInput
from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.common.quantizing import quantize_pictures
from kc_vla.learning.selector.config import Config
from kc_vla.learning.selector.export import export_head, export_trunk
from kc_vla.learning.selector.networks import QueryHead, Selector
from kc_vla.learning.selector.stage_two import new_head

from .measuring import Spread, Table

_CAMERA = 256
"""Side of the camera's picture, px."""
_AUTHORS = 224
_WINDOW = 3
_BLOCK = 5
"""Frames in a row with one way; the ways take turns, so that other work on the machine weighs on all alike."""
OURS = ((224, "fp32"), (224, "int8"), (128, "int8"), (96, "int8"))

Way = Callable[[NDArray[np.uint8]], object]


def measure(quick: bool, work: Path) -> Table:
    """Score pictures, one after the other, in each way. The weights are of chance: they do not matter to the time."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    trunk, head = Backbone().eval(), new_head(Config(window=_WINDOW), TASKS).eval()
    chance = np.random.default_rng(0)
    pictures = chance.integers(0, 256, (16, _CAMERA, _CAMERA, 3), dtype=np.uint8)
    ways: dict[str, Way] = {f"authors' way, {_AUTHORS} px": _authors_way(Selector(trunk, head))}
    for size, precision in OURS:
        model = _export(trunk, head, size, precision, work / f"{size}-{precision}")
        scorer = LearnedScorer(SelectorNetwork(model, "cpu", threads=1), "counting")
        ways[f"ours, {size} px, {precision}"] = lambda picture, scorer=scorer: scorer.score(_sight(picture), 1)
    shipped = SelectorNetwork(load_selector(shipped_models(), "keyframe_selector"), "cpu", threads=1)
    shipped_scorer = LearnedScorer(shipped, "counting")
    ways["ours, as shipped"] = lambda picture: shipped_scorer.score(_sight(picture), 1)
    times = _take_turns(ways, pictures, 4 if quick else 20)
    spreads = {name: Spread.of(values) for name, values in times.items()}
    reference = next(iter(spreads.values()))
    return Table(
        "Selector per frame, one thread, ms: p50 / p99 / max",
        [
            {"implementation": name, "time per frame, ms": spread, "times as fast, p50": reference.p50 / spread.p50}
            for name, spread in spreads.items()
        ],
        [
            "Authors' way: torch eager, all three frames of the window through the backbone for every frame, then the "
            "head. Ours: ONNX Runtime, the present frame through the backbone once, the features of the others kept.",
            f"From a camera image of {_CAMERA} px to the score, resizing included in ours; the authors' way gets "
            "images of its size.",
        ],
    )


def _sight(picture: NDArray[np.uint8]) -> ScorerInput:
    return ScorerInput(0, {"third_person": picture})


def _authors_way(network: Selector) -> Way:
    window = torch.zeros((1, _WINDOW, _AUTHORS, _AUTHORS, 3), dtype=torch.uint8)
    task, phase = torch.tensor([0]), torch.tensor([1])

    def score(picture: NDArray[np.uint8]) -> object:
        with torch.inference_mode():
            window[:, :-1] = window[:, 1:].clone()
            window[0, -1] = torch.from_numpy(picture[:_AUTHORS, :_AUTHORS])
            return network(window, task, phase)

    return score


def _export(trunk: Backbone, head: QueryHead, size: int, precision: str, folder: Path) -> SelectorModel:
    folder.mkdir()
    exact, trunk_path, head_path = folder / "exact.onnx", folder / "trunk.onnx", folder / "head.onnx"
    export_head(head, _WINDOW, head_path)
    export_trunk(trunk, size, exact)
    if precision == "int8":
        pictures = np.random.default_rng(1).integers(0, 256, (4, size, size, 3), dtype=np.uint8)
        quantize_pictures(exact, [picture[None] for picture in pictures], trunk_path)
    else:
        exact.rename(trunk_path)
    labels = {task: TASKS[task].keyframes for task in TASKS}
    return SelectorModel(
        "timed", trunk_path, head_path, size, _WINDOW, 1, tuple(TASKS), labels, dict.fromkeys(labels, 0.5)
    )


def _take_turns(ways: dict[str, Way], pictures: NDArray[np.uint8], blocks: int) -> dict[str, list[float]]:
    """Times of each way, ms; its first frame in each block is left out."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in tqdm(range(blocks), desc="selector", unit="block"):
        for name, way in ways.items():
            way(pictures[0])
            for picture in pictures[:_BLOCK]:
                began = time.perf_counter()
                way(picture)
                times[name].append(1e3 * (time.perf_counter() - began))
    return times
