"""The files of a LeRobot v3.0 data set that hold several episodes each: columns and videos, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import av
import pyarrow.parquet as pq

from kc_vla.core.files import replacing
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.v3_layout import place

_MB = 1 << 20


class FileSeries:
    """Files that are filled one after the other: those of the columns, or the videos of one camera.

    Each episode comes as a file of its own, its piece. A file of the series is written when it is full, or at the end,
    and whole or not at all. The sizes of the pieces alone say which file an episode is in, so that an interrupted
    data set goes on as if it had not been interrupted.
    """

    def __init__(self, path: Callable[[int], Path], most_mb: float, join: Callable[[Sequence[Path], Path], None]):
        """Begin without any episode.

        Args:
            path: of the file of each number.
            most_mb: size at which a file is full, MB.
            join: writes pieces, one after the other, into a file.
        """
        self._path, self._most, self._join = path, most_mb * _MB, join
        self._files: list[list[Path]] = []
        self._size = self._frames = 0
        self._written = 0

    def add(self, piece: Path, size: int, length: int) -> tuple[dict[str, int], int]:
        """Add the next episode.

        Args:
            piece: its file.
            size: of the piece, bytes.
            length: frames of the episode.

        Returns:
            The chunk and file index of the file that it is in, and how many frames that file has before it.
        """
        if not self._files or self._size + size > self._most:
            self._files.append([])
            self._size = self._frames = 0
        self._files[-1].append(piece)
        before = self._frames
        self._size, self._frames = self._size + size, before + length
        return place(len(self._files) - 1), before

    def write_full(self) -> None:
        """Write the files to which nothing more comes, and delete their pieces."""
        full = self._files[:-1]
        for number in range(self._written, len(full)):
            self._write(number)
            for piece in full[number]:
                piece.unlink(missing_ok=True)
        self._written = len(full)

    def write_last(self) -> None:
        """Write the last file, too; its pieces stay."""
        self.write_full()
        if self._files:
            self._write(len(self._files) - 1)

    def paths(self) -> list[Path]:
        """Return the files of the series."""
        return [self._path(number) for number in range(len(self._files))]

    def _write(self, number: int) -> None:
        """Write a file; one that is there already is whole if pieces of it are gone."""
        target, pieces = self._path(number), self._files[number]
        if target.exists() and not all(piece.exists() for piece in pieces):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as part:
            self._join(pieces, part)


def join_tables(pieces: Sequence[Path], path: Path) -> None:
    """Write Parquet files of the same columns into one, a row group each."""
    with pq.ParquetWriter(path, pq.read_schema(pieces[0])) as writer:
        for piece in pieces:
            table = pq.ParquetFile(piece).read()
            writer.write_table(table, row_group_size=max(1, table.num_rows))


def join_videos(pieces: Sequence[Path], path: Path, fps: int) -> None:
    """Write videos one after the other into an MP4 file: packets are copied, nothing is encoded anew.

    Args:
        pieces: videos of one form, without gaps.
        path: of the file.
        fps: frames per second of all of them.

    Raises:
        DataSetError: a piece cannot be copied, or is of another form than the first.
    """
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as output:
        target: Any = None
        form: tuple[Any, ...] = ()
        images = 0
        for piece in pieces:
            try:
                with av.open(str(piece)) as container:
                    stream: Any = container.streams.video[0]
                    packets: Any = container.demux(stream)
                    if target is None:
                        target, form = output.add_stream_from_template(stream), _form(stream)
                        target.time_base = stream.time_base
                    if _form(stream) != form:
                        raise DataSetError(
                            f"{piece} has another form than the videos before it, as of another encoder: "
                            "delete the folder of the unfinished data set, and start again"
                        )
                    shift = round(images / (stream.time_base * fps))
                    for packet in packets:
                        if packet.dts is None:  # the end
                            continue
                        packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                        packet.stream = target
                        output.mux(packet)
                        images += 1
            except av.FFmpegError as error:
                raise DataSetError(f"{piece} cannot be copied: {error.strerror}") from error


def _form(stream: Any) -> tuple[Any, ...]:
    """Return what all videos in one file must have in common."""
    context = stream.codec_context
    return context.name, context.width, context.height, stream.time_base, bytes(context.extradata or b"")
