"""The folder of a training run: settings, log, checkpoints. An interrupted run goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import torch

from kc_vla.core.begun import differences
from kc_vla.core.files import locks, replacing, write_whole
from kc_vla.inference.models import shipped_models
from kc_vla.learning.common.errors import TrainingRunError

BEGUN_FROM = "begun_from"
"""Folder, in that of a run, of the model as a run with which it began."""
_NOTED_LATELY = ("episodes", "rate")
"""Facts about the data that older runs did not note; such runs continue without them."""
_MADE_BY, _ARITHMETIC = "made_by", "arithmetic"
Run = TypeVar("Run", bound="TrainingRun")


class TrainingRun:
    """A folder for one training run."""

    made_by: ClassVar[str] = "kc-vla train"
    """The command that makes such a run."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """Settings, with their values, for a run that is older than the setting."""
    trained: ClassVar[tuple[str, str]] = "", ""
    """The checkpoint with what is trained so far, and how to get it where it is missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    @contextmanager
    def begun(
        cls, folder: Path, settings: Mapping[str, Any], data: Mapping[str, Any], arithmetic: Mapping[str, str]
    ) -> Iterator[Self]:
        """Make the folder, or take up a run with the same settings and data, for this process alone.

        One that has come to no checkpoint is begun anew.
        `arithmetic` may change, see there.

        Raises:
            TrainingRunError: the folder holds a run with others, or another process trains in it.
        """
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            locked = os.open(folder, os.O_RDONLY)
            opened.callback(os.close, locked)
            if not locks(locked):
                raise TrainingRunError(
                    f"another process trains in {folder}: wait for it or stop it, or choose another --output"
                )
            yield cls._taken_up(folder, settings, data, arithmetic)

    @classmethod
    def require_own(cls, folder: Path) -> None:
        """Check that a folder holds nothing but a run.

        Raises:
            TrainingRunError: it holds something else.
        """
        if (folder / "run.json").exists() or not folder.is_dir():
            return
        if any(each.name != BEGUN_FROM for each in folder.iterdir()):
            raise TrainingRunError(f"{folder} holds something that {cls.made_by} has not made: choose another --output")

    @classmethod
    def _taken_up(
        cls, folder: Path, settings: Mapping[str, Any], data: Mapping[str, Any], arithmetic: Mapping[str, str]
    ) -> Self:
        run = cls(folder)
        wanted = {"config": dict(settings), "data": dict(data)}
        path = folder / "run.json"
        cls.require_own(folder)
        if run.has_learnt:  # before there is nothing to go on with
            found = {name: facts for name, facts in run._facts().items() if name in wanted}
            found["config"] = {**cls.defaults, **found["config"]}
            unknown = {name: data[name] for name in _NOTED_LATELY if name in data}
            found["data"] = {**unknown, **found["data"]}
            if told := list(differences(found, wanted)):
                others = ", ".join(f"{name}: {one!s:.60} there, {other!s:.60} here" for name, one, other in told)
                raise TrainingRunError(
                    f"{folder} holds a run with other settings or data ({others}): choose another --output"
                )
        write_whole(path, json.dumps({_MADE_BY: cls.made_by, **wanted, _ARITHMETIC: dict(arithmetic)}, indent=2) + "\n")
        return run

    @property
    def has_learnt(self) -> bool:
        """Return whether a checkpoint of it exists."""
        return any(self.folder.glob("*.pt"))

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return settings of the run.

        Raises:
            TrainingRunError: the folder holds no run.
        """
        return dict(self._facts()["config"])

    @property
    def data(self) -> Mapping[str, Any]:
        """Return what was given to `begin` as data."""
        return dict(self._facts()["data"])

    @property
    def arithmetic(self) -> dict[str, str] | None:
        """Return the `device` and the `precision` that the run computed with last; None where that is not known."""
        return self._facts().get(_ARITHMETIC) if self.has_learnt else None

    def save(self, name: str, state: Mapping[str, Any]) -> None:
        """Save a checkpoint, and replace an older one of that name."""
        path = self.folder / f"{name}.pt"
        with replacing(path) as part:
            torch.save(dict(state), part)

    def load(self, name: str) -> dict[str, Any] | None:
        """Return the checkpoint called `name`, if there is one."""
        path = self.folder / f"{name}.pt"
        if not path.exists():
            return None
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        return state

    def need(self, name: str, what: str) -> dict[str, Any]:
        """Return the checkpoint called `name`.

        Raises:
            TrainingRunError: there is none; `what` says how to get it.
        """
        state = self.load(name)
        if state is None:
            self._facts()
            raise TrainingRunError(f"{self.folder} has no {name}.pt: {what}")
        return state

    def log(self, stage: str, epoch: int, figures: Mapping[str, float]) -> None:
        """Add a line to the log; what an interrupted epoch logged before counts no more."""
        lines = [line for line in self.read_log() if not (line["stage"] == stage and line["epoch"] >= epoch)]
        lines.append({"stage": stage, "epoch": epoch, **figures})
        write_whole(self.folder / "log.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    def read_log(self) -> list[dict[str, Any]]:
        """Return all lines of the log."""
        path = self.folder / "log.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def _facts(self) -> dict[str, Any]:
        try:
            facts: dict[str, Any] = json.loads((self.folder / "run.json").read_text())
        except OSError as error:
            what = "holds no training run" if self.folder.is_dir() else "is no folder"
            raise TrainingRunError(f"{self.folder} {what}: name one that {self.made_by} has made") from error
        except json.JSONDecodeError as error:
            raise TrainingRunError(f"{self.folder / 'run.json'} is damaged: {error}") from error
        if (made_by := facts.get(_MADE_BY, self.made_by)) != self.made_by:
            raise TrainingRunError(f"{self.folder} is a run of {made_by}, not of {self.made_by}")
        return facts


def run_or_model(
    kind: type[Run], restored: Callable[[Path, str, Path], Run], named: str, models: Path | None, folder: Path
) -> Run:
    """Return what `--init` names: a run by its folder, or else a model by its name, as a run within `folder`.

    Args:
        kind: of run.
        restored: makes a run of a model, given the folder of its registry, its name, and a folder for the run.
        named: see above.
        models: folder of models with a registry; None: those that come with the stack.
        folder: of the run that begins so.

    Raises:
        ModelError: no such model.
        LearningError: no such run, or a model whose weights are not those of the networks here.
    """
    if os.sep in named or Path(named).is_dir():
        run = kind(Path(named))
        run.need(*kind.trained)
        return run
    return restored(models or shipped_models(), named, folder / BEGUN_FROM)
