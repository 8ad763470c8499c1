"""What LeRobot data sets of all versions have in common for a reader: episodes, columns, images, instructions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kc_vla.datasets.lerobot.annotations import Annotation, read_annotations, read_keyframes
from kc_vla.datasets.lerobot.columns import Columns, read_columns
from kc_vla.datasets.lerobot.consistency import (
    EPISODE_INDEX,
    TASK_INDEX,
    TIMESTAMP,
    segments_in_words,
    segments_of,
    timestamp_doubt,
)
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.findings import Findings
from kc_vla.datasets.lerobot.frames import VideoTimes, read_frames, video_times
from kc_vla.datasets.lerobot.layout import ANNOTATIONS, INFO, KEYFRAME, KEYFRAMES
from kc_vla.datasets.lerobot.stored_images import holds_depth, stored_images
from kc_vla.datasets.lerobot.tables import episode_table
from kc_vla.datasets.lerobot.video_places import Places, rhythm_doubt


@dataclass(frozen=True)
class SourceEpisode:
    """One episode.

    Attributes:
        index: in the data set.
        length: frames.
        instruction: in words; empty where there is none.
        row: all that the data set's table of episodes says of it.
    """

    index: int
    length: int
    instruction: str
    row: Mapping[str, Any]


class Source(ABC):
    """A data set.

    Attributes:
        folder: where it is.
        fps: frames per second.
        features: what `info.json` says of each column and camera.
        cameras: keys of its images, videos first.
        episodes: by index.
        findings: where it contradicts itself, as far as it has been read.
    """

    def __init__(self, folder: Path, info: Mapping[str, Any]) -> None:
        self.folder = folder
        try:
            self.fps, self.features = float(info["fps"]), dict(info["features"])
            kinds = {key: str(feature["dtype"]) for key, feature in self.features.items()}
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DataSetError(f"{folder / INFO} is not that of a LeRobot data set: {error!r}") from error
        if not 0 < self.fps < math.inf:
            raise DataSetError(f"{folder / INFO}: bad fps {self.fps}")
        self._videos = [key for key, kind in kinds.items() if kind == "video"]
        self.cameras = [*self._videos, *(key for key, kind in kinds.items() if kind == "image")]
        self.findings = Findings(folder)
        self._known_times: dict[Path, VideoTimes] = {}
        self.episodes = self._read_episodes()
        if not self.episodes:
            raise DataSetError(f"{folder} has no episodes (yet)")

    def names(self, key: str) -> tuple[str, ...] | None:
        """Return what the numbers of a column are called; None where the data set does not say."""
        return _names_in(self.features.get(key, {}).get("names"))

    def keyframes(self, episode: SourceEpisode) -> tuple[int, ...]:
        """Return the keyframes of an episode, ascending, the first 0; none where the data set does not say.

        They are in `keyframes.json`, or, where LeRobot's own tools have taken episodes away or put data sets together,
        in the column `annotation.keyframe` alone.

        Raises:
            DataSetError: they are not as they should be.
        """
        if episode.index in self._keyframes:
            return self._keyframes[episode.index]
        marked = self.columns(episode, [KEYFRAME.key]).get(KEYFRAME.key) if KEYFRAME.key in self.features else None
        if marked is None or not marked.any():
            return ()
        frames = np.flatnonzero(np.ravel(marked)).tolist()
        if frames[0] != 0:
            raise DataSetError(f"{self.told(episode)}, frame {frames[0]}: the first keyframe must be frame 0")
        return tuple(frames)

    @cached_property
    def _keyframes(self) -> dict[int, tuple[int, ...]]:
        """Return what `keyframes.json` says."""
        path = self.folder / KEYFRAMES
        return read_keyframes(path, {e.index: e.length for e in self.episodes}) if path.exists() else {}

    def annotations(self) -> tuple[Annotation, ...]:
        """Return what is known of the keyframes; empty where the data set does not say."""
        path = self.folder / ANNOTATIONS
        return read_annotations(path) if path.exists() else ()

    def columns(self, episode: SourceEpisode, only: Sequence[str] | None = None) -> Columns:
        """Return the numeric columns of an episode, all or those of `only` that there are, by name.

        Each is (length,) or (length, D), in the order of `frame_index`. It is checked when it is asked for.

        Raises:
            DataSetError: they cannot be read, or are not as long as the episode, or `frame_index` does not number them.
        """
        wanted = [key for key in only or self.features if key not in self.cameras]
        index, told = self._index_in_file(episode), self.told(episode)
        note = partial(self.findings.add, episode.index)
        return read_columns(self.data_path(episode), told, episode.length, wanted, index, note)

    def is_depth(self, camera: str) -> bool:
        """Return whether a camera measures depth, as its feature or its first image says; DataSetError as `frames`."""
        feature = self.features[camera]
        about = {**feature, **(feature.get("info") or {})}
        if about.get("is_depth_map") is True or about.get("video.is_depth_map") is True:
            return True
        if camera in self._videos:
            return False
        column, path = self._images(self.episodes[0], camera)
        return holds_depth(self.folder, column, f"{self.told(self.episodes[0])}, {camera}, frame 0", path)

    def frames(self, episode: SourceEpisode, camera: str) -> Iterator[NDArray[np.uint8]]:
        """Return the images of an episode from its start, each (H, W, 3), RGB: exactly as many as it has frames.

        Raises:
            DataSetError: one cannot be read; the message names the frame.
        """
        told = f"{self.told(episode)}, {camera}"
        if camera not in self._videos:
            column, path = self._images(episode, camera)
            yield from stored_images(self.folder, column, told, path)
            return
        video = self.video_path(episode, camera)
        times = self._times(video)
        yield from read_frames(video, told, self._places(episode, camera, times).images, times)

    def segments(self, episode: SourceEpisode) -> tuple[tuple[int, str], ...]:
        """Return the first row and the instruction of each segment of an episode, as its rows say; empty: they do not.

        Raises:
            DataSetError: as `columns`.
        """
        found = self.columns(episode, [TASK_INDEX])
        return segments_of(found.unchecked(TASK_INDEX) if TASK_INDEX in found else None, self._tasks)

    def instruction(self, episode: SourceEpisode) -> str:
        """Return the instruction of an episode: the first of its rows where `meta/episodes` has it too, else its first.

        Raises:
            DataSetError: as `columns`.
        """
        listed = episode.row.get("tasks") or []
        return next((text for _, text in self.segments(episode)[:1] if text in listed), episode.instruction)

    def examine(self, episode: SourceEpisode, rate: float = 0.0, importing: bool = False) -> None:
        """Add to `findings` where rows and videos of an episode contradict the tables of the data set.

        Args:
            episode: to look at.
            rate: frames per second that the user has given instead of the data set's, or 0.
            importing: whether the options of an import are advised.

        Raises:
            DataSetError: as `columns`, or a frame is not in its video.
        """
        add = partial(self.findings.add, episode.index)
        found = self.columns(episode, [TIMESTAMP, EPISODE_INDEX])
        if TIMESTAMP in (*found, *found.without_numbers) and not rate:
            stamps = found.unchecked(TIMESTAMP) if TIMESTAMP in found else np.full(episode.length, np.nan)
            wrong, detail, advice = timestamp_doubt(stamps, self.fps)
            if wrong:
                add(f"{wrong}; {advice}" if advice and importing else wrong, detail)
        said = np.ravel(found.unchecked(EPISODE_INDEX)) if EPISODE_INDEX in found else np.array([])
        if others := set(said[np.isfinite(said)].tolist()) - {episode.index}:
            add("its file says that it is another episode", f"episode_index {min(others):g}")
        segments, taken = self.segments(episode), self.instruction(episode)
        if len(segments) > 1:
            kept = "its task changes: the whole episode gets the first one's instruction"
            add(f"{kept}, or that of --instruction" if importing else kept, segments_in_words(segments))
        elif segments and segments[0][1] != taken:
            told = f"'{taken}', not '{segments[0][1]}'"
            add("its rows have another task than meta/episodes says: that of meta/episodes is taken", told)
        for camera in self._videos:
            times = self._times(self.video_path(episode, camera))
            places = self._places(episode, camera, times)
            wrong, detail = places.doubt, places.detail
            if not wrong:
                of_rows = found.unchecked(TIMESTAMP) if TIMESTAMP in found else None
                wrong, detail = rhythm_doubt(times, places.images, rate or self.fps, of_rows)
            if wrong:
                add(wrong, f"{camera}: {detail}")

    def told(self, episode: SourceEpisode) -> str:
        """Return what an error calls an episode."""
        return f"{self.folder}, episode {episode.index}"

    @abstractmethod
    def data_path(self, episode: SourceEpisode) -> Path:
        """Return where the columns of an episode are."""

    @abstractmethod
    def video_path(self, episode: SourceEpisode, camera: str) -> Path:
        """Return where the video of an episode is."""

    @abstractmethod
    def _read_episodes(self) -> tuple[SourceEpisode, ...]: ...

    @abstractmethod
    def _index_in_file(self, episode: SourceEpisode) -> int | None: ...

    @abstractmethod
    def _read_tasks(self) -> dict[int, str]: ...

    @abstractmethod
    def _places(self, episode: SourceEpisode, camera: str, times: VideoTimes) -> Places: ...

    @cached_property
    def _tasks(self) -> dict[int, str]:
        """Return the instructions of the data set by their index."""
        return self._read_tasks()

    def _images(self, episode: SourceEpisode, camera: str) -> tuple[pa.ChunkedArray, Path]:
        """Return the column of a camera whose images are in the table, and the table's file."""
        path = self.data_path(episode)
        table = episode_table(path, self.told(episode), [camera], self._index_in_file(episode))
        if camera not in table.column_names:
            raise DataSetError(f"{self.told(episode)}, {camera}: {path} has no such column")
        return table.column(camera), path

    def _times(self, video: Path) -> VideoTimes:
        """Return when the images of a video are shown; each file is read once."""
        if video not in self._known_times:
            self._known_times[video] = video_times(video, self.fps)
        return self._known_times[video]


def _names_in(names: Any) -> tuple[str, ...] | None:
    """Return names in the forms of LeRobot and its drivers: lists of them, also of groups, or places by name."""
    if isinstance(names, dict):  # {"motors": [...]}, {"arm": [...], "hand": [...]}, {"delta_x": 0, "delta_y": 1}
        places = list(names.values())
        if names and all(type(place) is int for place in places):
            ordered = sorted(names, key=names.__getitem__)
            return tuple(ordered) if sorted(places) == list(range(len(places))) else None
        names = places
    if not isinstance(names, list):
        return None
    if all(isinstance(name, str) for name in names):
        return tuple(names)
    groups = [_names_in(group) for group in names]
    return tuple(name for group in groups for name in group or ()) if all(groups) else None
