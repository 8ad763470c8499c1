"""Decoders of messages from the definitions that a bag carries, which nothing is assumed of.

The parser behind it (mcap-ros2-support) raises many kinds of errors, prints some of them, takes exponential time for
some wrong names of constants, and reads byte arrays beyond the end of a message. So a definition is looked at line by
line before it gets there, without what does not matter for reading: comments and default values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import mcap.records
from mcap_ros2._vendor.rosidl_adapter.parser import InvalidSpecification, InvalidValue
from mcap_ros2.decoder import DecoderFactory

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.records import PARSE_ERRORS
from kc_vla.bags.schemas import Schema

DECODE_ERRORS = (
    *PARSE_ERRORS,
    InvalidSpecification,
    InvalidValue,
    *(KeyError, IndexError, TypeError, AttributeError, NameError),
    *(NotImplementedError, AssertionError, MemoryError),
)
"""What comes of a definition that is none, or of bytes that do not fit it."""

_MOST_LINES, _MOST_LETTERS = 4000, 1000
_PRIMITIVE = r"bool|byte|char|float(?:32|64)|u?int(?:8|16|32|64)|w?string"
_PACKAGE = r"[a-z](?:_?[a-z0-9])*"
_NAME = r"(?:Sample_)?[A-Z][A-Za-z0-9]*(?:_(?:Goal|Result|Feedback))?(?:_(?:Request|Response))?"
_FIELD = re.compile(
    rf"((?:(?:{_PRIMITIVE})|w?string<=[1-9]\d{{0,8}}|(?:{_PACKAGE}/)?{_NAME})(?:\[(?:(?:<=)?[1-9]\d{{0,8}})?\])?)"
    rf" +({_PACKAGE})(?: .*)?"
)
_CONSTANT = re.compile(rf"({_PRIMITIVE}) +([A-Z](?:_?[A-Z0-9])*) *= *(.*)")
_END = re.compile(r"={3,}")
_HEADING = re.compile(rf"MSG: +{_PACKAGE}(?:/msg)?/{_NAME}")


class _Message(bytes):
    """The bytes of a message; a part that is not there is an error, not shorter."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) and key.stop > len(self):
            raise EOFError("it ends within an array")
        return super().__getitem__(key)


def decoder(schema: Schema) -> Callable[[bytes], Any]:
    """Return what makes a plain object of a message's bytes; it raises one of `DECODE_ERRORS` where they do not fit.

    Raises:
        BagReadError: the definition is not in .msg form, or longer than any, or a line of it is wrong.
        DECODE_ERRORS: something else is wrong with it.
    """
    if schema.encoding != "ros2msg":
        raise BagReadError("it is not in .msg form")
    text = _plain(schema).encode()
    made = DecoderFactory().decoder_for("cdr", mcap.records.Schema(1, text, schema.encoding, schema.type))
    assert made is not None  # given for this encoding
    return lambda data: made(_Message(data))


def error_text(error: Exception) -> str:
    """Return what an error says, or its kind where it says nothing."""
    return str(error) or type(error).__name__


def _plain(schema: Schema) -> str:
    """Return the definition in the parser's simplest words."""
    lines = [bare for line in schema.text.splitlines() if (bare := line.split("#", 1)[0].replace("\t", " ").strip())]
    if len(lines) > _MOST_LINES:
        raise BagReadError(f"it has {len(lines)} lines, {_MOST_LINES} are the most")
    return "\n".join(_line(line, before) for before, line in pairwise(["===", *lines]))


def _line(line: str, before: str) -> str:
    if len(line) <= _MOST_LETTERS:
        if _END.fullmatch(line) or _CONSTANT.fullmatch(line) or (_END.fullmatch(before) and _HEADING.fullmatch(line)):
            return line
        if field := _FIELD.fullmatch(line):
            return f"{field[1]} {field[2]}"
    raise BagReadError(f"'{line[:100]}' is neither a field nor a constant")
