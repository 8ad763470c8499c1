"""Caches answers of language models in a folder, so that a repeated request gets the same answer at no cost.

Several processes may use one folder: an entry is written as a whole, under a lock. Damaged entries count as missing.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kc_vla.core.files import write_whole
from kc_vla.core.untrusted import parsed_json, read_text

MOST_ENTRIES = 2000
_MOST_BYTES = 4 << 20
"""Bytes of the largest entry; answers are below 1 MB, and a letter takes up to six bytes in JSON."""
_FORMAT = 1


class AnswerCache:
    """A folder of answers of language models; of more than `most` entries those that were written first go."""

    def __init__(self, folder: Path, most: int = MOST_ENTRIES) -> None:
        """Make the folder; OSError where it cannot be made, ValueError where nothing is to be kept."""
        if most < 1:
            raise ValueError("a cache of answers keeps 1 or more: leave it out to keep none")
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._most = folder, most

    def get(self, asked: str) -> str | None:
        """Return the answer to exactly this request; None where there is none, or it is damaged."""
        digest = _digest(asked)
        try:
            content = parsed_json(read_text(self._path(digest), _MOST_BYTES))
        except (OSError, ValueError):
            return None
        if not isinstance(content, dict) or content.get("format") != _FORMAT or content.get("asked") != digest:
            return None
        answer = content.get("answer")
        return answer if isinstance(answer, str) and content.get("digest") == _digest(answer) else None

    def put(self, asked: str, answer: str) -> None:
        """Keep an answer; OSError where it cannot be written."""
        digest = _digest(asked)
        content = {"format": _FORMAT, "asked": digest, "digest": _digest(answer), "answer": answer}
        with self._locked():
            write_whole(self._path(digest), json.dumps(content))
            entries = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
            for path in entries[: max(0, len(entries) - self._most)]:
                path.unlink()

    def _path(self, digest: str) -> Path:
        return self._folder / f"{digest}.json"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
