"""The accuracies of an evaluation of recall: rows, and their table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kc_vla.core.shares import Share
from kc_vla.memory.evaluation.confidence import Sureness


@dataclass(frozen=True)
class AccuracyRow:
    """An accuracy.

    Attributes:
        embedding: name of the model.
        variant: of `kc_vla.memory.evaluation.recall.VARIANTS`.
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


def table(rows: Iterable[AccuracyRow], sureness: Sequence[Sureness] = ()) -> str:
    """Return the accuracies as Markdown tables for each embedding, half and series.

    They have what the confidences are worth, too.
    """
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


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
