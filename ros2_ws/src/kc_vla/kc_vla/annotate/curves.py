"""The curves below the images of the timeline: gripper, joint velocity, tool height, the selector's score, who drove.

Read from the whole bag once, in the background, and kept in the user's cache: a bag of gigabytes takes a while.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.bags.find import changes_with
from kc_vla.core.driver import Driver
from kc_vla.core.files import replacing
from kc_vla.core.home import cache_home
from kc_vla.core.robot import gripper_joints

UNITS = {"gripper": "m", "joint speed": "rad/s", "tool height": "m", "score": "", "person drives": ""}
_POINTS = 4000
_CACHE_FORM = 3


@dataclass(frozen=True, eq=False)
class SignalCurve:
    """One quantity over time.

    Attributes:
        times: (N,) s since the first frame.
        values: (N,) in the unit of `UNITS`; NaN where there is none.
    """

    times: NDArray[np.float64]
    values: NDArray[np.float64]

    def thinned(self, points: int = _POINTS) -> SignalCurve:
        """Return the curve with at most about so many points.

        Of each segment it keeps the least and the greatest, so that no peak is lost.
        """
        if len(self.times) <= points:
            return self
        stretches = np.array_split(np.arange(len(self.times)), points // 2)
        keep = []
        for stretch in stretches:
            values = np.nan_to_num(self.values[stretch], nan=-np.inf)
            keep += sorted({int(stretch[values.argmin()]), int(stretch[values.argmax()])})
        return SignalCurve(self.times[keep], self.values[keep])

    def at(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value before each of these times, the first one where there is none before."""
        if not len(self.times):
            return np.full(len(times), np.nan)
        return self.values[np.maximum(np.searchsorted(self.times, times, side="right") - 1, 0)]


Curves = Mapping[str, SignalCurve]


def read_curves(episode: AnnotatedEpisode) -> dict[str, SignalCurve]:
    """Return all curves that the bag has something for.

    Raises:
        BagError: a message cannot be read.
    """
    times = episode.recorded_at("joint_states")
    openings, speeds = _felt(episode, times)
    heights = np.array([float(message.pose.position.z) for message in episode.messages("tool_pose")])
    scores = np.array([float(message.score) for message in episode.messages("keyframes/score")])
    curves = {
        "gripper": SignalCurve(times, openings),
        "joint speed": SignalCurve(times, speeds),
        "tool height": SignalCurve(episode.recorded_at("tool_pose"), heights),
        "score": SignalCurve(episode.recorded_at("keyframes/score"), scores),
        "person drives": _person(episode),
    }
    return {name: curve for name, curve in curves.items() if np.isfinite(curve.values).any()}


def _person(episode: AnnotatedEpisode) -> SignalCurve:
    """Return a curve that is 1 while a person had taken over from the policy, else 0; nothing where nobody has."""
    told = np.array([float(message.driver == Driver.PERSON) for message in episode.messages("policy/driver")])
    if not told.any():
        return SignalCurve(np.zeros(0), np.zeros(0))
    turns, end = episode.recorded_at("policy/driver"), float(episode.times_s[-1])
    times, values = np.repeat([*turns, max(end, turns[-1])], 2)[1:-1], np.repeat(told, 2)
    return SignalCurve(times, values)


def cached_curves(episode: AnnotatedEpisode, read: Callable[[AnnotatedEpisode], Curves] = read_curves) -> Curves:
    """Return the curves, from the cache where the bag has not changed since; errors as `read_curves`."""
    path = cache_file(episode.bag)
    if path.exists():
        with np.load(path) as held:
            names = sorted({key.partition("/")[0] for key in held.files})
            return {name: SignalCurve(held[f"{name}/times"], held[f"{name}/values"]) for name in names}
    curves = read(episode)
    columns = {f"{name}/{part}": getattr(curve, part) for name, curve in curves.items() for part in ("times", "values")}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("wb") as file:
        np.savez(file, **columns)
    return curves


def cache_file(bag: Path) -> Path:
    """Return where the curves of the present version of a bag are kept."""
    facts = [str(_CACHE_FORM), str(bag.resolve()), *changes_with(bag)]
    name = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]
    return cache_home() / "kc_vla" / "curves" / f"{name}.npz"


def _felt(episode: AnnotatedEpisode, times: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the gripper width (m), and the speed of all other joints together (rad/s), at each joint state.

    The joints called finger or gripper add up. The speed is from the positions where no velocities were recorded.
    """
    openings, speeds = np.full(len(times), np.nan), np.full(len(times), np.nan)
    before: tuple[float, NDArray[np.float64]] | None = None
    for k, message in enumerate(episode.messages("joint_states")):
        holds = np.zeros(len(message.name), bool)
        holds[gripper_joints(message.name)] = True
        places = np.array(message.position, float)
        if len(places) != len(holds):
            continue
        if holds.any():
            openings[k] = places[holds].sum()
        if len(message.velocity) == len(holds) and np.isfinite(message.velocity).all():
            speeds[k] = np.linalg.norm(np.array(message.velocity, float)[~holds])
        elif before is not None and len(before[1]) == len(places) and times[k] > before[0]:
            speeds[k] = np.linalg.norm((places - before[1])[~holds]) / (times[k] - before[0])
        before = (float(times[k]), places)
    return openings, speeds
