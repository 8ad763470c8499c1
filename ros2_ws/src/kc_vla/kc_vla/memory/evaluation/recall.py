"""`kc-vla eval recall`: how often what is recalled first, or among the first three, is what was meant.

KARMA, section 4.3 and table 1, tells .93 for composite and .42 for complex tasks, vague ones among them, by similarity
of 3072-dimensional vectors; its questions are not published. Ours are in `data/recall.yaml`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from kc_vla.core.files import write_whole
from kc_vla.core.shares import Share
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.evaluation.questions import Question
from kc_vla.memory.evaluation.recall_plots import plot_accuracy, plot_confidence
from kc_vla.memory.evaluation.sureness import Sureness, sureness_of, with_and_without
from kc_vla.memory.recall.answer import Answer
from kc_vla.memory.recall.recall import SIMILARITY, Ranker, Recall, Weights
from kc_vla.memory.short_term.memory import ShortTermMemory

WHOLE = Weights()
VARIANTS: Mapping[str, Weights] = {
    "similarity alone": SIMILARITY,
    "+ states, what is excluded": replace(SIMILARITY, state=WHOLE.state, excluded=WHOLE.excluded),
    "+ attributes": replace(WHOLE, known=0.0, own_words=0.0, known_words=0.0),
    "+ words": replace(WHOLE, known=0.0, known_words=0.0),
    "+ what is known of types": replace(WHOLE, known_words=0.0),
    "+ the words of that: all": WHOLE,
}
"""What is added beyond similarity, one after the other; the last has all of it."""
RANKED = "+ a language model ranks"


@dataclass(frozen=True)
class Row:
    """An accuracy.

    Attributes:
        embedding: name of the model.
        variant: of `VARIANTS`.
        split: of the questions.
        series: of the questions.
        kind: of the questions.
        top1: share of them of which the first unit is what was meant ...
        top3: ... or one of the first three.
    """

    embedding: str
    variant: str
    split: str
    series: str
    kind: str
    top1: Share
    top3: Share


def evaluate_recall(
    output: Path, questions: Sequence[Question], embedders: Sequence[Embedder], ranker: Ranker | None = None
) -> tuple[list[Row], list[Sureness]]:
    """Ask all questions of every embedding and variant; written to `output` as tables, JSON and plots.

    Raises:
        EmbeddingError: an embedder fails.
        OSError: the results cannot be written.
    """
    output.mkdir(parents=True, exist_ok=True)
    rows, sureness = [], []
    twice = [each for question in questions for each in with_and_without(question)]
    variants: list[tuple[str, Weights, Ranker | None]] = [(name, each, None) for name, each in VARIANTS.items()]
    variants += [] if ranker is None else [(RANKED, WHOLE, ranker)]
    for embedder in embedders:
        with tqdm(total=len(variants) * len(questions) + len(twice), desc=embedder.name, unit="question") as bar:
            for variant, weights, second in variants:
                answers = [_ask(each, embedder, weights, second) for each in _told(questions, bar)]
                rows += _rows(embedder.name, variant, questions, answers)
            answers = [_ask(each, embedder, WHOLE) for each in _told(twice, bar)]
            sureness += sureness_of(embedder.name, twice, answers)
    found = {"accuracy": [asdict(row) for row in rows], "confidence": [asdict(each) for each in sureness]}
    write_whole(output / "results.json", json.dumps(found, indent=1) + "\n")
    write_whole(output / "table.md", table(rows, sureness))
    plot_accuracy(rows, output / "accuracy.png")
    plot_confidence(sureness, output / "confidence.png")
    return rows, sureness


def table(rows: Iterable[Row], sureness: Sequence[Sureness] = ()) -> str:
    """The accuracies as Markdown tables, for each embedding, half and series, and what the confidences are worth."""
    rows, lines = list(rows), list[str]()
    for group in dict.fromkeys((row.embedding, row.split, row.series) for row in rows):
        chosen = [row for row in rows if (row.embedding, row.split, row.series) == group]
        kinds = list(dict.fromkeys(f"{row.kind} ({row.top1.of})" for row in chosen))
        heads = [f"{kind}, top {most}" for kind in kinds for most in (1, 3)]
        lines += [
            "{}, {} questions, {} series, %".format(*group),
            "",
            _line(["", *heads]),
            _line(["---"] * (1 + len(heads))),
        ]
        for variant in dict.fromkeys(row.variant for row in chosen):
            shares = [share for row in chosen if row.variant == variant for share in (row.top1, row.top3)]
            lines.append(_line([variant, *map(str, shares)]))
        lines.append("")
    for each in sureness:
        lines += [f"{each.embedding}, {each.split} questions, to memories with and without what is meant: confidence "]
        lines[-1] += f"is off by {each.error:.3f} on average"
        heads = ["answers", "confidence, mean", "first unit is what was meant, %", "number"]
        lines += ["", _line(heads), _line(["---"] * len(heads))]
        for groups in (each.bins, each.described):
            lines += [_line([name, f"{mean:.2f}", str(share), str(share.of)]) for name, mean, share in groups]
        lines.append("")
    if sureness:
        lines += [f"{each.embedding}: {each.calibration}" for each in sureness if each.split == "development"]
    return "\n".join(lines)


def _told(questions: Iterable[Question], bar: tqdm[Any]) -> Iterator[Question]:
    for each in questions:
        yield each
        bar.update()


def _ask(question: Question, embedder: Embedder, weights: Weights, ranker: Ranker | None = None) -> Answer:
    memory = ShortTermMemory(max(len(question.units), 5), "fifo")
    for unit in question.units:
        memory.observe(unit)
    return Recall(memory, embedder, weights, ranker=ranker).ask(question.text)


def _rows(embedding: str, variant: str, questions: Sequence[Question], answers: Sequence[Answer]) -> list[Row]:
    rows = []
    for split, series, kind in sorted({(each.split, each.series, each.kind) for each in questions}):
        places = [
            [found.unit.object_id for found in answer.found].index(question.answer)
            if any(found.unit.object_id == question.answer for found in answer.found)
            else 3
            for question, answer in zip(questions, answers, strict=True)
            if (question.split, question.series, question.kind) == (split, series, kind)
        ]
        first, among = sum(place < 1 for place in places), sum(place < 3 for place in places)
        shares = Share(first, len(places)), Share(among, len(places))
        rows.append(Row(embedding, variant, split, series, kind, *shares))
    return rows


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
