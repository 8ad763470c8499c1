"""`kc-vla eval policy`: plays what is missing of an evaluation, in parallel processes, and sums it up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from kc_vla.core.splits import seeds_of
from kc_vla.core.tasks import find_task
from kc_vla.inference.models import fingerprint, models_in
from kc_vla.keyframes.live import LiveSelector
from kc_vla.keyframes.selectors import open_selector
from kc_vla.media.mp4 import Mp4Writer
from kc_vla.policy.backends import PolicyContext
from kc_vla.policy.history import NONE
from kc_vla.policy.learned import open_learned
from kc_vla.policy.options import LearnedOptions
from kc_vla_sim.choices import check_looks, check_variant
from kc_vla_sim.evaluate.agent import HORIZON, Execution
from kc_vla_sim.evaluate.player import FILM_EVERY, EpisodeOutcome, Player
from kc_vla_sim.evaluate.results import outcome_row, outcomes_in, write_summary
from kc_vla_sim.film.layout import HEIGHT, WIDTH, FilmLayout
from kc_vla_sim.renderer import choose_renderer
from kc_vla_sim.robot import CONTROL_RATE, ROBOT
from kc_vla_sim.simulator import Simulator

FILMS = "films"
_MASKED = "none"
_LOOKING = ("learned", "events")
"""Those who choose by the images, so that every frame is drawn."""
_ENDING_S = 2.0


@dataclass(frozen=True)
class EvaluationSetting:
    """How episodes are played.

    Attributes:
        models: folder of models with the policy; empty: those that come with the stack.
        model: its name there.
        selector_models, selector: likewise, of the selector.
        keyframes: who chooses those that the policy is given: learned, events, oracle, or none, without a memory.
        variant, looks, image_size, renderer: see `Simulator`.
        execution: of the chunks.
        noise: that a chunk begins with, see `LearnedOptions`.
        films: write a video of each failure.
    """

    models: str
    model: str
    selector_models: str
    selector: str
    keyframes: str
    variant: str
    looks: str
    image_size: int
    renderer: str
    execution: Execution
    noise: float
    films: bool


@dataclass(frozen=True)
class EvalOptions:
    """What is asked for.

    Attributes:
        setting: see there.
        tasks: names in the task table.
        episodes: of each.
        split: that they take their seeds from.
        processes: that play at the same time.
        output: folder for the results.
        skip: seeds at the split's start that are left out, as something was chosen by them.
    """

    setting: EvaluationSetting
    tasks: tuple[str, ...]
    episodes: int
    split: str
    processes: int
    output: Path
    skip: int = 0


@dataclass(frozen=True)
class _Job:
    setting: EvaluationSetting
    task: str
    seed: int
    film: Path


def evaluate(options: EvalOptions) -> Iterator[str]:
    """Play what is missing of the evaluation in `output`; yield the table, and a line that says where all of it is.

    Raises:
        SimulationError, UnknownTaskError, SplitError: as these say, before the first episode.
        BegunError: the folder is of another evaluation.
        PolicyError, SourceError: a model is not there, or not for this robot or task.
        OSError: the results cannot be written.
    """
    setting, seeds = options.setting, seeds_of(options.split, options.skip + options.episodes)[options.skip :]
    check_variant(setting.variant)
    check_looks(setting.looks)
    choose_renderer(setting.renderer)
    for task in options.tasks:  # what is wrong with the models is told before the first process starts
        _player(setting).check(task, setting.variant)
    facts = {**asdict(setting), "split": options.split}
    facts.pop("films")
    if options.skip:
        facts["skip"] = options.skip
    facts["files"] = _fingerprints(setting)
    results = outcomes_in(options.output)
    with results.begun(facts, "kc-vla eval policy"):
        wanted = [(task, seed) for seed in seeds for task in options.tasks]
        there = {(outcome.task, outcome.seed) for outcome in results.read()}
        films = options.output / FILMS
        films.mkdir(exist_ok=True)
        jobs = [
            _Job(setting, task, seed, films / f"{task}-{seed}.mp4")
            for task, seed in wanted
            if (task, seed) not in there
        ]
        results.play(_play, jobs, outcome_row, options.processes, f"eval {options.split}")
        outcomes = [outcome for outcome in results.read() if (outcome.task, outcome.seed) in set(wanted)]
        yield write_summary(options.output, facts, outcomes)
        failed = sum(not outcome.success for outcome in outcomes)
        filmed = f", films of {failed} failures in {FILMS}/" if setting.films and failed else ""
        yield f"{options.output}: {len(outcomes)} episodes{filmed}"


def _fingerprints(setting: EvaluationSetting) -> dict[str, str]:
    """Return the fingerprints of the models in use.

    Episodes of other models of the same names do not count together.
    """
    told = {"policy": fingerprint(models_in(setting.models), setting.model)}
    if setting.keyframes in _LOOKING:
        told["selector"] = fingerprint(models_in(setting.selector_models), setting.selector)
    return told


@lru_cache(maxsize=1)
def _player(setting: EvaluationSetting) -> Player:
    """Return this process's player."""
    backend = open_learned(
        PolicyContext(ROBOT, HORIZON),
        LearnedOptions(
            model=setting.model,
            models_folder=setting.models,
            device="cpu",
            noise=setting.noise,
            strides=True,
        ),
    )
    history = NONE if setting.keyframes == _MASKED else backend.history
    needed = history.of_keyframes  # otherwise who finds them costs time and changes nothing
    network = {"model": setting.selector, "models_folder": setting.selector_models, "device": "cpu"}
    source = open_selector(setting.keyframes if needed else "oracle", shared=network)
    draw = setting.films or history.strided or (needed and setting.keyframes in _LOOKING)
    simulator = Simulator(setting.image_size, setting.renderer, draw=draw, variant=setting.variant, looks=setting.looks)
    return Player(simulator, LiveSelector(source), backend, setting.execution, history)


def _play(job: _Job) -> EpisodeOutcome:
    player, setting = _player(job.setting), job.setting
    outcome = player.play(job.task, job.seed, setting.variant)
    if setting.films and not outcome.success:
        _write_film(player, job)
    return outcome


def _write_film(player: Player, job: _Job) -> None:
    layout = FilmLayout(find_task(job.task), job.seed, job.setting.variant, job.setting.looks, "policy")
    with Mp4Writer(job.film, WIDTH, HEIGHT, FILM_EVERY / CONTROL_RATE) as film:
        for number, moment in enumerate(player.moments):
            picture = layout.compose(moment)
            film.add(picture, number)
        film.add_still(picture, number + 1, _ENDING_S)
