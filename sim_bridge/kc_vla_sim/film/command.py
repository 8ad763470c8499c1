"""`kc-vla sim play`: plays an episode of the expert and writes its video while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from kc_vla.core.tasks import find_task
from kc_vla.media.mp4 import Mp4Writer
from kc_vla_sim.choices import STANDARD_ASSETS
from kc_vla_sim.film.layout import HEIGHT, WIDTH, FilmLayout, KeyframeTile, VideoFrame
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.protocol import check_seed
from kc_vla_sim.robot import CONTROL_RATE
from kc_vla_sim.simulator import Simulator

_ENDING_S = 2.0
_SHOWN_AFTER_NEWS = CONTROL_RATE
"""Frames that are filmed after a keyframe or a decision, whether or not anything moves."""
_STILL = 0.05
"""Nothing moves between two images that differ by less than this on average, of 255."""


@dataclass(frozen=True)
class FilmOptions:
    """The episode to record as a video.

    Attributes:
        task: name in the task table.
        seed: of the episode.
        variant: of the task.
        looks: of the task.
        image_size: of each camera, px.
        renderer: see `Simulator`.
        skip_waits: leave out frames in which nothing moves.
        output: file to write, .mp4.
        assets: of the kitchen.
    """

    task: str
    seed: int
    variant: str
    looks: str
    image_size: int
    renderer: str
    skip_waits: bool
    output: Path
    assets: str = STANDARD_ASSETS


def play_to_film(options: FilmOptions) -> str:
    """Record a video of an episode at the speed of its simulated time.

    Return one line that says how it ended and where the video is.

    Raises:
        UnknownTaskError, BadSeedError, BadVariantError, BadLooksError, BadImageSizeError, RendererError: as these say.
        BadAssetsError, AssetsError: as these say.
        OSError: the video cannot be written; none is left then.
    """
    task, seed, path = find_task(options.task), check_seed(options.seed), options.output
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder, name a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}")
    simulator = Simulator(
        options.image_size, options.renderer, variant=options.variant, looks=options.looks, assets=options.assets
    )
    layout = FilmLayout(task, seed, options.variant, options.looks)
    with Mp4Writer(path, WIDTH, HEIGHT, 1 / CONTROL_RATE) as film:
        number = 0
        before: SimulatedFrame | None = None
        for moment in tqdm(_moments(simulator, task.name, seed), desc=f"{task.name}, seed {seed}", unit="frame"):
            if not (options.skip_waits and before is not None and _only_waits(before, moment)):
                film.add(layout.compose(moment), number)
                number += 1
            before = moment.frame
        film.add_still(layout.compose(moment), number, _ENDING_S)
    simulator.close()
    frame = moment.frame
    stages = f"{frame.completed_stages} of {len(task.stages)} stages"
    return f"{task.name}, seed {seed}: {frame.reason} after {frame.index / CONTROL_RATE:.2f} s ({stages}): {path}"


def _moments(simulator: Simulator, task: str, seed: int) -> Iterator[VideoFrame]:
    """Play an episode of the expert."""
    frame = simulator.reset(task, seed)
    seen: dict[str, KeyframeTile] = {}
    while True:
        for keyframe in simulator.keyframes:
            if keyframe.frame == frame.index:
                seen[keyframe.label] = KeyframeTile(frame.index, frame.views)
        actions, phase = simulator.expert.plan(1)
        yield VideoFrame(frame, phase, dict(seen), simulator.decisions)
        if frame.done:
            return
        frame = simulator.step(actions[0])


def _only_waits(before: SimulatedFrame, moment: VideoFrame) -> bool:
    """Return whether nothing moves, nothing is over and nothing has become known for a while."""
    frame = moment.frame
    if frame.done or frame.index - moment.newest < _SHOWN_AFTER_NEWS:
        return False
    views = zip(before.views.values(), frame.views.values(), strict=True)
    return all(np.abs(one.astype(int) - other).mean() < _STILL for one, other in views)
