"""Registers our environments under ids of our own; the paper's names lead to them as long as nobody else has them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import gymnasium
from mani_skill.envs.sapien_env import BaseEnv
from mani_skill.utils.registration import REGISTERED_ENVS, register_env

OURS = "KcVla"
"""How an id of ours begins."""
Environment = TypeVar("Environment", bound=type[BaseEnv])


def register_ours(name: str, max_episode_steps: int) -> Callable[[Environment], Environment]:
    """Register an environment as `OURS` + `name`, and let `name` alone lead to it unless another package has that id.

    Other packages bring environments of the paper's names. Whichever of the two is imported first, `name` is theirs,
    and neither ManiSkill nor gymnasium warns of it.

    Args:
        name: id of the paper, such as "SwapPosition-v1".
        max_episode_steps: time limit, control steps.
    """
    registers = register_env(OURS + name, max_episode_steps=max_episode_steps)

    def register(environment: Environment) -> Environment:
        registered: Environment = registers(environment)
        _lead(name)
        return registered

    return register


def _lead(name: str) -> None:
    """Let gymnasium's id `name` lead to ours: not ManiSkill's, which refuses an id that it has already."""
    if name in REGISTERED_ENVS or name in gymnasium.registry:
        return
    gymnasium.registry[name] = replace(gymnasium.registry[OURS + name], id=name)
    taken_over = rf".*Overriding environment {re.escape(name)} already in registry"
    warnings.filterwarnings("ignore", taken_over)  # by its owner, as it should be
