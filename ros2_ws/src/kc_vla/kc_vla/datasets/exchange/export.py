"""Episode bags into a LeRobot data set.

The data set grows in a hidden folder beside its place and gets its name once it is whole. An export that was
interrupted goes on there, episode by episode, if it is asked for again with the same bags, keyframes and format.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from kc_vla.bags.find import changes_with
from kc_vla.core.files import write_whole
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.keyframes import Chosen, annotation_rows, confirmed_keyframes, recorded_keyframes
from kc_vla.datasets.exchange.origin import Origin
from kc_vla.datasets.exchange.rows import EpisodeRows, read_rows, tells_who_drives
from kc_vla.datasets.lerobot.episode import EpisodeInfo
from kc_vla.datasets.lerobot.episode_writer import EpisodeWriter
from kc_vla.datasets.lerobot.layout import ACTION, EXPORTED, VIEWS_TOLD
from kc_vla.datasets.lerobot.meta import Form
from kc_vla.datasets.lerobot.v2_writer import V2Writer
from kc_vla.datasets.lerobot.v3_writer import V3Writer
from kc_vla.datasets.lerobot.writer import DataSetWriter, begun_with, forget_how_it_was_made

V3, V2 = "lerobot-v3", "lerobot-v2.1"
FORMATS: Mapping[str, type[DataSetWriter]] = {V3: V3Writer, V2: V2Writer}
"""The versions of LeRobot's format, the usual one first."""
_SPLIT = "train"


@dataclass(frozen=True)
class Exported:
    """What became of the bags.

    Attributes:
        folder: of the data set.
        episodes: how many there are.
        frames: in all.
        notes: what a person should know, a line each.
    """

    folder: Path
    episodes: int
    frames: int
    notes: tuple[str, ...]


def export_bags(bags: Sequence[Path], folder: Path, kind: str = V3, origin: Origin = Origin.CONFIRMED) -> Exported:
    """Write `bags`, an episode each, as a data set.

    Args:
        bags: at least one, all of one robot with the same cameras.
        folder: of the data set; must not be there, or be empty.
        kind: one of `FORMATS`.
        origin: which keyframes.

    Raises:
        BagError: a bag cannot be used, differs from the first, or has no such keyframes; or the data set is there
            already. The message names the bag.
        OSError: the data set cannot be written.
    """
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ExchangeError(f"{folder} is there already: choose another --output or --name")
    keyframes: dict[Path, tuple[Chosen, ...]] = {}
    if origin is Origin.CONFIRMED:
        keyframes = confirmed_keyframes(bags)
    elif origin is Origin.NONE:
        keyframes = dict.fromkeys(bags, ())
    part = folder.with_name(f".{folder.name}.part")
    interventions = any(map(tells_who_drives, bags))
    first = read_rows(bags[0], interventions)
    notes: list[str] = []
    with _begin(FORMATS[kind], part, _form(first), _settings(bags, kind, keyframes, origin)) as writer:
        todo = set(writer.missing(len(bags)))
        for index, bag in enumerate(tqdm(bags, desc="export", unit="episode")):
            if index in todo:
                rows = first if index == 0 else read_rows(bag, interventions)
                notes += [f"{bag}: {note}" for note in rows.notes]
                _write(writer, index, rows, keyframes.get(bag), origin)
                writer.take_over()
        writer.finish()
        form, frames = writer.form, sum(episode.length for episode in writer.episodes)
    _name(part, folder, {"keyframes": origin.value, "bags": _names(bags), VIEWS_TOLD: list(form.views)})
    if ACTION.key not in {column.key for column in form.recorded}:
        notes.append("the bags hold no commands: the data set has no actions")
    return Exported(folder, len(bags), frames, tuple(notes))


def _settings(
    bags: Sequence[Path], kind: str, keyframes: Mapping[Path, Sequence[Chosen]], origin: Origin
) -> dict[str, Any]:
    """What an export that goes on must have in common with the one that was interrupted."""
    return {
        "format": kind,
        "keyframes": origin.value,
        "bags": {str(bag.resolve()): [asdict(keyframe) for keyframe in keyframes.get(bag, ())] for bag in bags},
        "files": {str(bag.resolve()): changes_with(bag) for bag in bags},
    }


def _begin(kind: type[DataSetWriter], part: Path, form: Form, settings: Mapping[str, Any]) -> DataSetWriter:
    """The data set that grows in `part`; one that was begun otherwise goes: it was never finished."""
    if part.exists() and begun_with(part) != settings:
        shutil.rmtree(part)
    return kind(part, form, settings)


def _form(rows: EpisodeRows) -> Form:
    """Return what a data set that begins with this episode is like."""
    status = rows.episode.status
    sizes = rows.sizes
    first = next(iter(sizes.values()))
    form = Form(status.task, status.instruction, _SPLIT, rows.clock.fps, *first)
    others = {view: size for view, size in sizes.items() if size != first}
    return replace(form, robot=rows.robot, recorded=tuple(rows.columns), views=tuple(sizes), other_sizes=others)


def _write(
    writer: DataSetWriter, index: int, rows: EpisodeRows, chosen: Sequence[Chosen] | None, origin: Origin
) -> None:
    """Record an episode beside the data set.

    Raises:
        BagError: it is not like the first, or an image or its keyframes cannot be used.
    """
    status = rows.episode.status
    _check(rows, writer.form)
    try:
        keyframes = recorded_keyframes(rows.episode, origin) if chosen is None else chosen
    except ExchangeError as error:
        raise ExchangeError(f"{rows.bag}: {error}") from error
    made = annotation_rows(keyframes, rows, index)
    simulated = bool(status.variant)
    about = EpisodeInfo(
        index=index,
        length=len(rows),
        task=status.task,
        instruction=status.instruction,
        seed=status.seed if simulated else None,
        variant=status.variant if simulated else None,
    )
    with EpisodeWriter(writer.incoming(index), writer.form) as episode:
        for numbers, pictures in rows.rows():
            episode.add(numbers, pictures)
        episode.finish(about, made)


def _check(rows: EpisodeRows, form: Form) -> None:
    """Check that an episode fits into a data set.

    Raises:
        ExchangeError: it differs from the first.
    """
    own = _form(rows)
    for what, ours, theirs in (
        ("robot", own.robot, form.robot),
        ("frames a second", own.fps, form.fps),
        ("cameras", own.views, form.views),
        ("picture sizes", [own.size(view) for view in own.views], [form.size(view) for view in form.views]),
        ("columns", [(c.key, c.names) for c in own.recorded], [(c.key, c.names) for c in form.recorded]),
    ):
        if ours != theirs:
            raise ExchangeError(
                f"{rows.bag}: it has the {what} {ours}, the first bag {theirs}: export them into two data sets"
            )


def _names(bags: Sequence[Path]) -> list[str]:
    return [bag.parent.name if bag.name == "bag" else bag.name for bag in bags]


def _name(part: Path, folder: Path, about: Mapping[str, Any]) -> None:
    """Give the finished data set its name."""
    write_whole(part / EXPORTED, json.dumps(about, indent=2) + "\n")
    part.rename(folder)
    forget_how_it_was_made(folder)
