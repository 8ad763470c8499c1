"""The commands of `kc-vla` and their help, as their parsers have them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from unittest.mock import patch

from kc_vla.cli import main
from kc_vla.cli.verbs import VERBS

Words = tuple[str, ...]
_NAMES = frozenset(verb.name for verb in VERBS)
"""`kc-vla sim` knows some of them, too."""


class _ParsingError(Exception):
    """A command line would be parsed now, by this parser."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


def commands() -> Iterator[tuple[str, str]]:
    """Each command, as it is typed, and what its `--help` prints, in the order of `kc-vla --help`."""
    for verb in VERBS:
        for kind in verb.kinds:
            yield f"kc-vla {verb.name} {kind}", _parser_of((verb.name, kind)).format_help()
        if not verb.kinds:
            yield from _below((verb.name,))


def _below(words: Words) -> Iterator[tuple[str, str]]:
    parser = _parser_of(words)
    actions = [action for action in _actions_of(parser) if action not in _NAMES or words != ("sim",)]
    if not actions:
        yield " ".join(("kc-vla", *words)), parser.format_help()
    for action in actions:
        yield from _below((*words, action))


def _parser_of(words: Words) -> argparse.ArgumentParser:
    """The parser of a command: verbs read their words in modules of their own, which are asked with these words."""

    def stop(parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        raise _ParsingError(parser)

    try:
        with patch.object(argparse.ArgumentParser, "parse_args", stop):
            main(words)
    except _ParsingError as found:
        parser = found.parser
    else:
        raise RuntimeError(f"kc-vla {' '.join(words)} reads its words in a way that is not known here")
    for word in words:  # that of a module may begin below the first of them
        parser = _actions_of(parser).get(word, parser)
    return parser


def _actions_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of what may follow the words of a parser."""
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update(action.choices)
    return found
