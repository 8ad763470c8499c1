"""What people read in a repository: the sentences of a Markdown text, and docstrings and help in a Python file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_HIDDEN = re.compile(r"\A---\n.*?^---$|<!--.*?-->", re.MULTILINE | re.DOTALL)
"""Front matter and comments."""
_FENCE = re.compile(r"\s*(```|~~~)")
_FENCED = re.compile(r"^ *(```|~~~).*?^ *\1$", re.MULTILINE | re.DOTALL)
"""A block of code in a docstring."""
_MARKER = re.compile(r"\s*(?:[-*+]|\d+\.) +")
_INLINE_CODE = re.compile(r"(`+)(?!`)(?:(?!\n *\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_LINK_NAMED_BY_PATH = re.compile(r"\[[\w./*-]+\.\w+\]\([^)]*\)")
_TAG = re.compile(r"</?\w[^<>]*>")
_END = re.compile(r"(?<=[^\s.][.!?])[\"')*_]*\s+|(?<=\.\.\.)\s+(?=[A-Z])")
_ABBREVIATION = re.compile(r"(?:\be\.g|\bi\.e|\bet al|\betc|\bvs|\bcf|\bFig)\.[\"')*_]*\s+\Z")
_ARGUMENT = re.compile(r"^ +\*{0,2}\w+(?:, \w+)*(?: \([^)]*\))?:", re.MULTILINE)
_READ_ARGUMENTS = {"help", "description", "epilog"}
_DESCRIBED = {"parameter": 1, "option": 0}
"""Functions that describe a value, and which argument has the description."""
_SAID = {"print", "say", "log", "info", "warn", "warning", "error", "fatal"}
"""Functions and methods whose arguments a person reads."""


def outside_of_code(markdown: str) -> Iterator[str]:
    """Yield the lines of a Markdown text; an empty one in place of front matter, a comment or a block of code."""
    fence = ""
    before = ""
    in_list = False
    for line in _HIDDEN.sub("", markdown).splitlines():
        fenced = _FENCE.match(line)
        is_indented = line.startswith("    ") and not before and not in_list
        is_code = bool(fence or fenced or is_indented)
        if fenced:
            fence = "" if fence == fenced[1] else fence or fenced[1]
        in_list = bool(_MARKER.match(line)) or (in_list and (bool(before) or not line or line.startswith(" ")))
        before = "" if is_code else line.strip()
        yield "" if is_code else line


def paragraphs(markdown: str) -> Iterator[str]:
    """Yield paragraphs and list items, each in one line; headings and tables are none."""
    block: list[str] = []
    for line in [*outside_of_code(markdown), ""]:
        marker = _MARKER.match(line)
        is_prose = bool(line.strip()) and not line.lstrip().startswith(("|", "#"))
        if block and (marker or not is_prose):
            yield " ".join(block)
            block = []
        if is_prose:
            block.append((line[marker.end() :] if marker else line).strip())


def without_code(markdown: str) -> str:
    """Return a text without tags and targets of links, and with one word in place of inline code and of a path."""
    return _TAG.sub("", _LINK.sub(r"\1", _LINK_NAMED_BY_PATH.sub("x", _INLINE_CODE.sub("x", markdown))))


def sentences(markdown: str) -> list[str]:
    """Return the sentences of a Markdown text, without its headings, tables and blocks of code."""
    found = []
    for paragraph in paragraphs(markdown):
        text = without_code(paragraph)
        start = 0
        for end in _END.finditer(text):
            if not _ABBREVIATION.search(text[start : end.end()]):
                found.append(text[start : end.end()].strip())
                start = end.end()
        found.append(text[start:].strip())
    return [sentence for sentence in found if words(sentence)]


def words(sentence: str) -> int:
    """Return the number of words; a number is a word, a dash is none."""
    return sum(any(letter.isalnum() for letter in word) for word in sentence.split())


def text_of_markdown(markdown: str) -> str:
    """Return all that is text, headings and tables too: no code, no HTML, no targets of links."""
    return without_code("\n".join(outside_of_code(markdown)))


class Text(NamedTuple):
    """A piece of text in a Python file."""

    line: int
    is_docstring: bool
    text: str


def texts_of_python(nodes: Iterable[ast.AST]) -> Iterator[Text]:
    """Yield docstrings, those below an assignment too, and helps of commands, launch arguments and parameters.

    Args:
        nodes: all of a file, as `ast.walk` yields them.
    """
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield Text(node.lineno, True, node.value.value)
        elif isinstance(node, ast.keyword) and node.arg in _READ_ARGUMENTS:
            yield Text(node.value.lineno, False, _constant_text(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            index = _DESCRIBED.get(node.func.id)
            if index is not None and index < len(node.args):
                yield Text(node.args[index].lineno, False, _constant_text(node.args[index]))


def _constant_text(node: ast.expr) -> str:
    parts = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    return "".join(part for part in parts if isinstance(part, str))


def messages_of_python(nodes: Iterable[ast.AST]) -> Iterator[Text]:
    """Yield the errors that a file raises and the lines that it logs or prints, with an x for each value in them.

    Args:
        nodes: all of the file, as `ast.walk` yields them.
    """
    for node in nodes:
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            given = node.exc.args[:1]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            given = node.args if name in _SAID else []
        else:
            continue
        for argument in given:
            if isinstance(argument, ast.JoinedStr):
                yield Text(argument.lineno, False, _constant_text(ast.List([*map(_or_name, argument.values)])))
            elif isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield Text(argument.lineno, False, argument.value)


def _or_name(part: ast.expr) -> ast.expr:
    return part if isinstance(part, ast.Constant) else ast.Constant("x")


def text_of_docstring(docstring: str) -> str:
    """Return a docstring without code and without the names of arguments before a colon."""
    return without_code(_ARGUMENT.sub("", _FENCED.sub("", docstring)))
