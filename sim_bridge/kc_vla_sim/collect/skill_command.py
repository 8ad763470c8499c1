"""`kc-vla collect --skill`: episodes of one skill of the arm, in kitchens in which it has something to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from kc_vla.core.splits import seeds_of
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.planned import writing
from kc_vla_sim.collect.record import RecordingSetting
from kc_vla_sim.collect.skill_episodes import TASK, SkillJob, record_skill
from kc_vla_sim.kitchen.handling.prepared import prepared_for
from kc_vla_sim.robot import ROBOT
from kc_vla_sim.workers import run_jobs


@dataclass(frozen=True)
class SkillOptions:
    """What is asked for.

    Attributes:
        skill: of the planner's table.
        thing: id of the furniture that it is of; empty: the usual one.
        setting: of the simulator.
        views: cameras whose images are kept.
        episodes: how many.
        split: that they take their seeds from.
        skip: seeds at the split's start that are left out.
        processes: that record at the same time.
        output: folder for the data.
    """

    skill: str
    thing: str
    setting: RecordingSetting
    views: tuple[str, ...]
    episodes: int
    split: str
    skip: int
    processes: int
    output: Path


def collect_skill(options: SkillOptions) -> Iterator[str]:
    """Record what is missing of the episodes in `output`/split/skill; yield a line when all are there.

    Raises:
        BadTaskError: kitchens cannot be prepared for the skill.
        SplitError: the split has not that many seeds.
        DataSetError: the folder was begun in another way, or cannot be written.
        RecordingError: the skill cannot be recorded in a kitchen.
    """
    layout, seeds = prepared_for(options.skill, options.thing), seeds_of(options.split, options.skip + options.episodes)
    settings = {
        "task": TASK,
        "skill": str(layout.call),
        "split": options.split,
        **({"skip": options.skip} if options.skip else {}),
        "robot": ROBOT.name,
        **asdict(options.setting),
        "views": list(options.views),
    }
    path = options.output / options.split / str(layout.call).replace("(", "_").rstrip(")")
    try:
        with writing(path, settings) as folder:
            jobs = [
                SkillJob(options.setting, layout, folder.file(index), seeds[options.skip + index], options.views)
                for index in folder.missing(range(options.episodes))
            ]
            failures = [
                failure
                for _, recorded in run_jobs(
                    record_skill, jobs, max(1, min(options.processes, len(jobs))), f"collect {options.split}"
                )
                for failure in recorded.failures
            ]
            again = f"; {len(failures)} recorded anew" if failures else ""
            yield f"{folder.path}: {len(folder.files())} episodes of {layout.call}{again}"
    except OSError as error:
        raise DataSetError(
            f"{options.output} cannot be written: {error.strerror}: free some space and start again, "
            "it goes on from there"
        ) from error
