"""What a run of one episode has left: its output, its exit code, and what its bag holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from stack import Stack

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode, keyframes_after


@dataclass(frozen=True)
class FinishedRun:
    """A run of one episode that has ended."""

    folder: Path
    text: str
    exit_code: int

    @classmethod
    def of(cls, stack: Stack) -> FinishedRun:
        """Wait for the end of a stack that runs one episode."""
        episode = stack.first_episode()
        code = stack.finish()
        return cls(episode.folder, stack.text, code)

    @property
    def bag(self) -> Path:
        """The bag folder."""
        return self.folder / "bag"

    @cached_property
    def episode(self) -> RecordedEpisode:
        """What the bag holds."""
        return RecordedEpisode(self.bag)

    @property
    def summary(self) -> dict[str, Any]:
        """The summary as a user reads it."""
        return json.loads((self.folder / "summary.json").read_text())  # type: ignore[no-any-return]

    @property
    def actions(self) -> dict[int, npt.NDArray[np.float32]]:
        """What the arm was told in each control step that was taken and moved it."""
        steps = self.episode.result.steps if self.episode.result is not None else 0
        return {c.step: c.values for c in self.episode.commands if c.mode != CommandMode.HOLD and c.step < steps}


def committed_frames(episode: RecordedEpisode) -> list[int]:
    """Return the frames of the committed keyframes, in order."""
    return [keyframe.frame for keyframe in episode.keyframes if keyframe.committed]


def oracle_frames(episode: RecordedEpisode) -> list[int]:
    """Return the frames of the simulator's own keyframes."""
    assert episode.result is not None, f"{episode.bag} has no result"
    return list(episode.result.oracle_frames)


def assert_succeeded(episode: RecordedEpisode) -> None:
    """The task was done, and the committed keyframes are the oracle's."""
    assert episode.result is not None, f"{episode.bag} has no result"
    assert episode.result.success, episode.result.reason
    assert committed_frames(episode) == oracle_frames(episode)


def assert_policy_was_given_every_keyframe(episode: RecordedEpisode) -> None:
    """No chunk was made without a keyframe that was committed by then."""
    for chunk in episode.chunks:
        committed = {k.frame for k in keyframes_after(episode.events, chunk.observation_frame) if k.committed}
        missing = committed - {chunk.observation_frame} - set(chunk.keyframes_used)
        assert not missing, f"chunk {chunk.sequence} of frame {chunk.observation_frame} lacks keyframes {missing}"
