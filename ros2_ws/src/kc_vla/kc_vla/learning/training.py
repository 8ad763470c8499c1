"""The training of a selector from recorded episodes to the weights of its trunk and its head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import torch

from kc_vla.keyframes.pictures import Picture
from kc_vla.learning.config import Config
from kc_vla.learning.curves import draw_curves
from kc_vla.learning.device import Device
from kc_vla.learning.errors import LearningError, RunError
from kc_vla.learning.features import cached_features, trunk_features, weights_name
from kc_vla.learning.joint import train_joint
from kc_vla.learning.networks import QueryHead, Trunk
from kc_vla.learning.recordings import Recording, check_enough, load_recordings
from kc_vla.learning.run import Run
from kc_vla.learning.stage_one import train_trunk
from kc_vla.learning.stage_two import CHECKPOINT as STAGE_TWO
from kc_vla.learning.stage_two import Split, new_head, train_head
from kc_vla.learning.weights import first_trunk

TRUNK = "trunk"
_CALIBRATION = 64
"""Training episodes of which a picture goes into the first batch norms, or into the ranges of 8-bit numbers."""


def train_selector(
    folder: Path,
    data: Path,
    validation: Path,
    config: Config,
    method: str,
    device: Device,
    trunk_of: Path | None = None,
) -> Run:
    """Train a selector, or go on with an interrupted training.

    Args:
        folder: for the run.
        data: data set, or folder of data sets, to learn from.
        validation: the same, for the choice of the head.
        config: settings.
        method: one of `config.METHODS`.
        device: what computes.
        trunk_of: an earlier two-stage run whose trunk, and whose features, serve again.

    Raises:
        LearningError: data, weights or an earlier run do not fit; the message says what.
        BagError: an episode cannot be read.
    """
    if trunk_of is not None and method != "two-stage":
        raise LearningError(f"the method '{method}' does not take the trunk of another run")
    facts = {"train": str(data), "validation": str(validation), "method": method}
    train, judge = load_recordings(data), load_recordings(validation)
    check_enough(train)
    check_enough(judge)
    run = Run.begin(folder, config, facts if trunk_of is None else {**facts, "trunk": str(trunk_of)})
    torch.manual_seed(config.seed)  # of the first weights
    if method == "joint":
        train_joint(run, _first(config, train), new_head(config), train, judge, device)
    else:
        shelf = folder / "features"
        if trunk_of is not None:
            shelf = trunk_of / "features"
            make = partial(_trunk_of, Run(trunk_of), run)
        elif method == "two-stage":
            make = partial(_stage_one, run, train, judge, device)
        else:
            make = partial(_first, config, train)
        trunk = _kept(run, make).to(device.torch)
        train_head(
            run,
            _split(run, trunk, train, shelf / "train", device),
            _split(run, trunk, judge, shelf / "validation", device),
            device,
        )
    draw_curves(run.read_log(), folder / "curves.png")
    return run


def trained_networks(run: Run) -> tuple[Trunk, QueryHead]:
    """Trunk and head of a finished run.

    Raises:
        RunError: it is not finished.
    """
    how = "finish it with kc-vla train selector"
    state = run.need(STAGE_TWO, how)
    trunk, head = Trunk(), new_head(run.config)
    trunk.load_state_dict(state["trunk"] if "trunk" in state else run.need(TRUNK, how)["trunk"])
    head.load_state_dict(state["head"])
    return trunk.eval(), head.eval()


def sample_pictures(recordings: Sequence[Recording], size: int, number: int) -> list[Picture]:
    """About `number` pictures from the midst of as many episodes, spread over all tasks."""
    step = max(1, len(recordings) // number)
    return [
        picture
        for recording in recordings[::step]
        for picture in islice(recording.pictures(size), recording.length // 2, recording.length // 2 + 1)
    ]


def _kept(run: Run, make: Callable[[], Trunk]) -> Trunk:
    """The run's trunk; it is made if it is not there yet."""
    if (state := run.load(TRUNK)) is None:
        state = {"trunk": make().state_dict()}
        run.save(TRUNK, state)
    trunk = Trunk()
    trunk.load_state_dict(state["trunk"])
    return trunk.eval()


def _stage_one(run: Run, train: Sequence[Recording], validation: Sequence[Recording], device: Device) -> Trunk:
    return train_trunk(run, _first(run.config, train), train, validation, device)


def _trunk_of(other: Run, run: Run) -> Trunk:
    """The finished trunk of another run that differs in nothing but its second stage.

    Raises:
        RunError: it differs in more, or is not finished.
    """
    mine, theirs = run.config, other.config
    if replace(theirs, stage_two=mine.stage_two, window=mine.window, stride=mine.stride) != mine:
        raise RunError(
            f"the trunk of {other.folder} was trained with other settings: only those of stage two may differ"
        )
    if any(other.data[part] != run.data[part] for part in ("train", "validation")):
        raise RunError(f"the trunk of {other.folder} was trained on other episodes: its features do not serve here")
    trunk = Trunk()
    trunk.load_state_dict(other.need(TRUNK, "finish its first stage with kc-vla train selector")["trunk"])
    return trunk


def _first(config: Config, train: Sequence[Recording]) -> Trunk:
    pictures = sample_pictures(train, config.image_size, _CALIBRATION) if config.init == "package" else []
    return first_trunk(config.init, pictures)


def _split(run: Run, trunk: Trunk, recordings: Sequence[Recording], shelf: Path, device: Device) -> Split:
    """Recordings with their features, kept in a folder called like `shelf` and the trunk's weights."""
    folder = shelf.with_name(f"{weights_name(trunk)}-{shelf.name}")
    compute = partial(trunk_features, trunk, device=device)
    return Split(
        recordings, cached_features(recordings, run.config.image_size, compute, folder, f"{shelf.name} features")
    )
