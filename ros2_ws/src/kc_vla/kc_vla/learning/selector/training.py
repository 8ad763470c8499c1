"""The training of a selector from recorded episodes to the weights of its backbone and its head."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import torch

from kc_vla.core.files import digest
from kc_vla.core.task_file import tasks_as_dict
from kc_vla.core.tasks import Task
from kc_vla.inference.onnx_sessions import open_session
from kc_vla.keyframes.cameras import THIRD_PERSON, Camera
from kc_vla.keyframes.image_crop import Picture
from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.common.curves import draw_curves
from kc_vla.learning.common.device import Device
from kc_vla.learning.common.errors import DataError, LearningError, TrainingRunError
from kc_vla.learning.common.weights import first_trunk, require_weights
from kc_vla.learning.selector.config import Config, config_as_dict
from kc_vla.learning.selector.features import (
    Features,
    cached_features,
    file_features,
    file_name,
    trunk_features,
    weights_name,
)
from kc_vla.learning.selector.joint import train_joint
from kc_vla.learning.selector.networks import QueryHead
from kc_vla.learning.selector.pretrained import Pretrained
from kc_vla.learning.selector.recordings import LabeledEpisode, check_enough, common_rate, learnt_tasks, load_recordings
from kc_vla.learning.selector.run import SelectorRun, noted
from kc_vla.learning.selector.stage_one import train_trunk
from kc_vla.learning.selector.stage_two import CHECKPOINT as STAGE_TWO
from kc_vla.learning.selector.stage_two import Split, new_head, train_head

TRUNK = "trunk"
_CALIBRATION = 64
"""Training images that set the first batch norms."""
_HOW = "finish it with kc-vla train selector"
_Shown = Callable[[SelectorRun, Sequence[LabeledEpisode], str], Split]
"""Recordings of a part of the data with the features of a backbone that learns no more."""


def train_selector(
    folder: Path,
    data: Sequence[Path],
    validation: Sequence[Path],
    config: Config,
    method: str,
    device: Device,
    trunk_of: Path | None = None,
    init: Pretrained | None = None,
    own: Mapping[str, Task] = types.MappingProxyType({}),
    cameras: tuple[Camera, ...] = (THIRD_PERSON,),
) -> SelectorRun:
    """Train a selector, or go on with an interrupted training.

    Args:
        folder: for the run.
        data: data sets, or folders of data sets, to learn from.
        validation: the same, for the choice of the head.
        config: settings.
        method: one of `config.METHODS`.
        device: what computes.
        trunk_of: an earlier two-stage run whose backbone, and whose features, serve again.
        init: a model to begin with, in place of what `config.init` says.
        own: tasks that the task table does not have, or has otherwise, by name.
        cameras: that the selector looks at.

    Raises:
        LearningError: data, weights or an earlier run do not fit; the message says what.
        BagError: an episode cannot be read.
    """
    if trunk_of is not None and method != "two-stage":
        raise LearningError(f"the method '{method}' does not take the backbone of another run")
    if trunk_of is not None and init is not None and "trunk" in init.parts:
        raise LearningError("the backbone is either that of --trunk or that of --init: take --init-parts head")
    train = load_recordings(data, own, cameras)
    check_enough(train)
    tasks = learnt_tasks(train)
    judge = [r for r in load_recordings(validation, {**own, **tasks}, cameras) if r.task.name in tasks]
    if missing := sorted(tasks.keys() - learnt_tasks(judge).keys()):
        judged_on = ", ".join(map(str, validation))
        raise DataError(f"{judged_on} has no episode of {', '.join(missing)} to judge by: record or annotate some")
    check_enough(judge)
    facts = {
        "train": noted(data),
        "validation": noted(validation),
        "episodes": _fingerprint([*train, *judge]),
        "rate": common_rate([*train, *judge]),
        "method": method,
        "tasks": tasks_as_dict(tasks.values()),
        "cameras": [str(camera) for camera in cameras],
    }
    if trunk_of is not None:
        facts["trunk"] = str(trunk_of)
    if init is not None:
        facts |= init.facts()
    if trunk_of is None and (init is None or "trunk" not in init.parts) and not (folder / "run.json").exists():
        require_weights(config.init)  # before there is a run, which could not go on with others
    arithmetic = {"device": device.name, "precision": device.precision}
    with SelectorRun.begun(folder, config_as_dict(config), facts, arithmetic) as run:
        torch.manual_seed(config.seed)  # of the first weights
        head = None
        if init is not None and "head" in init.parts:
            head = new_head(config, tasks)
            init.give_head(head, list(tasks))
        first = partial(_first, config, train, init)
        kept = None
        if method == "no-metric" and init is not None and init.keeps_its_trunk(cameras, config.image_size):
            kept = None if run.load(TRUNK) else init  # a run of before has weights, and goes on with them
        if kept is None:
            run.frozen_trunk.unlink(missing_ok=True)  # of a run before that came to no checkpoint
        if method == "joint":
            train_joint(run, first(), head or new_head(config, tasks), train, judge, device)
        else:
            shelf = folder / "features"
            if kept is not None:
                shown = _by_file(kept.kept_trunk(run.frozen_trunk), run.cameras, shelf)
            else:
                make = first
                if trunk_of is not None:
                    shelf = trunk_of / "features"
                    make = partial(_trunk_of, SelectorRun(trunk_of), run)
                elif method == "two-stage":
                    make = partial(_stage_one, run, first, train, judge, device)
                shown = _by_weights(_kept(run, make).to(device.torch), device, shelf)
            train_head(run, shown(run, train, "train"), shown(run, judge, "validation"), device, head)
        draw_curves(run.read_log(), folder / "curves.png")
    return run


def _fingerprint(recordings: Sequence[LabeledEpisode]) -> str:
    """Return 16 hex digits that change with any of the episodes, or with its keyframes."""
    told = "\n".join(f"{each.name} {each.length} {each.size} {each.keyframes}" for each in recordings)
    return digest(told)


def trained_trunk(run: SelectorRun) -> Backbone:
    """Return the backbone of a finished run, but of one that has kept that of a model (`SelectorRun.frozen_trunk`).

    Raises:
        TrainingRunError: it is not finished.
    """
    state = run.need(STAGE_TWO, _HOW)
    trunk = Backbone()
    trunk.load_state_dict(state["trunk"] if "trunk" in state else run.need(TRUNK, _HOW)["trunk"])
    return trunk.eval()


def trained_head(run: SelectorRun) -> QueryHead:
    """Return the head of a finished run; TrainingRunError as `trained_trunk`."""
    if "head" not in (state := run.need(STAGE_TWO, _HOW)):
        raise TrainingRunError(f"{run.folder} is not finished: {_HOW}")
    head = new_head(run.config, run.tasks)
    head.load_state_dict(state["head"])
    return head.eval()


def sample_pictures(recordings: Sequence[LabeledEpisode], size: int, number: int) -> list[Picture]:
    """Return at least `number` images, spread over all episodes and over the time of each.

    They are fewer where the episodes have not so many.
    """
    chosen = recordings[:: max(1, len(recordings) // number)]
    each = -(-number // len(chosen))
    pictures = []
    for recording in chosen:
        wanted = {int((k + 0.5) * recording.length / each) for k in range(each)}
        seen = islice(recording.pictures(size), max(wanted) + 1)
        pictures += [picture for frame, picture in enumerate(seen) if frame in wanted]
    return pictures


def _kept(run: SelectorRun, make: Callable[[], Backbone]) -> Backbone:
    """Return the run's backbone; it is made if it is not there yet."""
    if (state := run.load(TRUNK)) is None:
        state = {"trunk": make().state_dict()}
        run.save(TRUNK, state)
    trunk = Backbone()
    trunk.load_state_dict(state["trunk"])
    return trunk.eval()


