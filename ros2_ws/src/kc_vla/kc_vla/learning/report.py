"""`kc-vla eval selector`: tables and strips of one or several selectors on the same episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from kc_vla.keyframes.learned import SelectorNetwork
from kc_vla.keyframes.model import load_selector
from kc_vla.learning.errors import DataError
from kc_vla.learning.evaluation import AS_RECORDED, CONDITIONS, Condition, EpisodeResult, evaluate
from kc_vla.learning.recordings import TASK_NAMES, load_recordings
from kc_vla.learning.strips import draw_strip
from kc_vla.learning.tables import markdown, with_average, write_tables


def report_selectors(models: Path, names: Sequence[str], data: Path, output: Path, disturbed: bool, strips: int) -> str:
    """Measure selectors and write `metrics.md`, `metrics.json` and a strip for each episode of the first.

    Args:
        models: folder with a registry.
        names: of the selectors in it.
        data: data set, or folder of data sets.
        output: folder.
        disturbed: measure under every condition.
        strips: at most so many of a task.

    Returns:
        The tables.

    Raises:
        ModelError, BagError, DataError: a model or the data cannot be used; the message says why.
    """
    networks = [SelectorNetwork(load_selector(models, name)) for name in names]
    recordings = load_recordings(data)
    if not recordings:
        raise DataError(f"{data} has no episodes: record some with kc-vla collect")
    output.mkdir(parents=True, exist_ok=True)
    drawn: Counter[int] = Counter()

    def draw(condition: Condition, result: EpisodeResult) -> None:
        recording = result.recording
        if condition is AS_RECORDED and drawn[recording.task] < strips:
            drawn[recording.task] += 1
            draw_strip(result, output / f"{TASK_NAMES[recording.task]}-{recording.episode:03d}.png")

    tables = {}
    for network in networks:
        each = draw if network is networks[0] else lambda condition, result: None
        results = evaluate(network, recordings, CONDITIONS if disturbed else (AS_RECORDED,), each)
        tables[network.model.name] = {name: with_average(rows) for name, rows in results.items()}
    write_tables(tables, output)
    return markdown(tables)
