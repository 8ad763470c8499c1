"""A policy and a source of keyframes that take until a test lets them go; `gated_rows` has them in the tables."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.episode import Episode
from kc_vla.keyframes.scoring import ScorerInput, Scoring
from kc_vla.policy.interface import PolicyError, PolicyInput


class Gate:
    """A folder by which a test and a node in another process tell each other things."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def note(self, word: str) -> None:
        """Say that something has happened."""
        with (self.folder / "notes").open("a") as file:
            file.write(word + "\n")

    def notes(self) -> list[str]:
        """What has happened so far."""
        file = self.folder / "notes"
        return file.read_text().splitlines() if file.exists() else []

    def set(self, word: str) -> None:
        """Have it so from now on: "open", "refuse", "fault"."""
        (self.folder / word).touch()

    def clear(self, word: str) -> None:
        """Have it so no more."""
        (self.folder / word).unlink()

    def is_set(self, word: str) -> bool:
        """Whether it is so."""
        return (self.folder / word).exists()

    def wait(self) -> None:
        """Come back when the gate is open."""
        while not self.is_set("open"):
            time.sleep(0.005)


class GatedBackend:
    """Stands still."""

    name = "gated"
    needs_keyframes = False
    needs_images = True
    needs_plan = False
    action_type = ActionType.TOOL_DELTA
    names: tuple[str, ...] = TOOL_DELTA_NAMES

    def __init__(self, gate: Gate, horizon: int) -> None:
        self._gate, self._horizon, self._episode = gate, horizon, ""

    def reset(self, episode: Episode) -> str:
        """Note it."""
        self._episode = episode.id
        self._gate.note(f"reset {episode.id}")
        return f"remark on {episode.id}"

    def infer(self, given: PolicyInput) -> NDArray[np.float32]:
        """Come back when the gate is open."""
        self._gate.note(f"asked {self._episode} {given.frame}")
        self._gate.wait()
        if self._gate.is_set("refuse"):
            raise PolicyError("the picture is upside down")
        if self._gate.is_set("fault"):
            raise ZeroDivisionError("in the backend")
        return np.zeros((self._horizon, len(TOOL_DELTA_NAMES)), np.float32)


class GatedSource:
    """Scores each frame by its brightness."""

    needs: tuple[str, ...] = ()
    runs_on = "a gate"

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def begin(self, episode: Episode) -> Scoring:
        """Note it."""
        self._gate.note(f"begin {episode.id}")
        if self._gate.is_set("refuse"):
            raise ValueError("nobody knows this task")
        return Scoring(("start", "first", "second", "third"), self, 0.5, remark="what is seen is a gate")

    def score(self, sight: ScorerInput, phase: int) -> float:
        """Come back when the gate is open."""
        self._gate.note("look")
        self._gate.wait()
        if self._gate.is_set("fault"):
            raise ZeroDivisionError("in the source")
        return float(sight.pixels.mean()) / 255
