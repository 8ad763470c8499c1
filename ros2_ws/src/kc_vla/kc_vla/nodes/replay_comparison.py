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
from kc_vla.episodes.annotation_errors import AnnotationError
from kc_vla.episodes.episode import RecordedEpisode, chunk_from
from kc_vla.episodes.episode_data import Chunk
from kc_vla.execution.scheduler import Request
from kc_vla.replay.annotation import annotated
from kc_vla.replay.comparison import NODES, compare, last_frame
from kc_vla.replay.differences import LiveRun
from kc_vla.replay.report import ReplaySettings, write_replay_report
from kc_vla.replay.requests import recorded_requests
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

NO_POLICY = "none"
_POLL_S = 0.01
_SETTLE_S = 0.5
"""So long after everybody has heard of the episode the bag begins."""
_QUIET_S = 2.0
"""Nodes of which nothing was heard for so long after the last frame have nothing more to say."""
_FAREWELL_S = 3.0
"""How long the nodes' last words on the episode may take."""
_TELL_EVERY_S = 10.0
_READERS = "readers"
"""How the player begins what it tells of the readers of a topic."""


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
            self._recorded = RecordedEpisode(Path(values.bag).expanduser())
        except BagError as error:
            raise StartError(str(error)) from error
        status = self._recorded.status
        self._asks = values.policy != NO_POLICY
        self._status = EpisodeStatus(
            episode_id=status.episode_id,
            task=status.task,
            variant=status.variant,
            instruction=status.instruction,
            seed=status.seed,
            start_time=time_message(status.start_ns),
            frame_period=status.frame_period_s,
        )
        self._requests = recorded_requests(self._recorded) if self._asks else []
        self._heard = LiveNodes(self, status.episode_id)
        self._chunks: dict[int, Chunk] = {}
        self._refusals: dict[int, str] = {}
        self._waiting: set[int] = set()  # requests that are not answered
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
            last = last_frame(self._recorded)
            self._narrator.say(f"stopped at frame {max(self._frame_now(), 0)} of {last}: nothing is compared")

    def details(self) -> dict[str, object]:
        """Return how far it is."""
        heard = getattr(self, "_heard", None)
        return {"frames": len(heard.scores) if heard else 0, "waiting": len(getattr(self, "_waiting", ()))}

    # -- the replay ---------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        try:
            await self._until_ready()
            self._announce(EpisodeStatus.RUNNING)
            await self._until_known()
            await self._play()
            await self._until_quiet()
            await self._end_episode()
            for line in self._report():
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
        """Who is not there yet; a reader counts once the player has found it, for it misses what is played before."""
        missing = [] if self._resume.service_is_ready() and self.get_clock().now().nanoseconds else ["bag_player"]
        if self.count_publishers(topics.KEYFRAME_SCORE) == 0:
            missing.append("keyframe_selector")
        if self.count_services(topics.GET_KEYFRAMES) == 0:
            missing.append("keyframe_buffer")
        if self._asks and not self._policy.service_is_ready():
            missing.append("policy_server")
        player = self._heard.last_words.get("bag_player")
        told = player.values if player is not None else {}
        found = {key.removeprefix(_READERS): int(count) for key, count in told.items() if key.startswith(_READERS)}
        short = [topic for topic, count in found.items() if count < self._readers_of(topic)]
        if not missing and (short or not found):
            missing.append(f"who listens to {', '.join(short) or 'bag_player'}")
        return missing

    def _readers_of(self, topic: str) -> int:
        """How many live nodes listen to a topic that is played."""
        observers = 2 if self._asks else 1  # the buffer and the policy
        felt = 1 if self.parameters.source == "rules" else 0
        return {
            "/third_person/image_raw": observers + 1,
            "/wrist/image_raw": observers,
            "/joint_states": observers + felt,
            "/tool_pose": observers + felt,
            "/keyframes/score": 1,
        }.get(topic, 0)

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
        due = sorted(enumerate(self._requests), key=lambda pair: pair[1].step)
        last, told_at = last_frame(self._recorded), time.monotonic()
        while self.count_publishers(topics.THIRD_PERSON_IMAGE):
            frame = self._frame_now()
            while due and due[0][1].step <= frame:
                self._ask_for(*due.pop(0))
            if time.monotonic() - told_at > _TELL_EVERY_S:
                told_at = time.monotonic()
                self._narrator.say(f"  played {min(max(frame, 0), last)} of {last} frames")
            await self.sleep(_POLL_S)
        for number, request in due:  # the clock's last word may have come before the last frames
            if request.step <= last:
                self._ask_for(number, request)

    def _frame_now(self) -> int:
        elapsed_ns = self.get_clock().now().nanoseconds - self._recorded.status.start_ns
        return int(elapsed_ns // max(1, round(self._recorded.status.frame_period_s * 1e9)))

    def _ask_for(self, number: int, request: Request) -> None:
        assert self.executor is not None
        self._waiting.add(number)
        self.executor.create_task(self._predict, number, request)

    async def _predict(self, number: int, request: Request) -> None:
        """Ask for the chunk at this position of the bag."""
        patience = self.parameters.request_timeout
        began = time.monotonic()
        answer = await self.ask(self._policy, request_message(self._status.episode_id, request), patience)
        self.statistics.add("chunk_round_trip", time.monotonic() - began)
        self._waiting.discard(number)
        self._heard.at = time.monotonic()
        if answer is None:
            self._refusals[number] = f"the policy server does not answer for {patience:g} s"
        elif not answer.success:
            self._refusals[number] = answer.message
        else:
            self._chunks[number] = chunk_from(answer.chunk)

    async def _until_quiet(self) -> None:
        """Wait for what is still on its way: answers, and the frames that wait for a node."""
        last = last_frame(self._recorded)
        self._heard.at = time.monotonic()
        while self._waiting or (self._heard.settled < last and time.monotonic() - self._heard.at < _QUIET_S):
            await self.sleep(_POLL_S)

    async def _end_episode(self) -> None:
        """End the episode; the nodes tell then how they were, for the last time."""
        self._heard.last_words.clear()
        self._announce(EpisodeStatus.FINISHED)
        deadline = time.monotonic() + _FAREWELL_S
        expected = set(NODES if self._asks else NODES[:-1])
        while not expected <= self._heard.last_words.keys() and time.monotonic() < deadline:
            await self.sleep(0.05)

    def _report(self) -> list[str]:
        values = self.parameters
        live = LiveRun(
            self._heard.scores,
            tuple(self._heard.events),
            self._chunks,
            self._refusals if self._asks else None,
            self._heard.last_words,
        )
        notes = [line for line in values.notes.splitlines() if line]
        marked = None
        try:
            marked = annotated(self._recorded)
        except (AnnotationError, OSError) as error:
            notes.append(f"the annotation is left out: {error}")
        settings = ReplaySettings(values.rate, values.source, values.policy, tuple(notes))
        comparison = compare(self._recorded, live, marked)
        self._playing = False
        return write_replay_report(Path(values.folder).expanduser(), self._recorded, live, comparison, settings)


def main() -> None:
    """Run the node."""
    run_node(ReplayComparisonNode)
