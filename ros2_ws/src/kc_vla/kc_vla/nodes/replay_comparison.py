"""Node `replay_comparison`: lets a bag be played to the live nodes as their cameras, and compares what they make of it.

It takes the place of whoever announces episodes and asks for chunks, at the moments at which they were asked for in the
recording, and tells the difference at the end.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from std_srvs.srv import Trigger

from kc_vla.bags.errors import BagError, ReportError
from kc_vla.core import topics
from kc_vla.episodes.episode import RecordedEpisode, chunk_from
from kc_vla.execution.scheduler import Request
from kc_vla.replay.live_replay import LiveReplay
from kc_vla.replay.report import ReplaySettings
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.chunk_client import request_message
from kc_vla.ros.convert import time_message
from kc_vla.ros.live_nodes import LiveNodes
from kc_vla.ros.narrator import Narrator
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node
from kc_vla_msgs.msg import EpisodeStatus
from kc_vla_msgs.srv import PredictChunk

_POLL_S = 0.01
_SETTLE_S = 0.5
"""So long after everybody has heard of the episode the bag begins."""
_QUIET_S = 2.0
"""Nodes of which nothing was heard for so long after the last frame have nothing more to say."""
_FAREWELL_S = 3.0
"""How long the nodes' last words on the episode may take."""
_TELL_EVERY_S = 10.0


@dataclass(frozen=True)
class ReplayParameters(NodeParameters):
    """Parameters of the node."""

    bag: str = parameter("", "the bag that is played")
    folder: str = parameter("", "where the comparison is written")
    rate: float = parameter(1.0, "at which it is played; told in the report", low=0.01, high=100.0)
    source: str = parameter("learned", "of the live keyframes; told in the report")
    policy: str = parameter("replay", "backend of the live policy server; none: it is not asked")
    notes: str = parameter("", "what the report should say besides, a line each")
    request_timeout: float = parameter(4.0, "s that the policy may take to answer", low=0.1, high=60.0)
    startup_timeout: float = parameter(60.0, "s to wait for the other nodes", low=1.0, high=3600.0)


class ReplayError(RuntimeError):
    """The bag could not be played to the live graph; the text says why."""


