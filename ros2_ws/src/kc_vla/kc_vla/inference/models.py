"""The registry of models: it names each model and its files, and checks that the files are the right ones.

`registry.yaml` in a folder of models names each with its files (bytes, SHA-256), its source, its settings and the
figures that were measured with it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kc_vla.core.errors import StackError
from kc_vla.core.files import digest, write_whole, yaml_text
from kc_vla.core.share import NotInstalledError, share
from kc_vla.core.untrusted import inner_path, parsed_yaml, read_text

REGISTRY = "registry.yaml"


class ModelError(RuntimeError):
    """A model that is not there, or not the one that the registry means."""


@dataclass(frozen=True)
class RegisteredModel:
    """One model of a registry.

    Attributes:
        name: its name.
        kind: what it is for.
        files: by their role, all there and unchanged.
        settings: what is needed to run it.
        source: how it was made.
        metrics: what was measured with it.
    """

    name: str
    kind: str
    files: Mapping[str, Path]
    settings: Mapping[str, Any]
    source: Mapping[str, Any]
    metrics: Mapping[str, Any]


def shipped_models() -> Path:
    """Return the folder of the models that come with the stack.

    Raises:
        ModelError: it is not installed.
    """
    try:
        return share("models")
    except NotInstalledError as error:
        raise ModelError(str(error)) from error


def models_in(named: str) -> Path:
    """Return the folder of models that a user named; of those that come with the stack, if the name is empty.

    Raises:
        ModelError: it is not installed.
    """
    return Path(named).expanduser() if named else shipped_models()


def find_model(folder: Path, name: str, kind: str) -> RegisteredModel:
    """Return the model called `name` in the registry of `folder`.

    Raises:
        ModelError: no registry, no such model, one of another kind, or a file that is absent or not the right one.
    """
    registry = read_registry(folder)
    known = sorted(each for each, row in registry.items() if isinstance(row, dict) and row.get("kind") == kind)
    choice = f"choose one of {', '.join(known)}" if known else f"it has no {kind} at all; kc-vla export makes one"
    if name not in registry:
        raise ModelError(f"no model '{name}' in {folder / REGISTRY}: {choice}")
    row = registry[name]
    try:
        if row["kind"] != kind:
            raise ModelError(f"model '{name}' is a {row['kind']}, not a {kind}: {choice}")
        files = {role: _checked(folder, file) for role, file in row["files"].items()}
        return RegisteredModel(name, kind, files, row["settings"], row["source"], row["metrics"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"the entry of '{name}' in {folder / REGISTRY} is damaged: {error!r}") from error


@contextmanager
def settings_of(entry: RegisteredModel) -> Iterator[Mapping[str, Any]]:
    """Give the settings of an entry to be read.

    Raises:
        ModelError: what reads them fails, as one is missing or damaged.
    """
    try:
        yield entry.settings
    except (KeyError, TypeError, ValueError, AttributeError, StackError) as error:
        raise ModelError(f"the settings of model '{entry.name}' are damaged: {error!r}") from error


def read_registry(folder: Path) -> dict[str, Any]:
    """Return all entries by name.

    Raises:
        ModelError: There is no registry, or it is no YAML mapping.
    """
    path = folder / REGISTRY
    try:
        entries = parsed_yaml(read_text(path))
    except OSError as error:
        raise ModelError(
            f"no models in {folder}: {path} cannot be read ({error.strerror}); kc-vla export makes one"
        ) from error
    except ValueError as error:
        raise ModelError(f"{path} {error}") from error
    if not isinstance(entries, dict):
        raise ModelError(f"{path} names no models: it must be a mapping from their names")
    return entries


def fingerprint(folder: Path, name: str) -> str:
    """Return 16 hex digits that change with any file of a model: another one can have its name by tomorrow.

    Raises:
        ModelError: there is no such model.
    """
    try:
        files = read_registry(folder)[name]["files"]
        said = sorted((role, str(row["sha256"])) for role, row in files.items())
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"no whole entry of '{name}' in {folder / REGISTRY}: {error!r}") from error
    return digest(repr(said))


def require_free(folder: Path, name: str, replace: bool) -> None:
    """Check that a new model called `name` can be put into `folder`: the place is free, or `replace` is set.

    Raises:
        ModelError: no folder can have that name, or there is something.
    """
    if not re.fullmatch(r"[\w-]+", name):
        raise ModelError(f"a model cannot be called '{name}': take letters, digits, _ and -")
    if not replace and ((folder / name).exists() or ((folder / REGISTRY).exists() and name in read_registry(folder))):
        raise ModelError(
            f"{folder} has a model '{name}' already: take another --name or folder, or --replace to put it in its place"
        )


def register(folder: Path, name: str, entry: Mapping[str, Any], files: Mapping[str, str]) -> None:
    """Write an entry into the registry of `folder`, in place of an older one of that name.

    Args:
        folder: of models.
        name: of the model.
        entry: its kind, settings, source and metrics.
        files: path in `folder` of each file by its role.
    """
    registry = read_registry(folder) if (folder / REGISTRY).exists() else {}
    rows = {
        role: {"path": path, "bytes": (folder / path).stat().st_size, "sha256": _digest(folder / path)}
        for role, path in files.items()
    }
    registry[name] = {**entry, "files": rows}
    write_whole(folder / REGISTRY, yaml_text(registry, width=120))


def _checked(folder: Path, file: Mapping[str, Any]) -> Path:
    try:
        path = inner_path(folder, str(file["path"]))
    except ValueError as error:
        raise ModelError(f"{folder / REGISTRY}: {error}") from error
    # The registry may be a link itself, as where a workspace is installed by links: its files are where it is.
    inside = (folder.resolve(), (folder / REGISTRY).resolve().parent)
    if path.is_symlink() or path.exists():
        place = path.resolve()
        if not any(place.is_relative_to(each) for each in inside):
            raise ModelError(f"{path} is a link that leads out of {folder}: put the file itself in its place")
    if not path.is_file():
        raise ModelError(f"{path} is not there: get it again, or export the model anew")
    if path.stat().st_size != file["bytes"] or _digest(path) != file["sha256"]:
        raise ModelError(f"{path} is not the file that the registry names: get it again, or export the model anew")
    return path


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
