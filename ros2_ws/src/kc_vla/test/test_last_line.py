import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.launching.last_line import LONGEST_BYTES, LastLine

ENDS = ("\n", "\r\n", "\r")
LINES = st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.sampled_from(ENDS)))


def said(*pieces: bytes) -> str:
    last = LastLine()
    for piece in pieces:
        last.take(piece)
    return last.text


@given(LINES, st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.data())
def test_the_last_line_is_the_same_however_the_output_is_cut(
    lines: list[tuple[str, str]], unfinished: str, data: st.DataObject
) -> None:
    output = "".join(line + end for line, end in lines) + unfinished
    raw = output.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)))))
    pieces = [raw[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    expected = [line.strip() for line, _ in [*lines, (unfinished, "")] if line.encode().strip()]
    assert said(*pieces) == (expected[-1] if expected else "")


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ((), ""),
        ((b"one\ntwo\nthree\n",), "three"),
        ((b"no such ", b"camera", b"\n"), "no such camera"),
        ((b"no such camera\n", b"\n \n"), "no such camera"),
        ((b"whole\nonly half",), "only half"),
        (("é".encode()[:1], "é".encode()[1:] + b"\n"), "é"),
        ((b"\xff\xfe\n",), "\ufffd\ufffd"),
        ((b"10 %\r20 %\r",), "20 %"),
    ],
)
def test_what_counts_as_the_last_line(pieces: tuple[bytes, ...], text: str) -> None:
    assert said(*pieces) == text


def test_a_line_without_end_keeps_its_beginning_and_no_more() -> None:
    assert said(b"begins: ", *[b"x" * 60000] * 3) == "begins: ".ljust(LONGEST_BYTES, "x")
    assert said(b"begins: ", *[b"x" * 60000] * 3, b"\nthen this\n") == "then this"


def test_lines_that_do_not_count_are_passed_over() -> None:
    last = LastLine(re.compile(b"^the arm "))
    for piece in (b"the arm is parked\nthe middle", b"ware hangs\nthe a", b"rm? no\n", b"no: the arm is raised\n"):
        last.take(piece)
    assert last.text == "the arm is parked"
    last.take(b"the arm stands")
    assert last.text == "the arm stands"
