"""Settings of a selector's training. The defaults are the paper's (tables 7 and 8, or its public code)."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kc_vla.learning.common.config import ConfigError, read_settings, settings_as

INITS = ("scratch", "imagenet", "package")
INIT_PARTS = ("trunk", "head")
"""What can begin with the weights of another model."""
METHODS = ("two-stage", "no-metric", "joint")
"""The paper's way of training and the two that it is compared with (table 2)."""
PRECISIONS = ("auto", "int8", "fp32")
"""Number formats of an exported backbone; "auto" is int8 unless that costs F1."""


@dataclass(frozen=True)
class StageOne:
    """Metric learning of the backbone (table 7)."""

    batch: int = 64
    """Triplets a step."""
    epochs: int = 30
    """An epoch has each keyframe once as anchor."""
    learning_rate: float = 1e-4
    weight_decay: float = 1e-3
    margin: float = 1.0
    neighbour_from: int = 3
    """delta_min: a temporal neighbor is at least so many frames away from its anchor ..."""
    neighbour_to: int = 10
    """... and at most so many: delta_max."""
    batch_all: bool = False
    """An anchor is held against every image of its batch that is not its like, not against one negative alone."""
    jitter: float = 0.2
    """Brightness, contrast and saturation of a training image change by up to this share."""
    hue: float = 0.05
    """Hue, in turns, either way."""
    shift: int = 0
    """A training image moves by up to so many pixels, all three of a triplet by chances of their own."""
    blur: float = 0.0
    """Share of the training images that are softened, as a camera of more pixels shows them."""


@dataclass(frozen=True)
class StageTwo:
    """Learning of the query head on the frozen backbone (table 8)."""

    batch: int = 32
    epochs: int = 50
    """An epoch has the samples of each keyframe once."""
    learning_rate: float = 1e-4
    weight_decay: float = 0.05
    positive_weight: float = 5.0
    clip: float = 1.0
    """Largest norm of the gradient."""
    intervals: int = 4
    """M: negatives are drawn from so many equal parts of the way from one keyframe to the next ..."""
    guard: int = 6
    """... of which so many frames at both ends do not count."""
    after: int = 0
    """Negatives of a phase drawn from the frames after its keyframe, `guard` frames later at the earliest."""
    near: int = 0
    """Negatives drawn from the frames just outside the guard, up to 20 further, on either side."""
    first: int = -1
    """Positives begin so many frames after a keyframe, before it where this is negative ..."""
    last: int = 1
    """... and end so many after it. Later is surer: something lifted has risen further by then."""
    speed: float = 1.0
    """In each epoch an episode is shown up to so many times faster than it was recorded, or slower; 1: as it was."""


@dataclass(frozen=True)
class Config:
    """All settings of a run."""

    image_size: int = 224
    """Side of the square that the backbone sees, px."""
    window: int = 3
    """Frames that the head sees (k)."""
    stride: int = 1
    """Frames between two of them."""
    init: str = "imagenet"
    """Where the backbone's first weights come from, one of `INITS`."""
    seed: int = 0
    stage_one: StageOne = field(default_factory=StageOne)
    stage_two: StageTwo = field(default_factory=StageTwo)

    @property
    def reach(self) -> int:
        """Return how many frames back the window begins."""
        return (self.window - 1) * self.stride

    @property
    def speeds(self) -> tuple[float, ...]:
        """Return the speeds of the evaluation: as recorded, and the slowest and fastest of the training."""
        fastest = self.stage_two.speed
        return tuple(sorted({1.0 / fastest, 1.0, fastest}))


def load_config(
    path: Path | None,
    changes: Mapping[str, str] = types.MappingProxyType({}),
    base: Mapping[str, Any] = types.MappingProxyType({}),
) -> Config:
    """Return the paper's settings with those of `base`, of a TOML file, and single `changes` in their place.

    The changes have dotted names.

    Raises:
        ConfigError: no such file, no such setting, or a value that the setting cannot have; the message names it.
    """
    return config_from(read_settings(path, changes, base))


def config_from(values: Mapping[str, Any]) -> Config:
    """Return settings from what `config_as_dict` gave, or from a part of it; the rest are the paper's.

    Raises:
        ConfigError: see `load_config`.
    """
    config = settings_as(Config, values, {"init": INITS}, _LEAST)
    one, two = config.stage_one, config.stage_two
    for low, high, least, most in (
        ("stage_one.neighbour_from", "stage_one.neighbour_to", one.neighbour_from, one.neighbour_to),
        ("stage_two.first", "stage_two.last", two.first, two.last),
    ):
        if least > most:
            raise ConfigError(f"'{low}' is {least} and '{high}' {most}: there is no frame from the one to the other")
    return config


def config_as_dict(config: Config) -> dict[str, Any]:
    """Return all settings as plain values."""
    return asdict(config)


_LEAST = {
    "image_size": 1,
    "window": 1,
    "stride": 1,
    "stage_one.batch": 1,
    "stage_one.epochs": 1,
    "stage_one.neighbour_from": 1,
    "stage_two.batch": 1,
    "stage_two.epochs": 1,
    "stage_two.first": -100,
    "stage_two.last": -100,
    "stage_two.speed": 1.0,
}
