"""Plays the sequences of many kitchens with each memory, keeps what came of each, and makes table and plot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from kc_vla.core.splits import seeds_of
from kc_vla.perception.detectors import TRUTH
from kc_vla_sim.kitchen.sequences.drawing import draw_sequence
from kc_vla_sim.kitchen.sequences.figures import plot_times, sequence_table
from kc_vla_sim.kitchen.sequences.outcomes import SequenceOutcome
from kc_vla_sim.kitchen.sequences.robots import KitchenRobot, SimulatedKitchenRobot
from kc_vla_sim.kitchen.sequences.sketched_robot import SketchedKitchenRobot
from kc_vla_sim.kitchen.sequences.trial import LIMIT_S, SequenceTrial
from kc_vla_sim.kitchen.sequences.video import SequenceVideo
from kc_vla_sim.result_folder import ResultFolder


@dataclass(frozen=True)
class SequenceSetting:
    """How sequences are played.

    Attributes:
        detector: name of a row of the detectors, or "truth".
        options: of the detector.
        sketched: without physics and images: no skill fails that the arm can do.
        limit_s: of each instruction, s of the robot's time.
    """

    detector: str = TRUTH
    options: Mapping[str, Any] = field(default_factory=dict)
    sketched: bool = False
    limit_s: float = LIMIT_S


@dataclass(frozen=True)
class SequenceJob:
    """One kitchen to play with one memory.

    Attributes:
        setting: of all kitchens, as JSON.
        seed: of the kitchen.
        memory: of the robot.
        videos: folder of the videos, and how many at most; none for no videos.
    """

    setting: str
    seed: int
    memory: str
    videos: tuple[Path, int] | None = None


@dataclass(frozen=True)
class SequenceOptions:
    """What is asked for.

    Attributes:
        setting: of all kitchens.
        memories: that the robot has, one after the other.
        split: that the kitchens take their seeds from.
        kitchens: how many.
        processes: that play at the same time.
        videos: of instructions that were not done, at most.
        output: folder of the results.
        skip: seeds at the start of the split that are left out.
    """

    setting: SequenceSetting
    memories: tuple[str, ...]
    split: str
    kitchens: int
    processes: int
    videos: int
    output: Path
    skip: int = 0


def evaluate_sequences(options: SequenceOptions) -> str:
    """Play what is not there yet, and write results.jsonl, table.md and times.png; return the table.

    Raises:
        SplitError: there is no such split, or it has fewer seeds.
        BegunError: the folder has the results of another setting, or something else.
        SimulationError: a kitchen cannot be played.
        DetectorError: the detector cannot be had.
        OSError: the results cannot be written.
    """
    seeds = seeds_of(options.split, options.skip + options.kitchens)[options.skip :]
    setting = json.dumps(asdict(options.setting), sort_keys=True)
    videos = (options.output / "videos", options.videos) if options.videos else None
    results = ResultFolder(options.output, "results.jsonl", SequenceOutcome.from_row)
    with results.begun(json.loads(setting), "kc-vla eval kitchen", "setting.json"):
        there = {(each.seed, each.memory) for each in results.read()}
        wanted = [(seed, memory) for seed in seeds for memory in options.memories]
        jobs = [SequenceJob(setting, *each, videos) for each in wanted if each not in there]
        results.play(_play, jobs, lambda job, outcome: asdict(outcome), options.processes, "kitchens", "sequence")
        found = {(each.seed, each.memory): each for each in results.read()}
        outcomes = [found[each] for each in wanted]
        text = sequence_table(outcomes)
        results.write(text)
        plot_times(outcomes, options.output)
    return text


def _play(job: SequenceJob) -> SequenceOutcome:
    robot, video = _robot(job.setting, job.videos)
    return SequenceTrial(robot, _setting(job.setting).limit_s, video=video).play(draw_sequence(job.seed), job.memory)


def _setting(text: str) -> SequenceSetting:
    return SequenceSetting(**json.loads(text))


@lru_cache(maxsize=1)
def _robot(text: str, videos: tuple[Path, int] | None) -> tuple[KitchenRobot, SequenceVideo | None]:
    setting = _setting(text)
    if setting.sketched:
        return SketchedKitchenRobot(), None
    video = None if videos is None else SequenceVideo(*videos)
    return SimulatedKitchenRobot(setting.detector, setting.options, None if video is None else video.add), video
