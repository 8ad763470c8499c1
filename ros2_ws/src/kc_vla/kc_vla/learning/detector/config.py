"""Settings of a detector's training."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kc_vla.learning.common.config import ConfigError, read_settings, settings_as

SIZES: Mapping[str, tuple[tuple[int, ...], int]] = types.MappingProxyType(
    {
        "tiny": ((8, 16, 24, 32, 48), 16),
        "small": ((24, 40, 80, 128, 192), 48),
        "medium": ((32, 64, 96, 160, 256), 64),
    }
)
"""Channels of the backbone at strides 2 to 32, and of the maps from which objects are read, by the name of a size."""
_STRIDE = 32


@dataclass(frozen=True)
class DetectorAugmentation:
    """How much of each chance there is in the training images; `learning.common.augment` has the first three."""

    jitter: float = 0.3
    hue: float = 0.015
    blur: float = 0.2
    shift: int = 0
    flip: float = 0.5
    """Share of the images that are mirrored."""
    zoom: float = 1.5
    """Most that an image is enlarged by; the least is one over it."""
    noise: float = 6.0
    """Largest standard deviation of the noise of a pixel, 0..255."""
    cutout: float = 0.4
    """Share of the images in which a rectangle is covered."""
    without_depth: float = 0.3
    """Share of the images that lose their depth."""
    depth_noise: float = 0.003
    """Largest standard deviation of the noise of a pixel's depth, as a share of it."""


@dataclass(frozen=True)
class DetectorWeights:
    """Weights of the losses, relative to that of the heatmap."""

    box: float = 2.0
    center: float = 0.15
    depth: float = 0.2
    extent: float = 0.3
    color: float = 0.5
    state: float = 1.0


@dataclass(frozen=True)
class DetectorConfig:
    """All settings of a run."""

    size: str = "small"
    """Name of the network's size, one of `SIZES`."""
    image_size: int = 256
    """Side of the square that the network sees, px; a multiple of 32."""
    epochs: int = 12
    batch: int = 16
    learning_rate: float = 2e-3
    warm_up: int = 200
    """Steps in which the learning rate rises."""
    weight_decay: float = 1e-4
    clip: float = 5.0
    """Largest norm of the gradient."""
    average: float = 0.998
    """Share of the averaged weights that stays in each step."""
    least_share: float = 0.15
    """An object of which less can be seen is neither asked for nor taken for a mistake ..."""
    least_pixels: int = 24
    """... nor is one with fewer pixels."""
    judged: int = 300
    """Validation images at most that are looked at after each epoch."""
    every: int = 100
    """Steps between two checkpoints."""
    seed: int = 0
    augmentation: DetectorAugmentation = field(default_factory=DetectorAugmentation)
    weights: DetectorWeights = field(default_factory=DetectorWeights)


def load_detector_config(path: Path | None, changes: Mapping[str, str] = types.MappingProxyType({})) -> DetectorConfig:
    """Return the settings of a TOML file, with single `changes` in their place.

    Raises:
        ConfigError: no such file, no such setting, or a value that the setting cannot have; the message names it.
    """
    return detector_config_from(read_settings(path, changes, {}))


def detector_config_from(values: Mapping[str, Any]) -> DetectorConfig:
    """Return settings from what `asdict` gave, or from a part of it.

    Raises:
        ConfigError: see `load_detector_config`.
    """
    config = settings_as(DetectorConfig, values, {"size": tuple(SIZES)}, _LEAST)
    if config.image_size % _STRIDE:
        raise ConfigError(f"setting 'image_size' is {config.image_size}: it must be a multiple of {_STRIDE}")
    if config.average >= 1:
        raise ConfigError(f"setting 'average' is {config.average}: it must be below 1")
    return config


def as_dict(config: DetectorConfig) -> dict[str, Any]:
    """Return all settings as plain values."""
    return asdict(config)


_LEAST = {
    "image_size": _STRIDE,
    "epochs": 1,
    "batch": 1,
    "warm_up": 1,
    "every": 1,
    "judged": 1,
    "augmentation.zoom": 1,
}
