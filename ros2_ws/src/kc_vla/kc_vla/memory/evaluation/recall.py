"""`kc-vla eval recall`: how often what is recalled first, or among the first three, is what was meant.

KARMA, section 4.3 and table 1, tells .93 for composite and .42 for complex tasks, vague ones among them, by similarity
of 3072-dimensional vectors; its questions are not published. Ours are in `data/recall.yaml`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from kc_vla.core.files import write_whole
from kc_vla.core.shares import Share
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.evaluation.accuracy import AccuracyRow, table
from kc_vla.memory.evaluation.confidence import Sureness, sureness_of, with_and_without
from kc_vla.memory.evaluation.questions import Question
from kc_vla.memory.evaluation.recall_plots import plot_accuracy, plot_confidence
from kc_vla.memory.recall.answer import RecallAnswer
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


def evaluate_recall(
    output: Path, questions: Sequence[Question], embedders: Sequence[Embedder], ranker: Ranker | None = None
) -> tuple[list[AccuracyRow], list[Sureness]]:
    """Ask all questions with every embedding and variant, and write tables, JSON and plots to `output`.

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


def _told(questions: Iterable[Question], bar: tqdm[Any]) -> Iterator[Question]:
    for each in questions:
        yield each
        bar.update()


def _ask(question: Question, embedder: Embedder, weights: Weights, ranker: Ranker | None = None) -> RecallAnswer:
    memory = ShortTermMemory(max(len(question.units), 5), "fifo")
    for unit in question.units:
        memory.observe(unit)
    return Recall(memory, embedder, weights, ranker=ranker).ask(question.text)


def _rows(
    embedding: str, variant: str, questions: Sequence[Question], answers: Sequence[RecallAnswer]
) -> list[AccuracyRow]:
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
        rows.append(AccuracyRow(embedding, variant, split, series, kind, *shares))
    return rows
