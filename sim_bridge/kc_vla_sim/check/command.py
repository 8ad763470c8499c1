"""`kc-vla sim check`: runs the checks that were asked for, prints their table and says whether all targets hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from kc_vla.core.splits import seeds_of
from kc_vla.core.tasks import find_task
from kc_vla_sim.check.aliasing import check_aliasing
from kc_vla_sim.check.determinism import check_determinism
from kc_vla_sim.check.episode import CheckSetting
from kc_vla_sim.check.experts import check_experts
from kc_vla_sim.check.report import CheckReport
from kc_vla_sim.choices import check_variant
from kc_vla_sim.renderer import choose_renderer


@dataclass(frozen=True)
class CheckOptions:
    """What is asked for.

    Attributes:
        tasks: names in the task table.
        variant: of the tasks.
        checks: some of those that `CheckReport` has results of: "experts", "probes", "determinism".
        modes: ways of executing the experts, some of `experts.MODES`.
        split: that experts and determinism take their seeds from.
        episodes: of each expert and each way of executing it.
        train_episodes: that the probes learn from; a fifth as many to choose by, half as many to report.
        repeats: episodes of each task that are played twice.
        processes: that play at the same time.
        image_size: of the images, px.
        renderer: see `Simulator`.
        json: file for the results, if any.
    """

    tasks: tuple[str, ...]
    variant: str
    checks: tuple[str, ...]
    modes: tuple[str, ...]
    split: str
    episodes: int
    train_episodes: int
    repeats: int
    processes: int
    image_size: int
    renderer: str
    json: Path | None


def run_checks(options: CheckOptions) -> CheckReport:
    """Run the checks; wrong options, and a file that cannot be written, are reported before the first episode.

    Raises:
        UnknownTaskError, BadVariantError, SplitError, RendererError: as these say.
        OSError: the JSON file cannot be written.
    """
    deciding = tuple(task for task in options.tasks if find_task(task).decisions)
    check_variant(options.variant)
    choose_renderer(options.renderer)
    seeds, repeats = seeds_of(options.split, options.episodes), seeds_of(options.split, options.repeats)
    probe_seeds = {
        "train": seeds_of("train", options.train_episodes),
        "validation": seeds_of("validation", max(1, options.train_episodes // 5)),
        "test": seeds_of("test", max(1, options.train_episodes // 2)),
    }
    if options.json is not None:
        options.json.touch()
    drawing = CheckSetting(options.variant, options.renderer, options.image_size)
    undrawn = CheckSetting(options.variant, options.renderer)
    tasks, processes, checks = options.tasks, options.processes, options.checks
    report = CheckReport(
        options.variant,
        options.split,
        experts=check_experts(tasks, seeds, options.modes, undrawn, processes) if "experts" in checks else [],
        probes=check_aliasing(deciding, probe_seeds, drawing, processes) if "probes" in checks else [],
        determinism=check_determinism(tasks, repeats, drawing, processes) if "determinism" in checks else [],
        unprobed=tuple(task for task in tasks if task not in deciding) if "probes" in checks else (),
    )
    if options.json is not None:
        options.json.write_text(json.dumps(report.as_json(), indent=2) + "\n")
    return report
