"""Results of an evaluation come one by one, and an interrupted one goes on with what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kc_vla.core.begun import BegunError
from kc_vla_sim.result_folder import RESULTS, TABLE, ResultFolder


def squares(path: Path) -> ResultFolder[tuple[int, int]]:
    return ResultFolder(path, "squares.jsonl", lambda row: (row["of"], row["square"]))


def play(path: Path, *numbers: int) -> list[int]:
    """Compute what is missing, and return of which numbers that was."""
    computed: list[int] = []

    def work(number: int) -> int:
        if number < 0:
            raise KeyboardInterrupt
        computed.append(number)
        return number**2

    results = squares(path)
    there = {number for number, _ in results.read()}
    missing = [number for number in numbers if number not in there]
    results.play(work, missing, lambda number, square: {"of": number, "square": square}, 1, "squares")
    return computed


def test_what_is_there_is_kept_and_the_rest_is_played(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        play(tmp_path, 2, 3, -1, 4)
    assert list(squares(tmp_path).read()) == [(2, 4), (3, 9)]
    with (tmp_path / "squares.jsonl").open("a") as file:
        file.write('{"of": 5, "squ')  # as a crash leaves it
    assert play(tmp_path, 2, 3, 4, 5) == [4, 5]
    assert dict(squares(tmp_path).read()) == {2: 4, 3: 9, 4: 16, 5: 25}


def test_a_folder_goes_on_as_it_was_begun_alone(tmp_path: Path) -> None:
    folder = tmp_path / "squares"
    with squares(folder).begun({"of": "whole"}, "a test"):
        play(folder, 1)
    with squares(folder).begun({"of": "whole"}, "a test"):
        assert play(folder, 1) == []
    with (
        pytest.raises(BegunError, match="begun with of 'whole', not 'half'"),
        squares(folder).begun({"of": "half"}, "a test"),
    ):
        raise AssertionError("it has begun")


def test_table_and_figures_are_files(tmp_path: Path) -> None:
    squares(tmp_path).write("| 2 | 4 |\n")
    assert (tmp_path / TABLE).read_text() == "| 2 | 4 |\n"
    assert not (tmp_path / RESULTS).exists()
    squares(tmp_path).write("| 2 | 4 |\n", {"2": 4})
    assert json.loads((tmp_path / RESULTS).read_text()) == {"2": 4}
