"""`kc-vla eval recall`: its questions are as they are said to be, and what it writes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from openai_server import OpenAiServer

from kc_vla.cli import main
from kc_vla.core.shares import Share
from kc_vla.memory.embedding.models import open_embedder
from kc_vla.memory.evaluation.confidence import with_and_without
from kc_vla.memory.evaluation.halves import SPLITS
from kc_vla.memory.evaluation.questions import UNITS, Question, read_questions
from kc_vla.memory.evaluation.recall import VARIANTS, evaluate_recall
from kc_vla.memory.short_term.unit import Unit

QUESTIONS = read_questions()


def meant(question: Question) -> Unit:
    (unit,) = (unit for unit in question.units if unit.object_id == question.answer)
    return unit


def test_there_are_enough_questions_of_every_kind_in_both_halves() -> None:
    assert len(QUESTIONS) == len({question.text for question in QUESTIONS}) == 1455
    counts = Counter((each.split, each.series, each.kind) for each in QUESTIONS)
    assert counts["test", "second", "composite"] == 336
    assert counts["test", "second", "vague"] == 171
    for split in ("development", "test"):
        for kind in ("exact", "composite", "vague"):
            assert sum((each.split, each.kind) == (split, kind) for each in QUESTIONS) >= 50


def test_no_object_is_in_both_halves() -> None:
    types = {
        split: {unit.object_type for each in QUESTIONS if each.split == split for unit in each.units}
        for split in ("development", "test")
    }
    assert not types["development"] & types["test"]
    assert min(map(len, types.values())) > 50


def test_what_is_meant_is_alone_in_its_type_but_for_near_misses() -> None:
    for question in QUESTIONS:
        unit = meant(question)
        alike = [each for each in question.units if each.object_type == unit.object_type and each != unit]
        assert len(question.units) == UNITS
        assert bool(alike) == (question.kind == "composite"), question.text
        for each in alike:
            assert (each.state, each.attributes) != (unit.state, unit.attributes), question.text


def test_a_question_is_put_to_memories_with_and_without_what_is_meant() -> None:
    for question in QUESTIONS:
        unit, asked = meant(question), with_and_without(question)
        of_type = [[each for each in other.units if each.object_type == unit.object_type] for other in asked]
        assert of_type[:2] == [[each for each in question.units if each.object_type == unit.object_type], []]
        if question.kind != "composite":
            assert (len(asked), question.asked) == (2, ())
            continue
        assert of_type[2] == [each for each in of_type[0] if each != unit]
        (there,), (not_there,) = of_type[3:]
        assert there.object_id == unit.object_id
        assert there != unit, question.text
        assert not_there.object_id in {each.object_id for each in of_type[2]}


def test_other_words_are_asked_in_the_test_than_in_development() -> None:
    """A wording is for both halves, or for one."""
    said = {
        split: {
            each.text for each in QUESTIONS if (each.split, each.series, each.kind) == (split, "second", "composite")
        }
        for split in SPLITS
    }
    one_half = [
        wording
        for wording in (
            "needs washing",
            "must be washed",
            "whose colour is",
            "anything but the",
            "unsealed",
            "piece of",
        )
        if any(wording in text for texts in said.values() for text in texts)
    ]
    assert len(one_half) >= 4
    for wording in one_half:
        assert sum(any(wording in text for text in texts) for texts in said.values()) == 1, wording
    assert all(any(f"the clean{' '}" in text or "washed" in text for text in texts) for texts in said.values())


def test_the_questions_are_the_same_again() -> None:
    assert read_questions() == QUESTIONS


@pytest.mark.nightly
def test_a_table_a_file_and_plots_are_written(tmp_path: Path) -> None:
    questions = [each for each in QUESTIONS if each.split == "development"][::70]
    rows, sureness = evaluate_recall(tmp_path, questions, [open_embedder()])
    assert {row.variant for row in rows} == set(VARIANTS)
    found = json.loads((tmp_path / "results.json").read_text())
    assert len(found["accuracy"]) == len(rows)
    assert (tmp_path / "table.md").read_text().count("\n| +") == 2 * (len(VARIANTS) - 1)  # a table a series
    assert all(row.top3.right >= row.top1.right for row in rows)
    asked = sum(len(with_and_without(each)) for each in questions)
    assert sum(share.of for *_, share in sureness[0].bins) == asked
    assert sum(share.of for *_, share in sureness[0].described) == asked
    assert str(sureness[0].calibration) in (tmp_path / "table.md").read_text()
    assert {path.name for path in tmp_path.glob("*.png")} == {"accuracy.png", "confidence.png"}


@pytest.mark.nightly
def test_an_embedding_that_is_not_there_is_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "recall", "--embedding", str(tmp_path), "-o", str(tmp_path / "out")]) == 1
    assert "has no model.onnx" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("right", "of"), [(0, 10), (10, 10), (1, 1), (61, 63)])
def test_an_interval_holds_its_share_and_stays_a_share(right: int, of: int) -> None:
    low, high = Share(right, of).interval
    assert 0 <= low <= right / of <= high <= 1
    assert high - low > 0.01


def test_an_interval_is_that_of_the_books() -> None:
    """Newcombe (1998): 81 of 263."""
    assert Share(81, 263).interval == pytest.approx((0.2553, 0.3662), abs=1e-4)


@pytest.mark.nightly
@pytest.mark.timeout(1800)  # some six thousand questions
def test_the_development_questions_are_answered_as_it_is_written(tmp_path: Path) -> None:
    with OpenAiServer(says=lambda messages: "[0]") as server:
        words = ["eval", "recall", "--split", "development", "--embedding", "offline", "--server", server.url]
        assert main([*words, "--served-embedding", "chance", "--ranker", "a-model", "-o", str(tmp_path)]) == 0
    rows = json.loads((tmp_path / "results.json").read_text())["accuracy"]
    right: Counter[tuple[str, str, str]] = Counter()
    of: Counter[tuple[str, str, str]] = Counter()
    for row in rows:  # of both series
        key = row["embedding"], row["variant"], row["kind"]
        right[key], of[key] = right[key] + row["top1"][0], of[key] + row["top1"][1]
    share = {key: right[key] / of[key] for key in of}
    for variant in ("+ the words of that: all", "+ a language model ranks"):
        assert share["all-MiniLM-L6-v2", variant, "composite"] >= 0.97
        assert share["all-MiniLM-L6-v2", variant, "vague"] >= 0.70
    assert share["chance", "similarity alone", "vague"] < 0.3
    assert "requests, 0 failed" in (tmp_path / "cost.txt").read_text()
