"""`kc-vla eval ask`: how many questions about generated homes are answered rightly, refused and answered wrongly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tqdm import tqdm

from kc_vla.core.files import write_whole
from kc_vla.core.shares import Share
from kc_vla.memory.asking.answer import MemoryAnswer, unknown
from kc_vla.memory.asking.answering import Asker, Reader, read_by_grammar
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.evaluation.halves import SPLITS
from kc_vla_sim.household.questions.cosine import CosineAsker, best_threshold
from kc_vla_sim.household.questions.judging import AnswerVerdict, judge
from kc_vla_sim.household.questions.lived import lived
from kc_vla_sim.household.questions.table import KINDS, HomeQuestion, read_home_questions

ASKED, COSINE = "asked", "cosine only"
CONFIDENT = 0.8
_HEADS = ("split", "kind", "questions", "method", "right, %", "refused", "wrong", f"wrong above {CONFIDENT:g}")


@dataclass(frozen=True)
class AnsweredQuestion:
    """What came of one question.

    Attributes:
        split, kind, home, question: of it.
        method: `ASKED` or `COSINE`.
        verdict: of `AnswerVerdict`.
        confidence: of the answer.
        answer: its text.
    """

    split: str
    kind: str
    home: int
    question: str
    method: str
    verdict: str
    confidence: float
    answer: str


def evaluate_asking(
    output: Path,
    embedder: Embedder,
    questions: Sequence[HomeQuestion] | None = None,
    reader: Reader = read_by_grammar,
) -> list[AnsweredQuestion]:
    """Ask all questions of the robots of their homes, and of the baseline; write table.md and results.json.

    Raises:
        OSError: the results cannot be written.
    """
    output.mkdir(parents=True, exist_ok=True)
    chosen = read_home_questions() if questions is None else list(questions)
    rows: list[AnsweredQuestion] = []
    likest: list[tuple[HomeQuestion, MemoryAnswer, bool, bool]] = []
    homes = sorted({each.home for each in chosen})
    for number in tqdm(homes, desc="homes", unit="home"):
        own = [each for each in chosen if each.home == number]
        with lived(number, embedder) as home:
            asker, cosine = Asker(home.memory, home.around, reader), CosineAsker(home, embedder)
            for each in own:
                answer = asker.ask(each.text)
                verdict = judge(answer, each.expected, home, each.kind == "vague")
                rows.append(_row(each, ASKED, verdict, answer))
                guess = cosine.ask(each.text)
                found, refused = (
                    judge(one, each.expected, home, each.kind == "vague") for one in (guess, unknown("I do not know."))
                )
                likest.append((each, guess, found is AnswerVerdict.RIGHT, refused is AnswerVerdict.RIGHT))
    rows += _baseline(likest)
    write_whole(output / "results.json", json.dumps([asdict(each) for each in rows], indent=1) + "\n")
    write_whole(output / "table.md", table(rows))
    return rows


def _baseline(likest: Sequence[tuple[HomeQuestion, MemoryAnswer, bool, bool]]) -> Iterator[AnsweredQuestion]:
    """Yield what the baseline answers, from the cosine on that is best for the development homes."""
    tuned = [each for each in likest if each[0].split == SPLITS[0]] or likest
    least = best_threshold(
        [each[1].confidence for each in tuned], [each[2] for each in tuned], [each[3] for each in tuned]
    )
    for question, answer, right, refused in likest:
        if answer.confidence < least:
            verdict = AnswerVerdict.RIGHT if refused else AnswerVerdict.REFUSED
            yield _row(question, COSINE, verdict, unknown("I do not know."))
        else:
            yield _row(question, COSINE, AnswerVerdict.RIGHT if right else AnswerVerdict.WRONG, answer)


def _row(question: HomeQuestion, method: str, verdict: AnswerVerdict, answer: MemoryAnswer) -> AnsweredQuestion:
    return AnsweredQuestion(
        question.split,
        question.kind,
        question.home,
        question.text,
        method,
        verdict.value,
        answer.confidence,
        answer.text,
    )


def table(rows: Sequence[AnsweredQuestion]) -> str:
    """Return the figures as a Markdown table; intervals are Wilson's, of 95 %."""
    lines = [_line(_HEADS), _line(["---"] * len(_HEADS))]
    for split in SPLITS:
        for kind in (*KINDS, "all"):
            for method in (ASKED, COSINE):
                some = [
                    each for each in rows if (each.split, each.method) == (split, method) and kind in (each.kind, "all")
                ]
                if some:
                    lines.append(_line(_figures(split, kind, method, some)))
    return "\n".join(lines) + "\n"


def _figures(split: str, kind: str, method: str, some: Sequence[AnsweredQuestion]) -> list[str]:
    counts = {verdict: sum(each.verdict == verdict for each in some) for verdict in AnswerVerdict}
    sure = sum(each.verdict == AnswerVerdict.WRONG and each.confidence > CONFIDENT for each in some)
    right = Share(counts[AnswerVerdict.RIGHT], len(some))
    refused, wrong = counts[AnswerVerdict.REFUSED], counts[AnswerVerdict.WRONG]
    return [split, kind, str(len(some)), method, str(right), str(refused), str(wrong), str(sure)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
