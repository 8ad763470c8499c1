"""The files of an ACT policy as LeRobot 0.4 saves them: configuration, weights, and what its processors do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from kc_vla.core.untrusted import inner_path, parsed_json, read_text
from kc_vla.learning.act.normalising import AffineMap, Numbers, denormalising, normalising
from kc_vla.policy.act import ACTION, CONFIG, POSTPROCESSOR, PREPROCESSOR, STATE, WEIGHTS, ActConfig, read_config
from kc_vla.policy.interface import PolicyError

_NO_CHANGE = {"to_batch_processor", "device_processor"}
_RENAME, _NORMALISE, _BACK = "rename_observations_processor", "normalizer_processor", "unnormalizer_processor"
_EPS = 1e-8
_MIGRATE = "python -m lerobot.processor.migrate_policy_normalization makes a new one of it"


@dataclass(frozen=True, eq=False)
class ActCheckpoint:
    """A policy.

    Attributes:
        config: what its configuration says.
        weights: by LeRobot's names, without `model.` before them.
        sources: what the robot's data call each of the config's cameras, by the config's names.
        given: what each feature goes through on its way in, by the config's names; others stay as they are.
        said: what an action goes through on its way out; None: nothing.
        files: names of those that were read.
    """

    config: ActConfig
    weights: Mapping[str, Tensor]
    sources: Mapping[str, str]
    given: Mapping[str, AffineMap]
    said: AffineMap | None
    files: tuple[str, ...]


def read_checkpoint(folder: Path) -> ActCheckpoint:
    """Return the policy in a folder.

    Raises:
        PolicyError: a file is missing or damaged, or asks for what is not known here.
    """
    config = read_config(folder)
    weights = _tensors(folder, WEIGHTS)
    if any(name.startswith("normalize_inputs.") for name in weights) and not (folder / PREPROCESSOR).exists():
        raise PolicyError(f"{folder} is from before LeRobot 0.4, its statistics are among its weights: {_MIGRATE}")
    before, after = _steps(folder, PREPROCESSOR, _RENAME, _NORMALISE), _steps(folder, POSTPROCESSOR, _BACK)
    renamed = {str(new): str(old) for old, new in before.get(_RENAME, {}).get("rename_map", {}).items()}
    stats, eps, files = _statistics(folder, before.get(_NORMALISE))
    given = {}
    for key, kind in {STATE: "STATE", **dict.fromkeys(config.cameras, "VISUAL")}.items():
        line = normalising(config.modes[kind], key, stats.get(key, {}), eps)
        if line is not None and (key in config.cameras or config.state):
            given[key] = _fits(key, line, 3 if key in config.cameras else config.state)
    stats, eps, more = _statistics(folder, after.get(_BACK))
    said = denormalising(config.modes["ACTION"], ACTION, stats.get(ACTION, {}), eps)
    return ActCheckpoint(
        config=config,
        weights={name.removeprefix("model."): weight for name, weight in weights.items()},
        sources={key: renamed.get(key, key) for key in config.cameras},
        given=given,
        said=None if said is None else _fits(ACTION, said, config.action),
        files=(CONFIG, WEIGHTS, PREPROCESSOR, POSTPROCESSOR, *files, *more),
    )


def _steps(folder: Path, name: str, *known: str) -> dict[str, dict[str, Any]]:
    """Return the steps of a processor that do something, each by its name: its configuration and its file."""
    path = folder / name
    found: dict[str, dict[str, Any]] = {}
    try:
        for step in parsed_json(read_text(path, 1 << 22))["steps"]:
            kind = step.get("registry_name", step.get("class"))
            if kind in _NO_CHANGE:
                continue
            if kind not in known or kind in found:
                raise PolicyError(f"{path} has the step {kind}, known are {', '.join((*known, *sorted(_NO_CHANGE)))}")
            found[kind] = {**step.get("config", {}), "state_file": step.get("state_file")}
    except FileNotFoundError:
        raise PolicyError(f"{path} is missing: copy the whole folder that LeRobot has saved; {_MIGRATE}") from None
    except (AttributeError, KeyError, TypeError, OSError, ValueError) as error:
        raise PolicyError(f"{path} is not understood: {error}") from error
    return found


def _statistics(
    folder: Path, step: Mapping[str, Any] | None
) -> tuple[dict[str, dict[str, Numbers]], float, tuple[str, ...]]:
    """Return the statistics of each feature by their names, what keeps a divisor from 0, and the file's name."""
    if step is None or step["state_file"] is None:
        return {}, _EPS, ()
    name = str(step["state_file"])
    found: dict[str, dict[str, Numbers]] = {}
    for flat, values in _tensors(folder, name).items():
        key, _, statistic = flat.rpartition(".")
        found.setdefault(key, {})[statistic] = np.asarray(values.float().numpy(), np.float32)
    eps = step.get("eps", _EPS)
    if not isinstance(eps, float) or not 0 < eps < 1:
        raise PolicyError(f"{folder}: eps of its normalisation is {eps}: a number above 0 is wanted")
    return found, eps, (name,)


def _tensors(folder: Path, name: str) -> dict[str, Tensor]:
    try:
        path = inner_path(folder, name)
        if not path.is_file():
            raise PolicyError(f"{path} is missing: copy the whole folder that LeRobot has saved")
        return dict(load_file(str(path)))
    except (SafetensorError, OSError, ValueError) as error:
        said = re.sub(r"\s+", " ", str(error))
        raise PolicyError(f"{folder / name} cannot be read, get it again: {said}") from error


def _fits(key: str, line: AffineMap, length: int) -> AffineMap:
    for numbers in (line.shift, line.scale, line.offset):
        if numbers.size not in (1, length):
            raise PolicyError(
                f"{key} has {length} numbers, but its statistics have {numbers.size}: get the checkpoint's files again"
            )
    return AffineMap(line.shift.ravel(), line.scale.ravel(), line.offset.ravel())