class ReplayComparisonNode(StackNode):
    """See the module."""

    Parameters = ReplayParameters
    parameters: ReplayParameters

    def __init__(self) -> None:
        super().__init__("replay_comparison")

    def start(self) -> None:
        """Read the bag and begin."""
        values = self.parameters
        try:
            recorded = RecordedEpisode(Path(values.bag).expanduser())
        except BagError as error:
            raise StartError(str(error)) from error
        status = recorded.status
        notes = tuple(line for line in values.notes.splitlines() if line)
        self._replay = LiveReplay(recorded, ReplaySettings(values.rate, values.source, values.policy, notes))
        self._status = EpisodeStatus(
            episode_id=status.episode_id,
            task=status.task,
            variant=status.variant,
            instruction=status.instruction,
            seed=status.seed,
            start_time=time_message(status.start_ns),
            frame_period=status.frame_period_s,
        )
        self._heard = LiveNodes(self, status.episode_id)
        self._playing = False
        self._narrator = Narrator(self)
        self._statuses = self.advertise(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._policy = self.call(PredictChunk, topics.PREDICT_CHUNK)
        self._resume = self.call(Trigger, topics.PLAYER_RESUME)
        assert self.executor is not None
        self.executor.create_task(self._run)

    def stop(self) -> None:
        """Say so if the replay is cut off."""
        if self._playing:
            frame = max(self._frame_now(), 0)
            self._narrator.say(f"stopped at frame {frame} of {self._replay.last}: nothing is compared")

    def details(self) -> dict[str, object]:
        """Return how far it is."""
        heard, replay = getattr(self, "_heard", None), getattr(self, "_replay", None)
        return {"frames": len(heard.scores) if heard else 0, "waiting": len(replay.waiting) if replay else 0}

    # -- the replay ---------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            await self._until_ready()
            self._announce(EpisodeStatus.RUNNING)
            await self._until_known()
            await self._play()
            await self._until_quiet()
            await self._end_episode()
            for line in self._compare():
                self._narrator.say(line)
        except (ReplayError, ReportError) as error:
            self.fail(str(error))
        self.done = True

    async def _until_ready(self) -> None:
        """Wait until the player and everybody who looks at its pictures can be seen."""
        deadline = time.monotonic() + self.parameters.startup_timeout
        while missing := self._missing():
            if time.monotonic() > deadline:
                raise ReplayError(f"{', '.join(missing)} did not start: see the lines of that node above")
            await self.sleep(0.1)

    def _missing(self) -> list[str]:
        """Who is not there yet."""
        missing = [] if self._resume.service_is_ready() and self.get_clock().now().nanoseconds else ["bag_player"]
        if self.count_publishers(topics.KEYFRAME_SCORE) == 0:
            missing.append("keyframe_selector")
        if self.count_services(topics.GET_KEYFRAMES) == 0:
            missing.append("keyframe_buffer")
        if self._replay.asks and not self._policy.service_is_ready():
            missing.append("policy_server")
        player = self._heard.last_words.get("bag_player")
        if not missing and (unheard := self._replay.unheard(player.values if player is not None else {})):
            missing.append(f"who listens to {unheard}")
        return missing

    def _announce(self, state: int) -> None:
        self._status.state = state
        self._status.header.stamp = self.get_clock().now().to_msg()
        self._statuses.publish(self._status)

    async def _until_known(self) -> None:
        """Wait until selector and buffer say that they work on the episode."""
        deadline = time.monotonic() + self.parameters.startup_timeout
        while not (self._heard.knows_episode and self._selects()):
            if time.monotonic() > deadline:
                raise ReplayError("the selector or the buffer does not take up the episode: see their lines above")
            await self.sleep(0.05)
        await self.sleep(_SETTLE_S)

    def _selects(self) -> bool:
        selector = self._heard.last_words.get("keyframe_selector")
        return selector is not None and selector.values.get("phase", "none") != "none"

    async def _play(self) -> None:
        """Let the player play, ask for chunks when they are due, return when the player has gone."""
        status = self._status
        self._playing = True
        self._narrator.begin(status.episode_id, status.instruction)
        while (answer := await self.ask(self._resume, Trigger.Request(), 2.0)) is None:
            if self.count_publishers(topics.THIRD_PERSON_IMAGE) == 0:
                raise ReplayError("the bag player ended before it began: see its lines above")
        assert answer.success
        last, told_at = self._replay.last, time.monotonic()
        while self.count_publishers(topics.THIRD_PERSON_IMAGE):
            frame = self._frame_now()
            self._ask_again(frame)
            if time.monotonic() - told_at > _TELL_EVERY_S:
                told_at = time.monotonic()
                self._narrator.say(f"  played {min(max(frame, 0), last)} of {last} frames")
            await self.sleep(_POLL_S)
        self._ask_again(last)  # the clock's last word may have come before the last frames

    def _frame_now(self) -> int:
        return self._replay.frame_at(self.get_clock().now().nanoseconds)

    def _ask_again(self, frame: int) -> None:
        assert self.executor is not None
        for place, request in self._replay.due(frame):
            self.executor.create_task(self._predict, place, request)

    async def _predict(self, place: int, request: Request) -> None:
        """Ask for the chunk at this place of the bag."""
        patience = self.parameters.request_timeout
        began = time.monotonic()
        answer = await self.ask(self._policy, request_message(self._status.episode_id, request), patience)
        self.statistics.add("chunk_round_trip", time.monotonic() - began)
        self._heard.at = time.monotonic()
        if answer is None:
            self._replay.answer(place, f"the policy server does not answer for {patience:g} s")
        else:
            self._replay.answer(place, chunk_from(answer.chunk) if answer.success else answer.message)

    async def _until_quiet(self) -> None:
        """Wait for what is still on its way: answers, and the frames that wait for a node."""
        self._heard.at = time.monotonic()
        while self._replay.waiting or (self._is_behind() and time.monotonic() - self._heard.at < _QUIET_S):
            await self.sleep(_POLL_S)

    def _is_behind(self) -> bool:
        return self._heard.settled < self._replay.last

    async def _end_episode(self) -> None:
        """End the episode; the nodes tell then how they were, for the last time."""
        self._heard.last_words.clear()
        self._announce(EpisodeStatus.FINISHED)
        deadline = time.monotonic() + _FAREWELL_S
        while not set(self._replay.nodes) <= self._heard.last_words.keys() and time.monotonic() < deadline:
            await self.sleep(0.05)

    def _compare(self) -> list[str]:
        heard, self._playing = self._heard, False
        folder = Path(self.parameters.folder).expanduser()
        return self._replay.report(folder, heard.scores, heard.events, heard.last_words)


def main() -> None:
    """Run the node."""
    run_node(ReplayComparisonNode)
