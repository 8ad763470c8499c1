"""Files that others wrote: their text, JSON, YAML and paths are taken, or refused in one line, and harm nothing."""

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kc_vla.core.untrusted import inner_path, parsed_json, parsed_yaml, read_text

BOMB = "l0: &l0 [x, x]\n" + "".join(f"l{k + 1}: &l{k + 1} [*l{k}, *l{k}]\n" for k in range(40))
DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOMB, "has the alias *l0: write out what it stands for"),
        (DEEP, "is nested too deeply"),
        ("a:\n" * 10 + " " * (1 << 20), "has more than 1048576 letters"),
        ("1" + ":59" * 50_000, "has a word of 150001 letters"),
        ("a: [", "is no YAML at line "),
        ("a: !!python/object:os.system {}", "is no YAML at line 1: could not determine a constructor"),
        ("\x1b[31m", "is no YAML"),
        ("date: 2026-02-32", "day is out of range"),
        ("a: 1\n---\nb: 2", "is no YAML"),
    ],
)
def test_yaml_that_is_refused(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$") as error:
        parsed_yaml(text)
    assert told in str(error.value)


def test_aliases_are_taken_where_that_is_asked_for_but_copy_nothing() -> None:
    content = parsed_yaml(BOMB, aliases=True)
    assert content["l1"] == [["x", "x"]] * 2
    assert content["l2"][0] is content["l1"]
    merged = "l0: &l0 {a: 1}\n" + "".join(f"l{k + 1}: &l{k + 1} {{<<: [{f'*l{k},' * 9}]}}\n" for k in range(40))
    with pytest.raises(ValueError, match="has a merge key <<"):
        parsed_yaml(merged, aliases=True)


def test_yaml_and_json_that_are_taken() -> None:
    assert parsed_yaml("a: {b: [1, 2.5, yes, null]}  # x") == {"a": {"b": [1, 2.5, True, None]}}
    assert parsed_yaml("a: >\n  " + "many words " * 2000)["a"].startswith("many words")
    assert parsed_json('{"0": [0, 57]}') == {"0": [0, 57]}


@pytest.mark.parametrize("text", [DEEP, '{"a":' * 100_000])
def test_json_that_is_nested_too_deeply(text: str) -> None:
    with pytest.raises(ValueError, match="is nested too deeply"):
        parsed_json(text)


@given(st.text())
@example("? [a]\n: b")
@example("&a [*a]")
@example("? {a: b}\n: c")
def test_any_text_is_yaml_or_told_in_a_line(text: str) -> None:
    told = ""
    try:
        parsed_yaml(text)
    except ValueError as error:
        told = str(error)
    assert "\n" not in told


def test_only_ordinary_files_are_read_and_never_without_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ValueError, match="is no ordinary file"):
            read_text(path)
    with pytest.raises(IsADirectoryError):
        read_text(tmp_path)
    (tmp_path / "file").write_bytes(b"ab\xff")
    with pytest.raises(ValueError, match="is no text in UTF-8: invalid start byte at byte 2"):
        read_text(tmp_path / "file")
    with pytest.raises(ValueError, match="is larger than 0 MB"):
        read_text(tmp_path / "file", 2)


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../up", "a/../../up", "a/..", "a\0b", "a\nb", "//x"])
def test_a_path_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="leads out of"):
        inner_path(tmp_path, name)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
@example("a..b/.hidden")
def test_a_path_that_is_taken_lies_in_the_folder(name: str) -> None:
    folder = Path("/a/b")
    try:
        path = inner_path(folder, name)
    except ValueError:
        return
    assert Path(os.path.normpath(path)).is_relative_to(folder)
