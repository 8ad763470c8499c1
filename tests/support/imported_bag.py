"""Import a bag of another stack, and look at what came of it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from other_stack import (
    BEGIN_NS,
    MAP,
    Said,
    truth,
    write,
)

from kc_vla.annotate.curves import read_curves
from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.from_bags import Asked, import_bags
from kc_vla.datasets.exchange.imported import Imported
from kc_vla.datasets.exchange.rows import EpisodeRows, read_rows


def topics_of(said: list[Said]) -> dict[str, str]:
    there = {each.topic for each in said}
    return {ours: theirs for ours, theirs in MAP.items() if theirs in there}


def imported(
    tmp_path: Path, said: list[Said], order: Callable[[Said], object] | None = None, **asked: object
) -> tuple[Imported, EpisodeRows]:
    """Import what was said, and see that report, annotation and export can use it: the rows that come of it."""
    bag = write(tmp_path / "theirs", said, order=order)
    done = import_bags([bag], tmp_path / "out", Asked(topics_of(said), "counting", **asked))
    own = done.folders[0] / "bag"
    rows = read_rows(own)
    episode = AnnotatedEpisode(own)
    assert len(rows) <= episode.length == done.frames
    assert len(episode.jpeg("third_person", 0)) > 0
    read_curves(episode)
    return done, rows


def column(rows: EpisodeRows, key: str) -> np.ndarray:
    return next(values for column, values in rows.columns.items() if column.key == key)


def names(rows: EpisodeRows, key: str) -> tuple[str, ...]:
    return next(column.names for column in rows.columns if column.key == key)


def assert_true(rows: EpisodeRows, begin: int = BEGIN_NS, within: float = 0.02) -> None:
    """See that each row's state is where the robot was at its frame."""
    expected = [truth(stamp - begin) for stamp in rows.clock.stamps.tolist()]
    np.testing.assert_allclose(column(rows, "observation.joint_positions"), expected, atol=within)


def shades(rows: EpisodeRows) -> list[int]:
    return [int(pictures["third_person"][0, 0, 0]) // 5 for _, pictures in rows.rows()]


def refused(tmp_path: Path, said: list[Said], **asked: object) -> str:
    with pytest.raises(ExchangeError) as raised:
        imported(tmp_path, said, **asked)
    assert "\n" not in str(raised.value)
    assert not list((tmp_path / "out").glob("*"))
    return str(raised.value)