def _stage_one(
    run: SelectorRun,
    first: Callable[[], Backbone],
    train: Sequence[LabeledEpisode],
    validation: Sequence[LabeledEpisode],
    device: Device,
) -> Backbone:
    return train_trunk(run, first(), train, validation, device)


def _trunk_of(other: SelectorRun, run: SelectorRun) -> Backbone:
    """Return the finished backbone of another run that differs in nothing but its second stage.

    Raises:
        TrainingRunError: it differs in more, or is not finished.
    """
    if other.frozen_trunk.exists():
        raise TrainingRunError(
            f"{other.folder} has no backbone of its own, it kept that of model '{other.data['init']}': "
            f"take --init {other.data['init']} --init-parts trunk --method no-metric, with the same --models, for that"
        )
    mine, theirs = run.config, other.config
    if replace(theirs, stage_two=mine.stage_two, window=mine.window, stride=mine.stride) != mine:
        raise TrainingRunError(
            f"the backbone of {other.folder} was trained with other settings: only those of stage two may differ"
        )
    if any(other.data.get(part) != run.data.get(part) for part in ("train", "validation", "cameras")) or (
        other.data.get("episodes", run.data["episodes"]) != run.data["episodes"]
    ):
        raise TrainingRunError(
            f"the backbone of {other.folder} was trained on other episodes or cameras: its features do not serve here"
        )
    trunk = Backbone()
    trunk.load_state_dict(other.need(TRUNK, "finish its first stage with kc-vla train selector")["trunk"])
    return trunk


def _first(config: Config, train: Sequence[LabeledEpisode], init: Pretrained | None) -> Backbone:
    if init is not None and "trunk" in init.parts:
        return init.trunk(sample_pictures(train, config.image_size, _CALIBRATION))
    pictures = sample_pictures(train, config.image_size, _CALIBRATION) if config.init == "package" else []
    return first_trunk(config.init, pictures)


def _by_weights(trunk: Backbone, device: Device, shelf: Path) -> _Shown:
    return partial(_split, partial(trunk_features, trunk, device=device), weights_name(trunk), shelf)


def _by_file(trunk: Path, cameras: tuple[Camera, ...], shelf: Path) -> _Shown:
    """Return how to compute features by a backbone as it runs on the robot, so that the head learns what it will get.

    A run that came to no checkpoint may have left features of other cameras on the shelf, which have another name.
    """
    name = f"{file_name(trunk)}-{digest(str(cameras))}"
    return partial(_split, partial(file_features, open_session(trunk, "cpu", 1)), name, shelf)


def _split(
    compute: Callable[[Iterable[Picture]], Features],
    trunk: str,
    shelf: Path,
    run: SelectorRun,
    recordings: Sequence[LabeledEpisode],
    part: str,
) -> Split:
    """Return the recordings with their features, kept on `shelf` in a folder called like the `trunk` and the `part`."""
    folder = shelf / f"{trunk}-{part}"
    features = cached_features(recordings, run.config.image_size, compute, folder, f"{part} features")
    return Split(recordings, features, run.tasks)
