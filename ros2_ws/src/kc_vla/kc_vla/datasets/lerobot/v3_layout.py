"""Where the files of a LeRobot v3.0 data set lie: many episodes in each, found by the table `meta/episodes`."""

from __future__ import annotations

VERSION = "v3.0"
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES_PATH = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
TASKS = "meta/tasks.parquet"
FILES_PER_CHUNK = 1000
DATA_FILE_MB, VIDEO_FILE_MB = 100, 200
"""A file that has reached this size is followed by another."""


def place(number: int) -> dict[str, int]:
    """Return the chunk and file index of the file of that number."""
    return {"chunk_index": number // FILES_PER_CHUNK, "file_index": number % FILES_PER_CHUNK}
