"""Files to which lines are added: what a crash cut off costs that line alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.lines import append_line, read_lines

rows = st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.none()), max_size=3)


@given(st.lists(rows), rows, rows, st.integers(0, 200))
def test_a_line_that_was_cut_off_costs_no_other(
    tmp_path_factory: pytest.TempPathFactory, before: list[dict], torn: dict, after: dict, length: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    path.unlink(missing_ok=True)
    for row in before:
        append_line(path, row)
    whole = path.read_bytes() if path.exists() else b""
    append_line(path, torn)
    cut = path.read_bytes()[: len(whole) + length]
    path.write_bytes(cut)
    append_line(path, after)
    found = list(read_lines(path, dict))
    assert found in ([*before, after], [*before, torn, after])
