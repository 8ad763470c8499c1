"""Files of the system that this stack writes: with a mark by which it knows them again, and what others changed."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from kc_vla.core.files import digest
from kc_vla.core.untrusted import read_text
from kc_vla.machine.plan import SetupError, SetupPlan, writing

_MARK = "# Written by 'kc-vla setup'. Whoever changes it keeps it: sha256 of the rest "
_MOST_BYTES = 1 << 20


def marked(body: str) -> str:
    """Return the whole text of a file of ours, of which `body` is what counts."""
    return f"{_MARK}{_digest(body)}\n{body}"


def is_ours(text: str) -> bool:
    """Return whether a text was written here, and changed by nobody since."""
    head, _, body = text.partition("\n")
    return bool(re.fullmatch(re.escape(_MARK) + "[0-9a-f]{16}", head)) and head.removeprefix(_MARK) == _digest(body)


def writing_ours(path: Path, body: str, replace: bool = False) -> SetupPlan:
    """Return what is to be done so that `path` holds `body`: nothing where it does.

    Args:
        path: of the file.
        body: lines of it, without the mark.
        replace: take the place of a file that others wrote or changed; what is lost with it is logged.

    Raises:
        SetupError: others wrote or changed it, or it cannot be read.
    """
    try:
        there = read_text(path, _MOST_BYTES)
    except FileNotFoundError:
        return SetupPlan(writing(path, marked(body)))
    except (OSError, ValueError) as error:
        said = error.strerror if isinstance(error, OSError) else f"it {error}"
        raise SetupError(f"{path} cannot be read: {said}: look at it first") from error
    wanted = marked(body)
    if there == wanted:
        return SetupPlan(told=(f"{path} is as it should be",))
    changes = [line.rstrip("\n") for line in difflib.unified_diff(_lines(there), _lines(wanted), "as it is", "new")]
    if not is_ours(there) and not replace:
        listed = "\n".join(["", *changes])
        raise SetupError(f"{path} is another's, or was changed by hand: --replace takes its place, it would be{listed}")
    whose = "" if is_ours(there) else " (another's, or changed by hand)"
    return SetupPlan(writing(path, wanted), (f"what changes in {path}{whose}:", *changes))


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _digest(body: str) -> str:
    return digest(body)
