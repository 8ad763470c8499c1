"""The keyframes of a data set: `meta/keyframes.json`, and what is known of each in `meta/annotations.jsonl`.

`keyframes.json` is in the form of the paper's authors: `{"0": [0, 57, 121, 190], ...}`, the frames of each episode,
ascending, the first 0. `annotations.jsonl` has the phase of each keyframe, and who or what found it. Rows are only
added: the last row of an episode and a phase is valid.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from pathlib import Path

from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.layout import read_json, read_json_lines


@dataclass(frozen=True)
class Annotation:
    """What is known of one keyframe.

    Attributes:
        episode: index.
        frame: of the episode.
        stamp_ns: time of that frame, ns since the start of the episode.
        phase: index of the keyframe in its task, 0 for frame 0.
        label: its name in the task table.
        source: kind of annotator, e.g. "oracle".
        author: who or what it was.
        score: its confidence, 0..1.
    """

    episode: int
    frame: int
    stamp_ns: int
    phase: int
    label: str
    source: str
    author: str
    score: float

    def line(self) -> str:
        """Return the row of `annotations.jsonl`."""
        return json.dumps(asdict(self)) + "\n"


def read_annotations(path: Path) -> tuple[Annotation, ...]:
    """Return the rows of an `annotations.jsonl`.

    Raises:
        DataSetError: it is missing, or a row is not as it should be.
    """
    kinds: dict[str, tuple[type, ...]] = {"int": (int,), "str": (str,), "float": (int, float)}
    found = []
    for number, row in enumerate(read_json_lines(path), start=1):
        for field in fields(Annotation):
            value = row.get(field.name)
            if isinstance(value, bool) or not isinstance(value, kinds[str(field.type)]):
                raise DataSetError(f"{path}, row {number}: {field.name} is {value!r}, a {field.type} is wanted")
        found.append(Annotation(**{field.name: row[field.name] for field in fields(Annotation)}))
    return tuple(found)


def read_keyframes(path: Path, lengths: Mapping[int, int]) -> dict[int, tuple[int, ...]]:
    """Return the keyframes of each episode in `lengths` that a `keyframes.json` has; it may have more.

    Args:
        path: of the file.
        lengths: number of frames of each episode.

    Raises:
        DataSetError: they are not whole numbers, or do not begin with 0, ascend, and lie in the episode.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise DataSetError(f'{path}: an object {{"0": [0, ...], ...}} is wanted')
    told = {episode: length for episode, length in lengths.items() if content.get(str(episode)) not in (None, [])}
    return {episode: _checked(path, episode, length, content[str(episode)]) for episode, length in told.items()}


def keyframes_text(keyframes: Mapping[int, Sequence[int]]) -> str:
    """Return the content of a `keyframes.json`, a line for each episode."""
    rows = (f'  "{episode}": {json.dumps(list(keyframes[episode]))}' for episode in sorted(keyframes))
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _checked(path: Path, episode: int, length: int, frames: object) -> tuple[int, ...]:
    """Return the keyframes of one episode."""
    told = f"{path}, episode {episode}"
    if not isinstance(frames, list) or any(type(frame) is not int for frame in frames):
        raise DataSetError(f"{told}: keyframes are a list of whole numbers, not {json.dumps(frames)}")
    if frames[0] != 0:
        raise DataSetError(f"{told}: the first keyframe must be frame 0, not {frames[0]}")
    for before, frame in pairwise(frames):
        if frame <= before:
            raise DataSetError(f"{told}, frame {frame}: keyframes must ascend, this one follows {before}")
    if frames[-1] >= length:
        raise DataSetError(f"{told}, frame {frames[-1]}: a keyframe beyond the end, the episode has {length} frames")
    return tuple(frames)
