"""How many of the true keyframes events find, and how many of them are none, measured by the simulator's truth.

An event has no phase: it is right when a true keyframe that no other event has is within ten frames of it. Many events
find much by chance alone, so beside them stands what as many frames at equal distances find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from kc_vla.core.episode import Episode
from kc_vla.core.shares import Share
from kc_vla.keyframes.afterwards import keyframes_afterwards
from kc_vla.keyframes.cameras import Camera
from kc_vla.keyframes.event_selector import open_events
from kc_vla.keyframes.metrics import paired
from kc_vla.keyframes.scoring import SelectorBackend
from kc_vla.keyframes.selectors import NetworkOptions
from kc_vla.learning.selector.recorded_signals import recorded_sights
from kc_vla.learning.selector.recordings import LabeledEpisode, load_recordings


@dataclass
class _Counts:
    episodes: int = 0
    true: int = 0
    found: int = 0
    right: int = 0
    evenly: int = 0


def report_events(data: Path, settings: NetworkOptions, cameras: tuple[Camera, ...] | None = None) -> str:
    """Return a table of recall and precision for each task, frame 0 aside.

    It has intervals of 95 % over keyframes (Wilson).

    Args:
        data: a data set with keyframes, or a folder of several.
        settings: of the backbone that the events are looked at with.
        cameras: of the data, where they are not called as usual.

    Raises:
        BagError, DataError: the data cannot be used.
        SourceError: the backbone cannot be had.
    """
    source = open_events(settings)
    counts: dict[str, _Counts] = {}
    recordings = load_recordings(data, cameras=cameras or source.cameras)
    for recording in tqdm(recordings, desc="events", unit="episode"):
        found, truth = found_in(recording, source), recording.keyframes[1:]
        row = counts.setdefault(recording.task.name, _Counts())
        row.episodes += 1
        row.true += len(truth)
        row.found += len(found)
        row.right += len(paired(found, truth))
        row.evenly += len(paired(evenly(len(found), recording.length), truth))
    lines = [
        "| task | recall, % (95 %) | as many, evenly spaced | precision, % (95 %) | an episode | true | episodes |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, row in sorted(counts.items()):
        cells = (
            str(Share(row.right, row.true)),
            str(Share(row.evenly, row.true)),
            str(Share(row.right, row.found)) if row.found else "-",
            f"{row.found / row.episodes:.1f}",
            f"{row.true / row.episodes:.1f}",
            str(row.episodes),
        )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def found_in(recording: LabeledEpisode, source: SelectorBackend) -> list[int]:
    """Return the frames that a selector makes keyframes of in an episode, as on the robot, ascending.

    The first one is left out.

    What is a candidate at the end counts: the policy has it.
    """
    task, period_ns = recording.task, round(1e9 / recording.data_set.fps)
    told = Episode(recording.name, task.name, task.instruction, 0, period_ns, True)
    return keyframes_afterwards(source, told, recorded_sights(recording))[1:]


def evenly(number: int, length: int) -> Sequence[int]:
    """Return so many frames at equal distances in an episode of that length."""
    return [round((k + 1) * length / (number + 1)) for k in range(number)]
