"""Keeps the keyframes of an episode on disk, so that a restarted buffer finds them again.

One file per keyframe, written whole or not at all: arrays and a JSON header in NumPy's `.npz`, read without pickle.
The header names the views, whose images are `view_<name>`; in files from before it did there are two, by their names.
"""

from __future__ import annotations

import json
import lzma
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kc_vla.core.files import PART_OF, replacing, write_whole
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.keyframes.observation import Keyframe, Observation

_UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    OverflowError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
"""What reading a damaged file raises: the zip module has a name for every kind of flipped bit."""


_VIEW = "view_"
_BEFORE = {view: view for view in DEFAULT_VIEWS}
_OURS = r"\d{8,}\.npz|events"


class KeyframeStoreError(OSError):
    """A keyframe could not be written; the text says what to do."""


class KeyframeStore:
    """The keyframes of the running episode in one folder; those of earlier episodes are removed."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of a store; nothing is read yet.

        Args:
            folder: may hold other things; only its subfolder `keyframe_store` belongs to the store, and is cleared.
        """
        self.folder = folder / "keyframe_store"
        self.damaged: tuple[str, ...] = ()
        self.events = 0
        self._episode: Path | None = None

    def begin(self, episode_id: str) -> list[Keyframe]:
        """Make room for an episode; return what is there of it already, ascending by frame.

        `events` is then how many events had been taken in. Files that cannot be read (a torn disk: our own
        writing leaves none) are named in `damaged`.

        Raises:
            KeyframeStoreError: the folder cannot be used; nothing of this episode is kept then.
        """
        self._episode, self.damaged, self.events = None, (), 0
        if not episode_id or "/" in episode_id or episode_id.startswith("."):
            raise KeyframeStoreError(f"episode id '{episode_id}' cannot name a folder: use letters, digits and dashes")
        episode = self.folder / episode_id
        try:
            episode.mkdir(parents=True, exist_ok=True)
            for other in self.folder.iterdir():
                if other != episode and other.is_dir() and not other.is_symlink():
                    _clear(other)
            found = {path.name: _read(path) for path in sorted(episode.glob("*.npz"))}
        except (OSError, ValueError) as error:
            raise KeyframeStoreError(f"keyframes cannot be kept in {self.folder}: {error}. Check the folder") from error
        self._episode = episode
        self.damaged = tuple(name for name, keyframe in found.items() if keyframe is None)
        try:
            self.events = int((episode / "events").read_text())
        except FileNotFoundError:
            pass  # nothing taken in yet
        except (OSError, ValueError):
            self.damaged += ("events",)
        return sorted((k for k in found.values() if k is not None), key=lambda k: k.observation.frame)

    def put(self, keyframe: Keyframe) -> None:
        """Write one keyframe, in place of an earlier version of the same frame.

        Raises:
            KeyframeStoreError: it could not be written; what was there before is untouched.
        """
        frame = keyframe.observation.frame
        try:
            with replacing(self._path(f"{frame:08d}.npz")) as part, part.open("wb") as file:
                _write(file, keyframe)
        except OSError as error:
            raise KeyframeStoreError(
                f"keyframe of frame {frame} could not be kept in {self.folder}: {error}. "
                "It stays in memory; free some space"
            ) from error

    def note(self, events: int) -> None:
        """Write down how many events were taken in.

        Raises:
            KeyframeStoreError: it could not be written.
        """
        try:
            write_whole(self._path("events"), str(events))
        except OSError as error:
            raise KeyframeStoreError(
                f"the event count could not be kept in {self.folder}: {error}. Free some space"
            ) from error

    def remove(self, frame: int) -> None:
        """Remove the keyframe of a frame; nothing happens if there is none.

        Raises:
            KeyframeStoreError: it could not be removed.
        """
        try:
            self._path(f"{frame:08d}.npz").unlink(missing_ok=True)
        except OSError as error:
            raise KeyframeStoreError(
                f"keyframe of frame {frame} could not be removed from {self.folder}: {error}. Check the folder"
            ) from error

    def _path(self, name: str) -> Path:
        if self._episode is None:
            raise OSError("its folder could not be opened when the episode began")
        return self._episode / name


def _clear(folder: Path) -> None:
    """Remove what this module wrote into the folder of an episode, and the folder if nothing else is in it."""
    for path in folder.iterdir():
        if re.fullmatch(_OURS, PART_OF.sub(r"\1", path.name)) and not path.is_dir():
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()


def _write(file: BinaryIO, keyframe: Keyframe) -> None:
    seen = keyframe.observation
    header = {
        "label": keyframe.label,
        "phase": keyframe.phase,
        "score": keyframe.score,
        "source": keyframe.source,
        "committed": keyframe.committed,
        "frame": seen.frame,
        "stamp_ns": seen.stamp_ns,
        "joint_names": list(seen.joint_names),
        "views": list(seen.views),
    }
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        "joint_positions": seen.joint_positions,
        "joint_velocities": seen.joint_velocities,
        "tool_pose": seen.tool_pose,
        **{f"{_VIEW}{view}": pixels for view, pixels in seen.views.items()},
    }
    np.savez(file, **arrays)


def _read(path: Path) -> Keyframe | None:
    """Return the keyframe in a file, or None for a damaged file."""
    try:
        with np.load(path, allow_pickle=False) as data:
            header = json.loads(data["header"].tobytes())
            named = {view: f"{_VIEW}{view}" for view in header["views"]} if "views" in header else _BEFORE
            return Keyframe(
                label=str(header["label"]),
                phase=int(header["phase"]),
                score=float(header["score"]),
                source=str(header["source"]),
                committed=bool(header["committed"]),
                observation=Observation(
                    frame=int(header["frame"]),
                    stamp_ns=int(header["stamp_ns"]),
                    views={view: data[array] for view, array in named.items()},
                    joint_names=tuple(header["joint_names"]),
                    joint_positions=data["joint_positions"],
                    joint_velocities=data["joint_velocities"],
                    tool_pose=data["tool_pose"],
                ),
            )
    except _UNREADABLE:
        return None
