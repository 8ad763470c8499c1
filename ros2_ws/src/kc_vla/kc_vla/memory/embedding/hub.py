"""Models of the hub by revision and hash: what comes is what was named, or nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from kc_vla.memory.embedding.interface import EmbeddingError

_NAMED = re.compile(
    r"(?P<repository>[\w.-]+/[\w.-]+)@(?P<revision>[0-9a-f]{40})#(?P<hashes>[0-9a-f]{64}(\+[0-9a-f]{64})*)"
)


def fetch_files(named: str, hashed: Sequence[str], others: Sequence[str], endpoint: str | None = None) -> Path:
    """Return the folder of a model of the hub, which is fetched if it is not there yet.

    Args:
        named: OWNER/NAME@REVISION#HASH: 40 digits of the commit, 64 of the SHA-256 of each of `hashed`, with "+"
            between them.
        hashed: files of the repository whose hashes are named.
        others: further files of it.
        endpoint: address of the hub, if not the usual.

    Raises:
        EmbeddingError: it is named otherwise, cannot be fetched, or has another file than a hash says.
    """
    match = _NAMED.fullmatch(named)
    hashes = match["hashes"].split("+") if match else []
    if match is None or len(hashes) != len(hashed):
        wanted = "+".join(["SHA256"] * len(hashed))
        raise EmbeddingError(
            f"'{named[:200]}' is no model of the hub: name it OWNER/NAME@REVISION#{wanted} of {' and '.join(hashed)}"
        )
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError

    repository, revision = match["repository"], match["revision"]
    try:
        found = [Path(hf_hub_download(repository, name, revision=revision, endpoint=endpoint)) for name in hashed]
        for name in others:
            hf_hub_download(repository, name, revision=revision, endpoint=endpoint)
    except LocalEntryNotFoundError as error:
        raise EmbeddingError(f"{repository}: the hub cannot be reached, and it was not fetched before") from error
    except (EntryNotFoundError, HfHubHTTPError, OSError, ValueError) as error:
        raise EmbeddingError(f"{repository} cannot be fetched: {one_line(error)}") from error
    for path, name, wanted in zip(found, hashed, hashes, strict=True):
        check_hash(path, wanted, f"{repository}: {name}")
    return found[0].parents[Path(hashed[0]).as_posix().count("/")]


def check_hash(path: Path, wanted: str, what: str) -> None:
    """Raise `EmbeddingError` where the SHA-256 of a file is not `wanted`; OSError where it cannot be read."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != wanted:
        raise EmbeddingError(f"{what} has the hash {found}, another than was named: it is not used")


def one_line(error: Exception) -> str:
    """Return what a library says, in one line of at most 300 letters."""
    return " ".join(str(error).split())[:300]
