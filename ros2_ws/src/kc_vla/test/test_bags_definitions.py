"""Definitions that a bag carries: any text is understood or told in one line, soon, and no bytes are made up."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcap.writer import Writer

from kc_vla.bags.definitions import DECODE_ERRORS, decoder
from kc_vla.bags.errors import BagReadError
from kc_vla.bags.schemas import Schema
from kc_vla.cli import main

CDR = b"\0\1\0\0"
HELLO = CDR + b"\6\0\0\0hello\0"


def bag_with(path: Path, definition: str, messages: Sequence[bytes] = (HELLO, HELLO)) -> Path:
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start(profile="ros2", library="test")
        schema = writer.register_schema("a_msgs/msg/Word", "ros2msg", definition.encode())
        channel = writer.register_channel("/words", "cdr", schema)
        for time, data in enumerate(messages):
            writer.add_message(channel, time, data, time)
        writer.finish()
    return path


def words(definition: str, data: bytes = HELLO) -> object:
    return decoder(Schema("a_msgs/msg/Word", definition, ""))(data)


@pytest.mark.parametrize(
    ("definition", "told"),
    [
        (f"uint8 {'A' * 60}-=1\nstring data", "is neither a field nor a constant"),
        ("uint8 lower=3\nstring data", "'uint8 lower=3' is neither a field nor a constant"),
        ("uint8 LARGE=300\nstring data", "value '300' can not be converted to type 'uint8'"),
        ("time NOON=3\nstring data", "is neither a field nor a constant"),
        ("uint8[0] data", "is neither a field nor a constant"),
        ("uint8] data", "is neither a field nor a constant"),
        ("a/b/c/D data", "is neither a field nor a constant"),
        ("\x1b[31mred data", "'\\x1b[31mred data' is neither a field nor a constant"),
        ("b_msgs/Gone data", "Message definition not found"),
        ("Word data", "recursion"),
        ("string data\nstring data", "duplicate names"),
        ("wstring data", "wstring parsing is not implemented"),
        ("string data\n" * 5000, "it has 5000 lines, 4000 are the most"),
        ("Part[900000000] parts\n===\nMSG: a_msgs/Part\nuint8[4] bytes", "it ends within an array"),
        ("uint8[999999999] bytes", "it ends within an array"),
    ],
)
def test_a_bad_definition_is_told_in_a_line_for_each_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], definition: str, told: str
) -> None:
    assert main(["bag", "check", str(bag_with(tmp_path / "odd.mcap", definition))]) == 1
    found = capsys.readouterr()
    assert found.err == "kc-vla bag: 1 of 1 bags are not well, see above\n"
    *_, first, second = found.out.splitlines()
    assert told in first
    assert "message 1 of /words is not understood" in first
    assert "message 2 of /words is not understood" in second
    assert found.out.replace("\n", "").isprintable()


def test_what_does_not_matter_for_reading_does_no_harm() -> None:
    text = "# [m [m\n  # more\nuint8 ONE=1  # x\nstring EMPTY=\n\tstring<=9 data 'a=b'  # [[[\n\n"
    assert words(text).data == "hello"  # type: ignore[attr-defined]


def test_an_array_that_ends_early_is_not_shorter() -> None:
    assert words("uint8[] data", CDR + b"\2\0\0\0ab").data == b"ab"  # type: ignore[attr-defined]
    with pytest.raises(EOFError, match="within an array"):
        words("uint8[] data", CDR + b"\3\0\0\0ab")


LINES = st.one_of(
    st.text(max_size=40),
    st.builds(
        "{} {}{}{}".format,
        st.sampled_from(["uint8", "string", "string<=3", "Word", "b/Word", "time", "int8[2]", "bool[<=0]", "", "x[]"]),
        st.sampled_from(["a", "A", "a__b", "", "=", "A_", "data"]),
        st.sampled_from(["", "=", " = 1", " [1,2]", " 'x"]),
        st.text(max_size=3),
    ),
    st.sampled_from(["===", "MSG: a_msgs/Word", "MSG: b/msg/Word"]),
)


@given(st.lists(LINES, max_size=6).map("\n".join), st.binary(max_size=40))
@example("A a\nMSG: a/A", HELLO)
@example("MSG: a/B_Goal_Request\nuint8 x", HELLO)
def test_any_definition_decodes_or_is_an_error_that_is_known_and_nothing_is_printed(text: str, data: bytes) -> None:
    with pytest.MonkeyPatch.context() as patched:
        printed: list[object] = []
        patched.setattr("builtins.print", lambda *said, **_: printed.append(said))
        try:
            words(text, data)
        except (BagReadError, *DECODE_ERRORS):
            pass
        assert not printed
