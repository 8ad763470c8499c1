"""Settings of a policy's training."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kc_vla.learning.common.config import ConfigError, read_settings, settings_as
from kc_vla.policy.history import history_of
from kc_vla.policy.model import CHOSEN, MARKED

SHIPPED_EYES = "shipped"
INITS = ("imagenet", "package", SHIPPED_EYES, "scratch")
PRECISIONS = ("int8", "fp32")


@dataclass(frozen=True)
class PolicyConfig:
    """All settings of a run."""

    image_size: int = 128
    """Side of the square that the network sees of each camera, px; a multiple of 8."""
    init: str = "imagenet"
    """Where the weights of the frozen backbone come from, one of `INITS`."""
    channels: int = 32
    """Channels of an image's map: the main directions of the backbone's features."""
    slots: int = 6
    """Keyframes that are attended to at most, the first and the newest; or tokens that stand for all of them."""
    condensed: bool = False
    """All keyframes, however many, become `slots` tokens by attention."""
    structured: bool = True
    """Whether the network gets the phase of each keyframe (table 3 of the paper compares both)."""
    colors: bool = False
    """What stands out by its color in a keyframe is looked for in the present: for one of many that differ in it."""
    keyframes: str = MARKED
    """The keyframes to train with, one of `CHOSEN`: those that the data have, or those of events, for a task in
    which nobody has marked any."""
    history: str = "keyframes"
    """What of the past is given; "none" or such as "3 every 20" (frames, control steps apart) to compare with."""
    held_out: float = 0.08
    """Share of the episodes of each task that are held out of the training, to measure it."""
    steps: int = 12000
    batch: int = 96
    learning_rate: float = 1e-3
    warm_up: int = 100
    weight_decay: float = 1e-4
    clip: float = 1.0
    """Largest norm of the gradient."""
    average: float = 0.998
    """Share of the averaged weights that stays in each step."""
    place_weight: float = 2.0
    """Weight of the error of the next place, relative to that of the flow."""
    rest_weight: float = 0.2
    """Weight of the error of whether to rest, relative to that of the flow."""
    latest: int = 5
    """A keyframe is known up to so many frames late, by chance: a selector takes its time."""
    shifted: int = 10
    """A keyframe is taken up to so many frames after the true one, or half as many before, in half of the samples."""
    invented: float = 0.0
    """Share of the samples in which the newest keyframe is none, for a source that takes false ones."""
    superfluous: int = 0
    """Up to so many frames that are none are remembered besides, by chance, for a source that takes many (events)."""
    frozen: int = 6
    """Up to so many actions run already when an answer comes (real-time chunking), in half of the samples."""
    state_noise: float = 0.01
    map_noise: float = 0.0
    """Added to the maps, whose channels have a variance of one."""
    dropout: float = 0.1
    """Share of what tells one episode from another that is left out."""
    waiting: float = 0.33
    """How often a frame is drawn in which the expert waits, ..."""
    starting: float = 2.5
    """... the first ones after a wait, ..."""
    close: float = 1.7
    """... and those shortly before the gripper changes."""
    every: int = 200
    """Steps between two looks at the episodes that are held out; then a checkpoint is written."""
    seed: int = 0


def load_policy_config(path: Path | None, changes: Mapping[str, str] = types.MappingProxyType({})) -> PolicyConfig:
    """Return the settings of a TOML file, with single `changes` in their place.

    Raises:
        ConfigError: no such file, no such setting, or a value that the setting cannot have; the message names it.
    """
    return policy_config_from(read_settings(path, changes, {}))


def policy_config_from(values: Mapping[str, Any]) -> PolicyConfig:
    """Return settings from what `as_dict` gave, or from a part of it.

    Raises:
        ConfigError: see `load_policy_config`.
    """
    config = settings_as(PolicyConfig, values, {"init": INITS, "keyframes": CHOSEN}, _LEAST)
    try:
        history = history_of(config.history)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    if config.image_size % _MAP_STRIDE:
        raise ConfigError(f"setting 'image_size' is {config.image_size}: it must be a multiple of {_MAP_STRIDE}")
    if config.colors and not config.structured:
        raise ConfigError("colors ask for a keyframe by its place in the order: that is not with structured=false")
    if history.count > config.slots:
        raise ConfigError(f"a history of {history.count} frames needs as many slots, not {config.slots}")
    return config


def as_dict(config: PolicyConfig) -> dict[str, Any]:
    """Return all settings as plain values."""
    return asdict(config)


_MAP_STRIDE = 8
"""Pixels of a number of an image's map (`networks.STEM_STRIDE`, which brings torch with it)."""
_LEAST = {"image_size": 16, "channels": 1, "slots": 1, "steps": 1, "batch": 2, "warm_up": 1, "latest": 1, "every": 1}
