"""Many episodes in which the arm acts on what was where before, as a table; they go on where they were interrupted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kc_vla.core.files import write_whole
from kc_vla.core.lines import append_line, read_lines
from kc_vla.core.shares import Share
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.perception.detectors import TRUTH
from kc_vla_sim.kitchen.before.rearrangement import draw_rearrangement, rearrangements_from
from kc_vla_sim.kitchen.before.trial import RearrangementOutcome, RearrangementTrial

FIRST_SEED = 30_000
"""Seed of the first episode: the kitchens are of the test split."""
EPISODES, TABLE, RESULTS = "kitchen.jsonl", "kitchen.md", "kitchen.json"
ALL = "all"


def evaluate_rearrangements(
    output: Path,
    embedder: Embedder,
    memories: Sequence[str],
    episodes: int,
    first_seed: int = FIRST_SEED,
    detector: str = TRUTH,
) -> str:
    """Play the episodes that are not in a folder yet, and return the table of all; it is written there, too.

    Args:
        output: folder of the results.
        embedder: of the memories.
        memories: some of `kc_vla_sim.kitchen.before.trial.MEMORIES`.
        episodes: how many; the kinds take turns.
        first_seed: of the episodes.
        detector: name of a row of the detectors, or "truth".

    Raises:
        OSError: the folder cannot be used.
        DetectorError: the detector cannot be had.
    """
    output.mkdir(parents=True, exist_ok=True)
    done = list(read_lines(output / EPISODES, lambda row: RearrangementOutcome(**row)))
    played = {_key(each) for each in done}
    trial = RearrangementTrial(embedder, detector)
    wanted = set()
    for seed, kind in rearrangements_from(first_seed, episodes):
        wanted |= {(seed, str(kind), memory, detector) for memory in memories}
        missing = [each for each in memories if (seed, str(kind), each, detector) not in played]
        if missing:
            for outcome in trial.play(draw_rearrangement(seed, kind), missing):
                append_line(output / EPISODES, asdict(outcome))
                done.append(outcome)
    trial.close()
    counted = [each for each in done if _key(each) in wanted]
    write_whole(output / RESULTS, json.dumps(_results(counted), indent=1) + "\n")
    text = table(counted)
    write_whole(output / TABLE, text)
    return text


def _key(outcome: RearrangementOutcome) -> tuple[int, str, str, str]:
    return outcome.seed, outcome.kind, outcome.memory, outcome.detector


def table(outcomes: Sequence[RearrangementOutcome]) -> str:
    """Return the outcomes as a table in Markdown, shares in percent with Wilson's 95 % interval."""
    lines = [
        "| keyframes | kind | episodes | meant the right one, % | done, % | reported as done, and were not "
        "| keyframes an episode |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for memory, kind, some in _groups(outcomes):
        named, done = (Share(sum(getattr(each, name) for each in some), len(some)) for name in ("named", "done"))
        wrong = sum(each.said and not each.done for each in some)
        kept = sum(each.keyframes for each in some) / len(some)
        lines.append(f"| `{memory}` | {kind} | {len(some)} | {named} | {done} | {wrong} | {kept:.1f} |")
    return "\n".join(lines) + "\n"


def _groups(outcomes: Sequence[RearrangementOutcome]) -> list[tuple[str, str, list[RearrangementOutcome]]]:
    """Return the outcomes of each memory by the kind of the episodes, and of all kinds."""
    found = []
    for memory in dict.fromkeys(each.memory for each in sorted(outcomes, key=lambda each: each.memory)):
        some = [each for each in outcomes if each.memory == memory]
        kinds = sorted({each.kind for each in some})
        found += [(memory, kind, [each for each in some if each.kind == kind]) for kind in kinds]
        found.append((memory, ALL, some))
    return found


def _results(outcomes: Sequence[RearrangementOutcome]) -> dict[str, Any]:
    return {
        f"{memory}, {kind}": {
            "episodes": len(some),
            "named": sum(each.named for each in some),
            "done": sum(each.done for each in some),
            "failed": [asdict(each) for each in some if not each.done],
        }
        for memory, kind, some in _groups(outcomes)
    }
