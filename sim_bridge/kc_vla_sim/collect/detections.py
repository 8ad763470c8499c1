"""`kc-vla collect --detections`: images of the kitchen with the objects in them, a file for each seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from kc_vla.core.splits import seeds_of
from kc_vla.core.tasks import find_task
from kc_vla.datasets.detections.folder import writing_scenes
from kc_vla.datasets.detections.labels import ImageLabel
from kc_vla.datasets.detections.scene_file import write_scene
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla_sim import envs as envs  # registers the tasks
from kc_vla_sim.choices import LARGEST_IMAGE, STANDARD, STANDARD_ASSETS, check_looks
from kc_vla_sim.collect.kitchen_labels import kitchen_labels
from kc_vla_sim.collect.kitchen_moments import draw_moment
from kc_vla_sim.collect.kitchen_play import EVERY_S, played_moments
from kc_vla_sim.envs.kitchen import KitchenEnv
from kc_vla_sim.errors import BadImageSizeError
from kc_vla_sim.frame import DepthImage, Image
from kc_vla_sim.kitchen.asset_sets import find_assets
from kc_vla_sim.kitchen.words import kitchen_words
from kc_vla_sim.making import make_environment
from kc_vla_sim.renderer import choose_renderer
from kc_vla_sim.workers import run_jobs

TASK = "kitchen"
LabeledPixels = tuple[Image, DepthImage, ImageLabel]
_STREAM = 0x6D6F6D65
"""Beside the seed of the scene, what seeds its moments."""


@dataclass(frozen=True)
class DetectionSetting:
    """What scenes are drawn with.

    Attributes:
        looks: of the simulator.
        image_size: of each camera, px.
        renderer: see `Simulator`.
        moments: of each scene; each gives an image of each camera.
        assets: that the kitchens are made of.
        played: the moments are those of an arm that does the instructions of the kitchen, and not drawn by chance.
    """

    looks: str
    image_size: int
    renderer: str
    moments: int
    assets: str = STANDARD_ASSETS
    played: bool = False


@dataclass(frozen=True)
class SceneJob:
    """One scene to collect: its seed, and the file for it."""

    setting: DetectionSetting
    seed: int
    file: Path


def collect_detections(
    setting: DetectionSetting, split: str, scenes: int, skip: int, processes: int, output: Path
) -> Iterator[str]:
    """Collect what is missing of the folder `output`/`split`; yield a line when all is there.

    Args:
        setting: of all scenes.
        split: that they take their seeds from.
        scenes: how many.
        skip: seeds at the split's start that are left out.
        processes: that collect at the same time.
        output: folder of the splits.

    Raises:
        SplitError, BadLooksError, BadImageSizeError, RendererError, AssetsError: as these say, before the first scene.
        DataSetError: the folder was begun in another way, or cannot be written.
    """
    seeds = seeds_of(split, skip + scenes)[skip:]
    check_looks(setting.looks)
    choose_renderer(setting.renderer)
    if not 32 <= setting.image_size <= LARGEST_IMAGE:
        raise BadImageSizeError(f"bad image size {setting.image_size}: give a number from 32 to {LARGEST_IMAGE}")
    words = kitchen_words(find_assets(setting.assets).kinds)
    settings = {"task": TASK, "split": split, **asdict(setting)}
    if setting.assets == STANDARD_ASSETS:
        del settings["assets"]  # folders that were begun before there were others do not say it
    if setting.played:
        del settings["moments"]
    else:
        del settings["played"]
    with writing_scenes(output / split, settings, words) as folder:
        try:
            jobs = [SceneJob(setting, seed, folder.file(seed)) for seed in folder.missing(seeds)]
            made = list(run_jobs(collect_scene, jobs, max(1, min(processes, len(jobs))), f"collect {split}", "scene"))
        except OSError as error:
            raise DataSetError(
                f"{output} cannot be written: {error.strerror}: free some space and start again, it goes on from there"
            ) from error
    each = f"a moment every {EVERY_S} s" if setting.played else f"{2 * setting.moments} images"
    before = f", {len(seeds) - len(made)} of them before" if len(made) < len(seeds) else ""
    yield f"{folder.path}: {len(seeds)} scenes{before}, {each} each"


@torch.no_grad()
def collect_scene(job: SceneJob) -> int:
    """Collect one scene and return how many images it has."""
    images = list(_played(job) if job.setting.played else _drawn(job))
    write_scene(job.file, images)
    return len(images)


def _played(job: SceneJob) -> Iterator[LabeledPixels]:
    setting = job.setting
    for captures, labels in played_moments(job.seed, setting.image_size, setting.looks, setting.renderer):
        yield from ((each.image, each.depth, labels[view]) for view, each in captures.items())


def _drawn(job: SceneJob) -> Iterator[LabeledPixels]:
    world = _world(job.setting)
    world.reset(seed=job.seed)
    words = kitchen_words(world.assets.kinds)
    chance = np.random.default_rng((_STREAM, job.seed))
    for _ in range(job.setting.moments):
        moment = draw_moment(world, chance)
        captures = world.captures()
        labels = kitchen_labels(world, captures, words, moment.held)
        yield from ((each.image, each.depth, labels[view]) for view, each in captures.items())


@lru_cache(maxsize=1)
def _world(setting: DetectionSetting) -> KitchenEnv:
    env = make_environment(
        find_task(TASK),
        STANDARD,
        setting.looks,
        True,
        setting.assets,
        obs_mode="none",
        reward_mode="none",
        sim_backend="physx_cpu",
        render_backend=choose_renderer(setting.renderer),
        sensor_configs={"width": setting.image_size, "height": setting.image_size},
    )
    world: KitchenEnv = env.unwrapped
    return world
