"""An episode while it is played to live nodes: who must listen, what is asked when, and what the report says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.topics import image_topic
from kc_vla.episodes.annotation_log import AnnotationError, confirmed_track
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import (
    CommandMode,
    NodeDiagnostics,
    RecordedChunk,
    RecordedCommand,
    RecordedEvent,
    Score,
)
from kc_vla.execution.scheduler import ChunkRequest
from kc_vla.keyframes.selectors import needs_state
from kc_vla.replay.comparison import NODES, compare, last_frame
from kc_vla.replay.differences import Annotated, LiveRun
from kc_vla.replay.report import ReplaySettings, write_replay_report

NO_POLICY = "none"
_READERS = "readers"
"""Begin of the player's diagnostics on the readers of a topic."""


def annotated(episode: RecordedEpisode) -> Annotated | None:
    """Return the newest confirmed annotation of an episode's bag; None where there is none.

    Raises:
        AnnotationError: it is not as it should be.
        OSError: it cannot be read.
    """
    track = confirmed_track(episode.bag)
    if track is None:
        return None
    numbers = {frame.stamp_ns: frame.index for frame in episode.frames}
    marked = {mark.phase: numbers[mark.stamp_ns] for mark in track.marks if mark.stamp_ns in numbers}
    return Annotated(track.author, marked)


class LiveReplay:
    """One replay.

    Attributes:
        recorded: the episode.
        asks: whether the policy is asked again what it was asked in the recording.
        last: number of its last frame, -1 without frames.
        waiting: requests that are not answered yet, by their place among the chunks of the bag.
    """

    def __init__(self, recorded: RecordedEpisode, settings: ReplaySettings) -> None:
        self.recorded = recorded
        self.asks = settings.policy != NO_POLICY
        self.last = last_frame(recorded)
        self.waiting: set[int] = set()
        self._settings = settings
        requests = recorded_requests(recorded) if self.asks else []
        self._later = sorted(enumerate(requests), key=lambda pair: pair[1].step)
        self._chunks: dict[int, RecordedChunk] = {}
        self._refusals: dict[int, str] = {}

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the live nodes that are compared."""
        return NODES if self.asks else NODES[:-1]

    def frame_at(self, time_ns: int) -> int:
        """Return the frame that a time of the bag falls in; negative before the first one."""
        status = self.recorded.status
        return (time_ns - status.start_ns) // max(1, round(status.frame_period_s * 1e9))

    def unheard(self, player: Mapping[str, str]) -> str:
        """Return which topics some node does not listen to yet, by the diagnostics of the player; empty if none.

        A reader counts once the player has found it, for it misses what is played before.
        """
        found = {key.removeprefix(_READERS): int(count) for key, count in player.items() if key.startswith(_READERS)}
        short = [topic for topic, count in found.items() if count < self._readers_of(topic)]
        return ", ".join(short) or ("" if found else "bag_player")

    def _readers_of(self, topic: str) -> int:
        """Return how many live nodes listen to a topic that is played."""
        observers = 2 if self.asks else 1  # the buffer and the policy
        views = self.recorded.views  # the selector looks at the first
        state = 1 if needs_state(self._settings.source) else 0
        return {
            **{f"/{image_topic(view)}": observers + (view == views[0]) for view in views},
            "/joint_states": observers + state,
            "/tool_pose": observers + state,
            "/keyframes/score": 1,
        }.get(topic, 0)

    def due(self, frame: int) -> list[tuple[int, ChunkRequest]]:
        """Return the requests to make now that it has come to `frame`, each once, with its place.

        They wait from now on.
        """
        due = []
        while self._later and self._later[0][1].step <= frame:
            due.append(self._later.pop(0))
        self.waiting |= {place for place, _ in due}
        return due

    def answer(self, place: int, chunk: RecordedChunk | str) -> None:
        """Note that a request was answered with a chunk, or not, with the reason why."""
        self.waiting.discard(place)
        if isinstance(chunk, str):
            self._refusals[place] = chunk
        else:
            self._chunks[place] = chunk

    def report(
        self,
        folder: Path,
        scores: Mapping[int, Score],
        events: Sequence[RecordedEvent],
        diagnostics: Mapping[str, NodeDiagnostics],
    ) -> list[str]:
        """Compare what the live nodes published with the recording; write the report; return lines for a person.

        Raises:
            ReportError: it cannot be written.
        """
        live = LiveRun(scores, tuple(events), self._chunks, self._refusals if self.asks else None, diagnostics)
        notes, marked = list(self._settings.notes), None
        try:
            marked = annotated(self.recorded)
        except (AnnotationError, OSError) as error:
            notes.append(f"the annotation is left out: {error}")
        how = ReplaySettings(self._settings.rate, self._settings.source, self._settings.policy, tuple(notes))
        return write_replay_report(folder, self.recorded, live, compare(self.recorded, live, marked), how)


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
