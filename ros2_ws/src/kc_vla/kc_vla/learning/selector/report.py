"""`kc-vla eval selector`: tables and strips of one or several selectors on the same episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from kc_vla.keyframes.cameras import Camera
from kc_vla.keyframes.learned import SelectorNetwork
from kc_vla.keyframes.model import SelectorModel, load_selector
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.selector.evaluation import AS_RECORDED, CONDITIONS, EpisodeResult, ImageDisturbance, evaluate
from kc_vla.learning.selector.recordings import LabeledEpisode, learnt_tasks, load_recordings, tell_person
from kc_vla.learning.selector.strips import draw_strip
from kc_vla.learning.selector.tables import markdown, with_average, write_tables


def report_selectors(
    models: Path,
    names: Sequence[str],
    data: Path,
    output: Path,
    disturbed: bool,
    strips: int,
    cameras: tuple[Camera, ...] | None = None,
) -> str:
    """Measure selectors and write `metrics.md`, `metrics.json` and a strip for each episode.

    The strips of several selectors are in a folder for each. Episodes of tasks that one has not learned are left out.

    Args:
        models: folder with a registry.
        names: of the selectors in it.
        data: data set, or folder of data sets.
        output: folder.
        disturbed: measure under every condition.
        strips: at most so many of a data set.
        cameras: of the data; by default those that each selector has learned from.

    Returns:
        The tables.

    Raises:
        ModelError, BagError, DataError: a model or the data cannot be used; the message says why.
    """
    networks = [SelectorNetwork(load_selector(models, name)) for name in names]
    said: dict[str, None] = {}
    seen = {network.model.name: _load(network.model, data, cameras, said) for network in networks}
    for note in said:
        tell_person(note)
    learnt = {network.model.name: learnt_recordings(network, seen[network.model.name]) for network in networks}
    output.mkdir(parents=True, exist_ok=True)
    tables, notes = {}, []
    for network in networks:
        name = network.model.name
        draw = partial(_draw, name, output if len(networks) == 1 else output / name, strips, Counter())
        results = evaluate(network, learnt[name], CONDITIONS if disturbed else (AS_RECORDED,), draw)
        tables[name] = {condition: with_average(rows) for condition, rows in results.items()}
        if foreign := learnt_tasks(seen[name]).keys() - learnt_tasks(learnt[name]).keys():
            notes.append(f"{name} has not learnt {', '.join(sorted(foreign))}: these episodes are left out.")
    write_tables(tables, output, notes)
    return markdown(tables, notes)


def _load(
    model: SelectorModel, data: Path, cameras: tuple[Camera, ...] | None, said: dict[str, None]
) -> list[LabeledEpisode]:
    """Return the episodes as a model looks at them; `said` takes what a person should know, each line once."""
    if cameras is not None and (asked := [c.view for c in cameras]) != (learnt := [c.view for c in model.cameras]):
        raise DataError(f"model '{model.name}' looks at {', '.join(learnt)}, not at {', '.join(asked)}")
    recordings = load_recordings(
        data, model.known_tasks(), cameras or model.cameras, lambda note: said.update({note: None})
    )
    if not recordings:
        raise DataError(f"{data} has no episodes to judge by: record some with kc-vla collect")
    return recordings


def learnt_recordings(network: SelectorNetwork, recordings: Sequence[LabeledEpisode]) -> list[LabeledEpisode]:
    """Return the episodes of tasks that a network knows.

    Raises:
        DataError: there is none.
    """
    known = network.model.keyframes
    found = [recording for recording in recordings if recording.task.name in known]
    if not found:
        there = ", ".join(learnt_tasks(recordings))
        raise DataError(f"model '{network.model.name}' knows {', '.join(known)}: the episodes are of {there}")
    return found


def _draw(
    model: str, folder: Path, most: int, drawn: Counter[Path], condition: ImageDisturbance, result: EpisodeResult
) -> None:
    """Draw a strip, unless there are `most` of its data set already."""
    recording = result.recording
    place = recording.data_set.folder
    if condition is AS_RECORDED and drawn[place] < most:
        drawn[place] += 1
        folder.mkdir(exist_ok=True)
        draw_strip(result, model, folder / f"{place.name}-{recording.episode:03d}.png")
