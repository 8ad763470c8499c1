"""What the policy was asked for while an episode was recorded, so that it can be asked again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode, RecordedChunk, RecordedCommand
from kc_vla.execution.scheduler import ChunkRequest


def recorded_requests(episode: RecordedEpisode) -> list[ChunkRequest]:
    """Return the request that led to each chunk of an episode, in the order of the chunks.

    A request is not recorded, but what it said follows from the rest: it asked from the observation of the chunk, and
    the actions that it called frozen are those that the arm executed from that frame on until the chunk came.
    """
    commands = {command.step: command for command in episode.commands}
    return [ChunkRequest(c.sequence, c.observation_frame, _frozen(c, commands)) for c in episode.chunks]


def _frozen(chunk: RecordedChunk, commands: dict[int, RecordedCommand]) -> NDArray[np.float32]:
    """Return the actions executed from the chunk's observation on until its own, (d, D).

    They are at most as many as it plans.
    """
    rows: list[NDArray[np.float32]] = []
    for step in range(chunk.observation_frame, chunk.observation_frame + len(chunk.actions)):
        command = commands.get(step)
        if command is None or command.mode is CommandMode.HOLD or command.chunk_sequence >= chunk.sequence:
            break
        if command.values.shape != (chunk.actions.shape[1],):
            break
        rows.append(command.values)
    return np.stack(rows) if rows else np.empty((0, 0), np.float32)
