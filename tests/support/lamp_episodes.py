"""Small data sets of which a selector can learn in seconds: the picture changes its colour at each keyframe."""

from __future__ import annotations

import colorsys
from pathlib import Path

import numpy as np
from data_sets import FPS, SIZE, form, numbers

from kc_vla.core.tasks import TASKS
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.datasets.lerobot.annotations import Annotation
from kc_vla.datasets.lerobot.episode import EpisodeInfo
from kc_vla.datasets.lerobot.episode_writer import EpisodeWriter
from kc_vla.datasets.lerobot.v2_writer import V2Writer
from kc_vla.datasets.lerobot.v3_writer import V3Writer


def write_lamp_data(
    folder: Path, episodes: int, seed: int, tasks: tuple[str, ...] = tuple(TASKS), in_v3: tuple[str, ...] = ()
) -> Path:
    """Write a data set for each of `tasks`, with keyframes at random moments, and return the folder.

    Those of `in_v3` are of version 3.0, the others of 2.1.
    """
    chance = np.random.default_rng(seed)
    for task in tasks:
        with (V3Writer if task in in_v3 else V2Writer)(folder / task, form(task), {"variant": "paper"}) as writer:
            for episode in writer.missing(episodes):
                gaps = chance.integers(12, 24, len(TASKS[task].keyframes))
                keyframes = (0, *np.cumsum(gaps[:-1]).tolist())
                _write_episode(writer.incoming(episode), task, episode, keyframes, int(gaps.sum()))
                writer.take_over()
            writer.finish()
    return folder


def _write_episode(folder: Path, task: str, episode: int, keyframes: tuple[int, ...], length: int) -> None:
    labels, row = TASKS[task].keyframes, sorted(TASKS).index(task)
    about = EpisodeInfo(episode, length, task, TASKS[task].instruction, episode, "paper", "standard", 0)
    with EpisodeWriter(folder, form(task)) as writer:
        for frame in range(length):
            passed = sum(keyframe <= frame for keyframe in keyframes) - 1
            colour = 255 * np.array(colorsys.hsv_to_rgb(passed / 6, 0.9, 0.9))
            pixels = np.full((SIZE, SIZE, 3), 40, np.uint8)
            pixels[6 * row + 2 : 6 * row + 8] = colour.astype(np.uint8)
            writer.add(numbers(episode, frame), dict.fromkeys(DEFAULT_VIEWS, pixels))
        writer.finish(
            about,
            [
                Annotation(episode, frame, frame * 1_000_000_000 // FPS, phase, labels[phase], "oracle", "test", 1.0)
                for phase, frame in enumerate(keyframes)
            ],
        )
