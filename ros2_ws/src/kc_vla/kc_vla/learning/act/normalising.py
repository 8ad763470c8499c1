"""How LeRobot normalizes features: straight lines through its statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.policy.interface import PolicyError

Numbers = NDArray[np.float32]
_RANGES = {"MIN_MAX": ("min", "max"), "QUANTILES": ("q01", "q99"), "QUANTILE10": ("q10", "q90")}
_NONE, _LOW = np.zeros(1, np.float32), -np.ones(1, np.float32)


@dataclass(frozen=True, eq=False)
class AffineMap:
    """`(x - shift) * scale + offset`; each a number for each of a feature's, or one for all."""

    shift: Numbers
    scale: Numbers
    offset: Numbers


def normalising(mode: str, key: str, stats: Mapping[str, Numbers], eps: float) -> AffineMap | None:
    """Return what a feature goes through on its way in; None: it stays as it is.

    Args:
        mode: of `kc_vla.policy.act.MODES`.
        key: name of the feature, for errors.
        stats: of it; empty: it was learned as it is.
        eps: kept between a divisor and 0.

    Raises:
        PolicyError: the statistics that the mode needs are missing.
    """
    if mode == "IDENTITY" or not stats:
        return None
    if mode == "MEAN_STD":
        mean, std = _both(mode, key, stats, ("mean", "std"))
        return AffineMap(mean, np.float32(1) / (std + np.float32(eps)), _NONE)
    low, width = _range(mode, key, stats, eps)
    return AffineMap(low, np.float32(2) / width, _LOW)


def denormalising(mode: str, key: str, stats: Mapping[str, Numbers], eps: float) -> AffineMap | None:
    """Return what a feature goes through on its way out, as `normalising` does for its way in.

    `eps` is not in a deviation that multiplies.
    """
    if mode == "IDENTITY" or not stats:
        return None
    if mode == "MEAN_STD":
        mean, std = _both(mode, key, stats, ("mean", "std"))
        return AffineMap(_NONE, std, mean)
    low, width = _range(mode, key, stats, eps)
    return AffineMap(_LOW, width / np.float32(2), low)


def _range(mode: str, key: str, stats: Mapping[str, Numbers], eps: float) -> tuple[Numbers, Numbers]:
    low, high = _both(mode, key, stats, _RANGES[mode])
    return low, np.where(high == low, np.float32(eps), high - low)


def _both(mode: str, key: str, stats: Mapping[str, Numbers], names: tuple[str, str]) -> tuple[Numbers, Numbers]:
    if missing := [name for name in names if name not in stats]:
        raise PolicyError(f"{key} is normalised by {mode}, and its statistics have no {' and no '.join(missing)}")
    first, second = (np.asarray(stats[name], np.float32) for name in names)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise PolicyError(f"the statistics of {key} are not finite: its data set is damaged")
    return first, second
