"""Several instructions out of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kc_vla.planning.instruction import given_instructions
from kc_vla.planning.interface import PlanningError


def test_each_line_is_an_instruction_and_remarks_are_none(tmp_path: Path) -> None:
    file = tmp_path / "day.txt"
    file.write_text("# in the morning\nput the egg into the drawer\n\n  put the milk onto the tray \n")
    assert given_instructions("", str(file)) == ("put the egg into the drawer", "put the milk onto the tray")
    assert given_instructions(" put the egg away ", "") == ("put the egg away",)
    assert given_instructions("  ", "") == ()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [("# nothing\n", "has 0 instructions: write 1 to 1000"), ("go\n" * 1001, "has 1001 instructions")],
)
def test_a_file_with_none_or_too_many_is_refused(tmp_path: Path, text: str, wrong: str) -> None:
    file = tmp_path / "day.txt"
    file.write_text(text)
    with pytest.raises(PlanningError, match=wrong):
        given_instructions("", str(file))


def test_a_missing_file_and_two_kinds_of_instructions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanningError, match="cannot be read as a sequence"):
        given_instructions("", str(tmp_path / "none.txt"))
    with pytest.raises(PlanningError, match="give one of them"):
        given_instructions("go", str(tmp_path / "none.txt"))
