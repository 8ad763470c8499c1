"""The files of a LeRobot v3.0 data set that hold many episodes each: columns and videos, filled one after the other."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pyarrow.parquet as pq

from kc_vla.datasets.lerobot.episode import EpisodeInfo
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.v3_layout import DATA_PATH, VIDEO_PATH, place

_MB = 1 << 20


class Tables:
    """The files of columns, one after the other, an episode in a row group; a context manager."""

    def __init__(self, folder: Path, most_mb: float) -> None:
        """Args: `folder` of the data set; size at which a file is full, MB."""
        self._folder, self._most = folder, most_mb * _MB
        self._number, self._index = -1, 0
        self._size = 0
        self._file: pq.ParquetWriter | None = None

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, path: Path, episode: EpisodeInfo) -> dict[str, int]:
        """Add an episode; return where it is."""
        table = pq.read_table(path)
        size = path.stat().st_size
        if self._file is None or self._size + size > self._most:
            self.__exit__()
            self._number, self._size = self._number + 1, 0
            target = self._folder / DATA_PATH.format(**place(self._number))
            target.parent.mkdir(parents=True, exist_ok=True)
            self._file = pq.ParquetWriter(target, table.schema)
        self._file.write_table(table, row_group_size=max(1, table.num_rows))
        self._size += size
        begin, self._index = self._index, self._index + episode.length
        where = {f"data/{name}": value for name, value in place(self._number).items()}
        return {**where, "dataset_from_index": begin, "dataset_to_index": self._index}


class Films:
    """The video files of one camera, one after the other: packets are copied, nothing is encoded anew."""

    def __init__(self, folder: Path, key: str, fps: int, most_mb: float) -> None:
        """Args: `folder` of the data set; `key` of the camera; frames per second; size at which a file is full, MB."""
        self._folder, self._key, self._fps, self._most = folder, key, fps, most_mb * _MB
        self._number, self._frames = -1, 0
        self._size = 0
        self._output: Any = None
        self._stream: Any = None
        self._form: tuple[Any, ...] = ()

    def __enter__(self) -> Films:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._output is not None:
            self._output.close()

    def add(self, path: Path, episode: EpisodeInfo) -> dict[str, Any]:
        """Add an episode; return where it is.

        Raises:
            DataSetError: its video is of another form than those before, or has no clean times.
        """
        try:
            with av.open(str(path)) as container:
                self._append(container, path, episode)
        except av.FFmpegError as error:
            raise DataSetError(f"episode {episode.index}: {path} cannot be copied: {error.strerror}") from error
        begin = Fraction(self._frames, self._fps)
        self._frames += episode.length
        where = {f"videos/{self._key}/{name}": value for name, value in place(self._number).items()}
        return {
            **where,
            f"videos/{self._key}/from_timestamp": float(begin),
            f"videos/{self._key}/to_timestamp": float(Fraction(self._frames, self._fps)),
        }

    def _append(self, container: Any, path: Path, episode: EpisodeInfo) -> None:
        stream = container.streams.video[0]
        size = path.stat().st_size
        if self._output is None or self._size + size > self._most:
            self._begin(stream)
        if _form(stream) != self._form:
            raise DataSetError(f"episode {episode.index}: {path} has another form than the videos before it")
        ticks = 1 / (stream.time_base * self._fps)
        if ticks.denominator != 1:
            raise DataSetError(f"episode {episode.index}: the times of {path} are no multiples of 1/{self._fps} s")
        shift = self._frames * ticks.numerator
        for packet in container.demux(stream):
            if packet.dts is None:  # the end
                continue
            packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
            packet.stream = self._stream
            self._output.mux(packet)
        self._size += size

    def _begin(self, stream: Any) -> None:
        self.__exit__()
        self._number, self._frames, self._size = self._number + 1, 0, 0
        target = self._folder / VIDEO_PATH.format(video_key=self._key, **place(self._number))
        target.parent.mkdir(parents=True, exist_ok=True)
        self._output = av.open(str(target), "w", format="mp4", options={"movflags": "+faststart"})
        self._stream = self._output.add_stream_from_template(stream)
        self._stream.time_base = stream.time_base
        self._form = _form(stream)


def _form(stream: Any) -> tuple[Any, ...]:
    """What all videos in one file must have in common."""
    context = stream.codec_context
    return context.name, context.width, context.height, stream.time_base, bytes(context.extradata or b"")
