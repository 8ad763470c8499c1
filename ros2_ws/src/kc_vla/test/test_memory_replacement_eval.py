"""`kc-vla eval replacement`: household tasks, traces, and files that are neither."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from kc_vla.cli import main
from kc_vla.memory.evaluation.replacement_streams import STREAMS
from kc_vla.memory.evaluation.requests import RequestsError, household_stream, read_household, read_trace, requests_of


def test_household_tasks_give_a_table_a_file_and_plots(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "replacement", "--streams", "4", "--output", str(tmp_path)]) == 0
    table = (tmp_path / "table.md").read_text()
    assert table in capsys.readouterr().out
    rows = json.loads((tmp_path / "results.json").read_text())
    rates = {(row["size"], row["policy"]): row["rate"] for row in rows if row["requests"] == "household"}
    for size in (5, 10, 15, 20, 25):
        assert rates[size, "fifo"] < rates[size, "adaptive"] < rates[size, "optimum"]
    assert rates[10, "adaptive"] >= 0.48
    assert {path.name for path in tmp_path.glob("*.png")} == {"sizes.png", "course.png"}


def test_a_trace_has_the_rates_that_others_measured(tmp_path: Path) -> None:
    """LRU and the optimum of a loop that is larger than the memory are known by arithmetic."""
    trace = tmp_path / "loop.trace"
    trace.write_text("* a comment\n" + "\n".join(str(key) for _ in range(10) for key in range(20)) + "\n")
    assert main(["eval", "replacement", "--trace", str(trace), "--size", "10", "-o", str(tmp_path / "out")]) == 0
    rates = {row["policy"]: row["rate"] for row in json.loads((tmp_path / "out" / "results.json").read_text())}
    assert rates["lru"] == rates["fifo"] == 0
    assert rates["optimum"] == pytest.approx(9 * 10 / 200)
    assert rates["w-tinylfu"] > 0.35


def test_generated_requests_give_a_line_for_each_kind_beside_caffeine_and_the_optimum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["eval", "replacement", "--generated", "--streams", "2", "--size", "10", "-o", str(tmp_path)]
    assert main(words) == 0
    assert (tmp_path / "table.md").read_text() in capsys.readouterr().out
    rows = json.loads((tmp_path / "results.json").read_text())
    rates = {(row["requests"], row["policy"]): row["rate"] for row in rows}
    for kind in STREAMS:
        rate = {policy: rates[kind, policy] for policy in ("optimum", "Caffeine", "lru", "w-tinylfu", "adaptive")}
        assert max(rate.values()) == rate["optimum"]
        better = max(rate["Caffeine"], rate["lru"])
        assert rates[kind, "adaptive less the better"] == pytest.approx(rate["adaptive"] - better)
    assert rates["loop of 1.33 memories", "lru"] == 0


@pytest.mark.parametrize("words", [("--trace", "a.trace"), ("--tasks", "tasks.jsonl")])
def test_generated_requests_and_those_of_a_file_are_not_measured_at_once(
    words: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", "replacement", "--generated", *words, "-o", str(tmp_path / "out")]) == 1
    assert "leave out --trace and --tasks" in capsys.readouterr().err


@pytest.mark.parametrize("sizes", [("10",), ("5", "10", "40")])
def test_several_traces_are_in_one_picture_each_by_its_name(tmp_path: Path, sizes: tuple[str, ...]) -> None:
    traces = [tmp_path / name for name in ("a/loop.trace", "b/loop.trace", "few.trace", "many.trace")]
    for number, trace in enumerate(traces):
        trace.parent.mkdir(exist_ok=True)
        trace.write_text("".join(f"{key % (7 + 5 * number)}\n" for key in range(200)))
    words = [word for trace in traces for word in ("--trace", str(trace))]
    words += [word for size in sizes for word in ("--size", size)]
    assert main(["eval", "replacement", *words, "-o", str(tmp_path / "out")]) == 0
    rows = json.loads((tmp_path / "out" / "results.json").read_text())
    assert {row["requests"] for row in rows} == set(map(str, traces))
    assert (tmp_path / "out" / "traces.png").read_bytes().startswith(b"\x89PNG")


def test_the_requests_of_a_household_are_the_same_again() -> None:
    tasks = read_household(Path(__file__).parents[1] / "kc_vla/memory/evaluation/data/household.jsonl.gz")
    assert len(tasks) == 7080
    first, again, other = (requests_of(household_stream(tasks, 50, seed)) for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    ("text", "told"),
    [("1\n2\nthree\n", "line 3: 'three' is no integer"), ("* nothing\n", "has no requests")],
)
def test_a_file_that_is_no_trace_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
) -> None:
    trace = tmp_path / "a.trace"
    trace.write_text(text)
    assert main(["eval", "replacement", "--trace", str(trace), "-o", str(tmp_path / "out")]) == 1
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["[]\n", "{\n", '{"scene": 3}\n', '{"scene": "FloorPlan1", "pddl": 5}\n', ""])
def test_a_file_without_annotated_tasks_is_told_in_a_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text(text)
    with pytest.raises(RequestsError, match=r"no annotated task|has no tasks"):
        read_household(file)


def test_packed_traces_are_unpacked(tmp_path: Path) -> None:
    trace = tmp_path / "a.trace.gz"
    trace.write_bytes(gzip.compress(b"5\n6\n"))
    assert read_trace(trace) == [5, 6]
