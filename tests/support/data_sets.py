"""Makes small LeRobot data sets for tests: a square that wanders, drawn in the colour of the episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.tasks import TASKS
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.datasets.lerobot.annotations import Annotation
from kc_vla.datasets.lerobot.episode import EpisodeInfo
from kc_vla.datasets.lerobot.episode_writer import EpisodeWriter
from kc_vla.datasets.lerobot.layout import RECORDED
from kc_vla.datasets.lerobot.meta import Form
from kc_vla.datasets.lerobot.v2_writer import V2Writer
from kc_vla.datasets.lerobot.writer import DataSetWriter

SIZE = 32
FPS = 20


def form(task: str = "counting") -> Form:
    return Form(task, TASKS[task].instruction, "development", FPS, SIZE, SIZE)


def picture(view: str, episode: int, frame: int) -> NDArray[np.uint8]:
    """What a camera saw: (SIZE, SIZE, 3)."""
    pixels = np.full((SIZE, SIZE, 3), 60 + 40 * DEFAULT_VIEWS.index(view), np.uint8)
    left = 2 * (frame % 12)
    pixels[8:24, left : left + 8] = (200, 40 * (episode % 5), 30)
    return pixels


def numbers(episode: int, frame: int) -> dict[str, NDArray[np.float64]]:
    """What was felt and done: a row of each column."""
    return {
        column.key: 0.01 * (np.arange(len(column.names)) + 100.0 * number + frame + episode / 10)
        for number, column in enumerate(RECORDED)
    }


def write_episode(folder: Path, episode: int, length: int, keyframes: Sequence[int], task: str = "counting") -> None:
    """Record one episode into a folder, as a worker does."""
    labels = TASKS[task].keyframes
    about = EpisodeInfo(episode, length, task, TASKS[task].instruction, episode, "paper", "standard", 0)
    with EpisodeWriter(folder, form(task)) as writer:
        for frame in range(length):
            writer.add(numbers(episode, frame), {view: picture(view, episode, frame) for view in DEFAULT_VIEWS})
        rows = [
            Annotation(episode, frame, frame * 1_000_000_000 // FPS, phase, labels[phase], "oracle", "test", 1.0)
            for phase, frame in enumerate(keyframes)
        ]
        writer.finish(about, rows)


def write_data_set(
    folder: Path,
    lengths: Sequence[int] = (30, 24),
    keyframes: Sequence[int] = (0, 6, 9, 15, 20),
    task: str = "counting",
    settings: Mapping[str, Any] | None = None,
    writer_of: Callable[[Path, Form, Mapping[str, Any]], DataSetWriter] = V2Writer,
) -> Path:
    """Write a whole data set, or go on with one, and return its folder."""
    with writer_of(folder, form(task), settings or {"variant": "paper"}) as writer:
        for episode in writer.missing(len(lengths)):
            write_episode(writer.incoming(episode), episode, lengths[episode], keyframes, task)
            writer.take_over()
        writer.finish()
    return folder
