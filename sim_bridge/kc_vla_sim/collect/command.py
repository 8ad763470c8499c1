"""`kc-vla collect`: records data sets, one for each task, in parallel processes, and goes on with those begun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from kc_vla.core.splits import seeds_of
from kc_vla.core.tasks import find_task
from kc_vla.datasets.collected import CollectedFolder
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.meta import Form
from kc_vla.datasets.lerobot.v2_writer import V2Writer
from kc_vla.datasets.planned import writing
from kc_vla.inference.models import fingerprint, models_in
from kc_vla.keyframes.selectors import fitting_selector
from kc_vla_sim.choices import LARGEST_IMAGE, check_looks, check_variant
from kc_vla_sim.collect.drivers import LATE, DrivingPolicy, driving_backend
from kc_vla_sim.collect.planned import WHOLE, PlanJob, PlannedSegment, record_planned
from kc_vla_sim.collect.record import DRAWN, RecordingJob, RecordingSetting, record
from kc_vla_sim.errors import BadImageSizeError
from kc_vla_sim.experts.phases import unknown_phases
from kc_vla_sim.renderer import choose_renderer
from kc_vla_sim.robot import CONTROL_RATE, ROBOT
from kc_vla_sim.workers import run_jobs


@dataclass(frozen=True)
class CollectOptions:
    """What is asked for.

    Attributes:
        tasks: names in the task table.
        episodes: of each.
        split: that they take their seeds from.
        variant: of the tasks.
        looks: of the simulator.
        image_size: of each camera, px.
        processes: that record at the same time.
        output: folder for the data sets.
        renderer: see `Simulator`.
        policy: that drives; None: the expert does.
        skip: seeds at the split's start that are left out, as another folder has them.
        stretch: what is kept of each episode, where plans are collected.
        events: whether those are looked for then that need no labels.
    """

    tasks: tuple[str, ...]
    episodes: int
    split: str
    variant: str
    looks: str
    image_size: int
    processes: int
    output: Path
    renderer: str
    policy: DrivingPolicy | None = None
    skip: int = 0
    stretch: PlannedSegment = WHOLE
    events: bool = False

    @property
    def seeds(self) -> range:
        """Return the seeds of the episodes.

        Raises:
            SplitError: the split has not that many.
        """
        return seeds_of(self.split, self.skip + self.episodes)[self.skip :]

    @property
    def chosen(self) -> dict[str, int | str]:
        """Return the choice of `seeds` and frames, for the settings that a folder is begun with."""
        chosen: dict[str, int | str] = {"split": self.split}
        if self.skip:
            chosen["skip"] = self.skip
        if self.stretch != WHOLE:
            chosen |= {"stretch": self.stretch.frames or 0, "begin_by": self.stretch.begin_by}
        if self.events:
            chosen["events"] = fitting_selector("learned")
        return chosen


def collect(options: CollectOptions) -> Iterator[str]:
    """Record what is missing of the data sets `output`/split/task; yield a line about each when all are there.

    Raises:
        UnknownTaskError, BadVariantError, BadLooksError, SplitError, RendererError, BadImageSizeError: as these say,
            before the first episode.
        DataSetError: a data set was begun in another way, or cannot be written.
        RecordingError: a seed cannot be recorded.
        PolicyError: the policy is not there, or cannot drive here.
    """
    seeds = options.seeds
    setting = _setting(options)
    with ExitStack() as opened:
        try:
            writers = {task: opened.enter_context(_writer(task, setting, options)) for task in options.tasks}
            before = {task: len(writer.episodes) for task, writer in writers.items()}
            jobs = [
                RecordingJob(setting, writer.form, writer.incoming(index), index, seeds[index], options.policy)
                for writer in writers.values()
                for index in writer.missing(len(seeds))
            ]
            processes = max(1, min(options.processes, len(jobs)))
            failures: dict[str, list[str]] = {task: [] for task in writers}
            phases: dict[str, set[str]] = {task: set() for task in writers}
            for job, recorded in run_jobs(record, jobs, processes, f"collect {options.split}"):
                failures[job.form.task] += recorded.failures
                phases[job.form.task] |= recorded.phases
                writers[job.form.task].take_over()
            for writer in writers.values():
                writer.finish()
        except OSError as error:
            raise DataSetError(
                f"{options.output} cannot be written: {error.strerror}: free some space and start again, "
                "it goes on from there"
            ) from error
        for task, writer in writers.items():
            yield _told(writer, before[task], failures[task])
            if remark := unknown_phases(phases[task]):
                yield f"{writer.folder}: {remark}"


def _setting(options: CollectOptions) -> RecordingSetting:
    """Return what the simulators are made with, checked."""
    setting = checked_setting(options.variant, options.looks, options.image_size, options.renderer)
    if options.policy is not None:
        driving_backend(options.policy)  # what is wrong with it is told before anything is begun
    return setting


def checked_setting(variant: str, looks: str, size: int, renderer: str) -> RecordingSetting:
    """Return what simulators are made with.

    Args:
        variant: of the tasks.
        looks: of the simulator.
        size: of the images, px.
        renderer: see `Simulator`.

    Raises:
        BadVariantError, BadLooksError, RendererError, BadImageSizeError: as these say.
    """
    if not 2 <= size <= LARGEST_IMAGE or size % 2:
        raise BadImageSizeError(f"bad image size {size}: for videos give an even number from 2 to {LARGEST_IMAGE}")
    drawn_by = "cpu" if choose_renderer(renderer) == "sapien_cpu" else "gpu"  # they draw a little differently
    return RecordingSetting(check_variant(variant), check_looks(looks), size, drawn_by)


def collect_plans(options: CollectOptions) -> Iterator[str]:
    """Collect episodes with action targets (`kc_vla.datasets.planned`) into `output`/split/task; yield as `collect`."""
    seeds = options.seeds
    setting = _setting(options)
    with ExitStack() as opened:
        try:
            folders = {task: opened.enter_context(_planned(task, setting, options)) for task in options.tasks}
            jobs = [
                PlanJob(
                    setting,
                    task,
                    folder.file(index),
                    seeds[index],
                    True,
                    options.policy,
                    options.stretch,
                    options.events,
                )
                for task, folder in folders.items()
                for index in folder.missing(range(len(seeds)))
            ]
            processes = max(1, min(options.processes, len(jobs)))
            failures: dict[str, list[str]] = {task: [] for task in folders}
            phases: dict[str, set[str]] = {task: set() for task in folders}
            for job, recorded in run_jobs(record_planned, jobs, processes, f"collect {options.split}"):
                failures[job.task] += recorded.failures
                phases[job.task] |= recorded.phases
        except OSError as error:
            raise DataSetError(
                f"{options.output} cannot be written: {error.strerror}: free some space and start again, "
                "it goes on from there"
            ) from error
        for task, folder in folders.items():
            yield f"{folder.path}: {len(folder.files())} episodes with plans{_again(failures[task])}"
            if remark := unknown_phases(phases[task]):
                yield f"{folder.path}: {remark}"


def _planned(task: str, setting: RecordingSetting, options: CollectOptions) -> AbstractContextManager[CollectedFolder]:
    settings = {
        "task": task,
        **options.chosen,
        "robot": ROBOT.name,
        **asdict(setting),
        "whims": False,
        "drawn": list(DRAWN),
        **_driven(options),
    }
    return writing(options.output / options.split / task, settings)


def _driven(options: CollectOptions) -> dict[str, object]:
    """Return what a folder notes of the policy that acts, if one does."""
    if (policy := options.policy) is None:
        return {}
    told = asdict(policy)
    if policy.late == LATE:
        del told["late"]  # folders of before do not note it, and go on
    return {"policy": told, "files": fingerprint(models_in(policy.models), policy.model)}


def _writer(task: str, setting: RecordingSetting, options: CollectOptions) -> V2Writer:
    instruction = find_task(task).instruction
    form = Form(task, instruction, options.split, CONTROL_RATE, setting.image_size, setting.image_size)
    settings = {"task": task, **options.chosen, **asdict(setting), **_driven(options)}
    return V2Writer(options.output / options.split / task, form, settings)


def _told(writer: V2Writer, before: int, failures: list[str]) -> str:
    """One line about a data set that is complete."""
    frames = sum(episode.length for episode in writer.episodes)
    there = f", {before} of them before" if before else ""
    line = f"{writer.folder}: {len(writer.episodes)} episodes{there}, {frames} frames"
    return line + _again(failures)


def _again(failures: Sequence[str]) -> str:
    """Return what was recorded anew, and why; empty if nothing was."""
    told = "; ".join(f"{count} x {reason}" for reason, count in Counter(failures).items())
    return f"; recorded anew: {told}" if told else ""
