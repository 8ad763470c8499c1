"""LeRobot data sets into episode bags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from kc_vla.core.files import write_whole
from kc_vla.core.tasks import TASKS
from kc_vla.datasets.exchange.bag_output import JPEG_QUALITY, START_NS, Announcement, BagOutput, picture_topic
from kc_vla.datasets.exchange.delta_units import METERS_AND_RADIANS, DeltaUnits, check_deltas
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.felt_and_told import FeltAndTold
from kc_vla.datasets.exchange.imported import Imported, task_and_instruction
from kc_vla.datasets.exchange.samples import UNEXPLAINED
from kc_vla.datasets.exchange.views import imported_views
from kc_vla.datasets.lerobot.annotations import Annotation
from kc_vla.datasets.lerobot.layout import COLLECTION, EXPORTED
from kc_vla.datasets.lerobot.source import Source, SourceEpisode, open_source
from kc_vla.episodes.annotation_log import CONFIRMED, AnnotationError, AnnotationLog, Mark
from kc_vla.episodes.episode_data import CommandMode

AUTHOR = SOURCE = "import"
"""Author of the annotations of imported episodes."""
_ORIGIN = "imported_from.txt"
_OURS = (EXPORTED, COLLECTION)
"""Data sets with one of these files were written here, in m and rad."""


@dataclass(frozen=True)
class Wanted:
    """How a data set is to be imported.

    Attributes:
        task: name of the task of all episodes; by default it follows from their instructions.
        instruction: of all episodes; by default the data set's.
        cameras: key of the data set's camera for a view; the others are found by their names.
        quality: of the images, JPEG, of 100; `RAW`: as they are.
        rate: frames a second, where the data set is wrong about them; 0: as it says.
        state: names of the numbers of its state, where it does not name them well.
        action: the same of its action.
        degrees: whether its joints are in degrees, but for the gripper.
        units: units of its tool deltas, as the user says; by default m and rad, which is checked.
    """

    task: str | None = None
    instruction: str = ""
    cameras: tuple[tuple[str, str], ...] = ()
    quality: int = JPEG_QUALITY
    rate: float = 0.0
    state: tuple[str, ...] = ()
    action: tuple[str, ...] = ()
    degrees: bool = False
    units: DeltaUnits = METERS_AND_RADIANS


def import_data_set(folder: Path, output: Path, wanted: Wanted = Wanted()) -> Imported:
    """Write each episode of a data set as the bag `output`/<name of the data set>-<index>/bag.

    Episodes that are there already are left as they are, so that an import that was interrupted can go on.

    Raises:
        BagError: the data set cannot be read, or a bag cannot be written; the message names episode and frame.
    """
    source = open_source(folder)
    fps = wanted.rate or source.fps
    cameras = imported_views(source, dict(wanted.cameras))
    name = folder.resolve().name
    known = source.annotations()
    folders, notes, frames, before = [], dict[str, None](), 0, 0
    if others := [key for key in source.cameras if key not in cameras.values()]:
        taken = ", ".join(f"{key} as {view}" for view, key in cameras.items())
        left = ", ".join(f"{key} (depth)" if source.is_depth(key) else key for key in others)
        notes[f"{folder}: {taken}; not imported: {left}"] = None
    for episode in source.episodes:  # before anything is written
        source.examine(episode, wanted.rate, importing=True)
    _check_deltas(source, wanted, fps)
    for episode in tqdm(source.episodes, desc=f"import {name}", unit="episode"):
        place = output / f"{name}-{episode.index:06d}"
        folders.append(place)
        if place.exists():
            _check_origin(place, folder)
            before += 1
            continue
        about = _announcement(source, episode, wanted, place.name)
        numbers = _numbers(source, episode, wanted)
        notes |= dict.fromkeys(numbers.notes)
        topics = [*(picture_topic(view, wanted.quality) for view in cameras), *numbers.topics]
        with BagOutput(output, about, topics) as bag:
            _write(bag, source, episode, cameras, numbers, wanted.quality, fps)
            _annotate(bag, source, episode, fps, [row for row in known if row.episode == episode.index], folder)
            write_whole(bag.bag.parent / _ORIGIN, f"{folder.resolve()}\n")  # it comes to its place with the bag
        frames += episode.length
    notes |= dict.fromkeys(source.findings.lines())
    if before:
        notes[f"{before} of {len(folders)} episodes were there already and were left as they are"] = None
    return Imported(tuple(folders), frames, tuple(notes))


def _numbers(source: Source, episode: SourceEpisode, wanted: Wanted) -> FeltAndTold:
    return FeltAndTold(source, episode, wanted.state, wanted.action, wanted.degrees, wanted.units)


def _check_deltas(source: Source, wanted: Wanted, fps: float) -> None:
    """Check that tool deltas of a third-party data set are in m and rad, before anything is written.

    Raises:
        ExchangeError: they are in other units.
    """
    if any((source.folder / name).exists() for name in _OURS):
        return
    first = _numbers(source, source.episodes[0], wanted)
    if first.mode is CommandMode.TOOL_DELTA:
        all_of_them = (_numbers(source, episode, wanted) for episode in source.episodes)
        moves = ((each.actions, each.pose) for each in all_of_them if each.actions is not None)
        check_deltas(str(source.folder), fps, moves, wanted.units)


def _check_origin(place: Path, folder: Path) -> None:
    """Check that an existing episode was imported from this data set.

    Raises:
        ExchangeError: it came from elsewhere.
    """
    origin = place / _ORIGIN
    told = origin.read_text(encoding="utf-8").strip() if origin.exists() else "something else"
    if told != str(folder.resolve()):
        raise ExchangeError(f"{place} is there already and came from {told}: choose another --output")


def _announcement(source: Source, episode: SourceEpisode, wanted: Wanted, name: str) -> Announcement:
    row = episode.row
    told = row.get("task") if isinstance(row.get("task"), str) else None
    instruction = wanted.instruction or source.instruction(episode)
    task, text = task_and_instruction(wanted.task or told, instruction, source.told(episode))
    seed, variant = row.get("seed"), row.get("variant")
    return Announcement(
        name,
        task,
        text,
        START_NS,
        1 / (wanted.rate or source.fps),
        seed if isinstance(seed, int) and seed >= 0 else 0,
        variant if isinstance(variant, str) else "",
    )


def _write(
    bag: BagOutput,
    source: Source,
    episode: SourceEpisode,
    cameras: dict[str, str],
    numbers: FeltAndTold,
    quality: int,
    fps: float,
) -> None:
    films = {view: source.frames(episode, key) for view, key in cameras.items()}
    velocities: Sequence[float] = ()
    turn, person = 0, False
    for frame, stamp in enumerate(_stamps(episode.length, fps)):
        if numbers.person is not None and (frame == 0 or numbers.person[frame] != person):
            person, turn = bool(numbers.person[frame]), turn + (frame > 0 or bool(numbers.person[0]))
            bag.driver(turn, person, max(frame - 1, 0), stamp)
        if numbers.pose is not None:
            bag.tool_pose(numbers.pose[frame].tolist(), stamp)
        for view, film in films.items():
            bag.picture(view, next(film), stamp, quality)
        if numbers.positions is not None and numbers.joints is not None:
            velocities = numbers.velocities[frame].tolist() if numbers.velocities is not None else ()
            bag.joints(numbers.joints, numbers.positions[frame].tolist(), velocities, stamp)
        if numbers.actions is not None:
            values = numbers.actions[frame].tolist()
            if numbers.mode is None:
                bag.joints(numbers.action_names, values, (), stamp, f"/{UNEXPLAINED}")
            else:
                bag.command(frame, int(numbers.mode), numbers.action_names, values, stamp)
    bag.finish(_stamp(episode.length - 1, fps))


def _annotate(
    bag: BagOutput, source: Source, episode: SourceEpisode, fps: float, known: Sequence[Annotation], folder: Path
) -> None:
    """Put the data set's keyframes beside the bag, where the annotation page and the export find them."""
    frames = source.keyframes(episode)
    if not frames:
        return
    labels = TASKS[bag.about.task].keyframes if bag.about.task in TASKS else ()
    told = {(row.frame, row.phase): row for row in known}
    marks = []
    for phase, frame in enumerate(frames):
        row = told.get((frame, phase))
        label = row.label if row else labels[phase] if phase < len(labels) else f"keyframe {phase}"
        score = min(1.0, max(0.0, row.score)) if row else 1.0
        marks.append(Mark(frame, _stamp(frame, fps), phase, label, SOURCE, score))
    try:
        AnnotationLog(bag.bag).append(AUTHOR, 0, CONFIRMED, marks, f"imported from {folder.resolve().name}")
    except AnnotationError as error:
        raise ExchangeError(f"{source.told(episode)}: {error}") from error


def _stamps(length: int, fps: float) -> Iterator[int]:
    return (_stamp(frame, fps) for frame in range(length))


def _stamp(frame: int, fps: float) -> int:
    return START_NS + round(frame * 1e9 / fps)
