"""Which frames a policy learns from, and how often: some episodes are held out, to see what the others teach."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from kc_vla.learning.policy.samples import PolicySamples


def held_out(samples: PolicySamples, share: float) -> NDArray[np.bool_]:
    """Return which rows are not learned from: episodes of each task, at least one of those that have two.

    Chance decides for each episode by its name alone. So one that is held out is so in every run that goes on from
    this one, too, whatever was recorded meanwhile.
    """
    held = np.zeros(len(samples.frames), bool)
    dealt = np.array([int(hashlib.sha256(name.encode()).hexdigest()[:12], 16) / 16**12 for name in samples.names])
    for instruction in np.unique(samples.instructions):
        episodes = np.unique(samples.episodes[samples.instructions == instruction])
        ordered = episodes[np.argsort(dealt[episodes], kind="stable")]
        count = min(max(1, int((dealt[episodes] < share).sum())), len(episodes) - 1)
        held |= np.isin(samples.episodes, ordered[:count])
    return held


def balanced(samples: PolicySamples, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probability of each row, the same for every instruction in sum."""
    shares = samples.shares[rows]
    sums = np.bincount(samples.instructions[rows], shares)
    shares = shares / sums[samples.instructions[rows]]
    return np.asarray(shares / shares.sum())
