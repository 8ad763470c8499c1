"""Episodes with what the expert *would* do from each state: the labels of a policy that learns in a simulator.

The actions that an expert executes depend on what no policy can know, such as the next change of a lamp; its plan from
a state does not. The expert can plan from any state, also one that a policy reached. Only some frames are stored, so
this is no LeRobot data set: it has one .npz file for each episode, in a folder with the settings of the collection.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.files import replacing
from kc_vla.datasets.collected import CollectedFolder, collecting
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import read_json

SETTINGS = "collection.json"
_EPISODE = "episode_{:06d}.npz"
_PICTURES = "pictures/"
_ABOUT = ("task", "instruction", "seed", "variant", "looks", "attempt", "driver", "success")


@dataclass(frozen=True, eq=False)
class PlannedEpisode:
    """One episode, of which K frames are stored: among them every keyframe, also those of events.

    Attributes:
        about: task, instruction, seed, variant, looks, attempt, driver (who moved the arm), success.
        frames: (K,) int64, ascending, index of each kept frame in the episode.
        states: (K, S) float32, see `kc_vla.core.codec`.
        plans: (K, H, D) float32, the actions that the expert would take from there.
        phases: (K,) str, phase of the expert's motion.
        places: (K, S) float32, state at which the gripper will change next, or the tool comes to rest.
        ahead: (K,) int64, control steps until then.
        keyframes: frame of each ground-truth keyframe, ascending.
        events: frame of each keyframe that events select, ascending; None: events were not computed.
        pictures: by view, (K, height, width, 3) uint8 RGB.
        learnt: (K,) frames that the training learns from; the others are only memory. None: all. It is in no file.
    """

    about: Mapping[str, Any]
    frames: NDArray[np.int64]
    states: NDArray[np.float32]
    plans: NDArray[np.float32]
    phases: NDArray[np.str_]
    places: NDArray[np.float32]
    ahead: NDArray[np.int64]
    keyframes: NDArray[np.int64]
    pictures: Mapping[str, NDArray[np.uint8]]
    learnt: NDArray[np.bool_] | None = None
    events: NDArray[np.int64] | None = None

    def write(self, path: Path) -> None:
        """Write it whole or not at all."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        arrays |= {} if self.events is None else {_EVENTS: self.events}
        arrays |= {f"{_PICTURES}{view}": pictures for view, pictures in self.pictures.items()}
        with replacing(path) as part, part.open("wb") as file:
            np.savez_compressed(file, about=np.array(json.dumps(dict(self.about))), **arrays)


_ARRAYS = ("frames", "states", "plans", "phases", "places", "ahead", "keyframes")
_EVENTS = "events"


def read_planned(path: Path) -> PlannedEpisode:
    """Read an episode.

    Raises:
        DataSetError: it cannot be read, or is none; the text says what to do.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            about = json.loads(str(stored["about"]))
            arrays = {name: stored[name] for name in _ARRAYS}
            arrays |= {_EVENTS: stored[_EVENTS]} if _EVENTS in stored.files else {}
            pictures = {n.removeprefix(_PICTURES): stored[n] for n in stored.files if n.startswith(_PICTURES)}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataSetError(f"{path} cannot be read ({error}): delete it and collect again, it is made anew") from error
    count = len(arrays["frames"])
    lengths = {len(arrays[name]) for name in ("states", "plans", "phases", "places", "ahead")}
    lengths |= {len(shown) for shown in pictures.values()}
    chosen = np.concatenate([arrays["keyframes"], arrays.get(_EVENTS, arrays["frames"][:0])])
    if lengths != {count} or not set(_ABOUT) <= set(about) or not np.isin(chosen, arrays["frames"]).all():
        raise DataSetError(f"{path} is no episode with plans: delete it and collect again, it is made anew")
    return PlannedEpisode(about=about, pictures=pictures, **arrays)


def read_folder(path: Path) -> CollectedFolder:
    """Return a folder of such episodes, to read.

    Raises:
        DataSetError: it holds no such episodes.
    """
    folder = CollectedFolder(path, read_json(path / SETTINGS), _EPISODE)
    if not folder.files():
        raise DataSetError(f"{path} holds no episode yet: collect some, or delete it")
    return folder


def writing(path: Path, settings: Mapping[str, Any]) -> AbstractContextManager[CollectedFolder]:
    """Begin or continue a folder of episodes with plans, and lock it for this process.

    Raises:
        DataSetError: The folder has other settings or contents, or another process writes it.
    """
    return collecting(path, SETTINGS, settings, "kc-vla collect --plans", _EPISODE)
