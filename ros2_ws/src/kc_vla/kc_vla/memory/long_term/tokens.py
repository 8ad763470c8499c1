"""How many tokens a text is for a language model, and third-party text in a form that is safe in its prompt."""

from __future__ import annotations

import re
from collections.abc import Callable

CountTokens = Callable[[str], int]
_TOKEN = re.compile(r"[A-Za-z]{1,6}|\d{1,3}|[^\sA-Za-z\d]")
_PLAIN = re.compile(r"\w[\w-]*(?: [\w-]+){0,2}", re.ASCII)
_MOST_PLAIN, _MOST_SHOWN = 40, 80


def estimated_tokens(text: str) -> int:
    """Return an estimate of the tokens of a text that is rather too high for English, for any model.

    Each six letters of a word, each three digits and each other sign are a token, letters beyond ASCII two.
    """
    return sum(1 if piece.isascii() else 2 for piece in _TOKEN.findall(text))


def shown(text: str) -> str:
    """Return a name or value that a third party chose, in a line.

    As it is if it is a plain word or three, else in quotes, with escapes for what cannot be printed, and cut where it
    is long: it can neither end the line nor the quotes.
    """
    if len(text) <= _MOST_PLAIN and _PLAIN.fullmatch(text):
        return text
    cut = text[:_MOST_SHOWN]
    safe = "".join(
        f"\\{letter}" if letter in '"\\' else letter if letter.isprintable() else f"\\u{ord(letter):04x}"
        for letter in cut
    )
    return f'"{safe}{"..." if len(cut) < len(text) else ""}"'
