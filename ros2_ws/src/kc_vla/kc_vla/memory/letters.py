"""What can be no text for anybody else."""

from __future__ import annotations


def has_half_letters(text: str) -> bool:
    """Return whether a text has surrogates, which no text in UTF-8 can."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
