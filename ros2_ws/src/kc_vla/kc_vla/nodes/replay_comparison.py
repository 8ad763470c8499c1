"""Node `replay_comparison`: plays a bag to the live nodes in place of the cameras, and compares their output.

It takes the place of the node that announces episodes and requests chunks, at the times of the requests in the
recording, and reports the difference at the end.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray
from std_srvs.srv import Trigger

from kc_vla.bags.errors import BagError, ReportError
from kc_vla.core import topics
from kc_vla.episodes.episode import RecordedEpisode, chunk_from
from kc_vla.execution.scheduler import ChunkRequest
from kc_vla.replay.live_replay import LiveReplay
from kc_vla.replay.received_messages import ReceivedMessages
from kc_vla.replay.replay_run import PLAYER, ReplayError, ReplayRun
from kc_vla.replay.report import ReplaySettings
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.chunk_client import request_message
from kc_vla.ros.console_logger import ConsoleLogger
from kc_vla.ros.convert import time_message
from kc_vla.ros.health import within
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node
from kc_vla_msgs.msg import EpisodeStatus, KeyframeEvent, KeyframeIndex, KeyframeScore
from kc_vla_msgs.srv import PredictChunk


@dataclass(frozen=True)
class ReplayParameters(NodeParameters):
    """Parameters of the node."""

    bag: str = parameter("", "the bag that is played")
    folder: str = parameter("", "folder for the comparison")
    rate: float = parameter(1.0, "playback rate, for the report", low=0.01, high=100.0)
    selector: str = parameter("learned", "selector of the live keyframes; the report names it", former="source")
    policy: str = parameter("replay", "backend of the live policy server; none: no policy runs")
    notes: str = parameter("", "further lines for the report")
    request_timeout: float = parameter(4.0, "s that the policy may take to answer", low=0.1, high=60.0)
    startup_timeout: float = parameter(60.0, "s to wait for the other nodes", low=1.0, high=3600.0)


class ReplayComparisonNode(StackNode):
    """The node `replay_comparison`, which compares what live nodes make of a recorded episode."""

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
        self._images = topics.image_topic(recorded.views[0])
        self._replay = LiveReplay(recorded, ReplaySettings(values.rate, values.selector, values.policy, notes))
        self._status = EpisodeStatus(
            episode_id=status.episode_id,
            task=status.task,
            variant=status.variant,
            instruction=status.instruction,
            seed=status.seed,
            start_time=time_message(status.start_ns),
            frame_period=status.frame_period_s,
        )
        self._heard = ReceivedMessages(status.episode_id)
        self._course = ReplayRun(self._replay, self._heard, self, values.startup_timeout)
        self.subscribe(KeyframeScore, topics.KEYFRAME_SCORE, self._heard.score, qos.EVENT)
        self.subscribe(KeyframeEvent, topics.KEYFRAME_EVENT, self._heard.event, qos.EVENT_LOG)
        self.subscribe(KeyframeIndex, topics.KEYFRAME_INDEX, self._heard.index, qos.STATUS)
        self.subscribe(
            DiagnosticArray,
            topics.DIAGNOSTICS,
            lambda message: self._heard.diagnostics(within(self, message)),
            qos.EVENT,
        )
        self._narrator = ConsoleLogger(self)
        self.say = self._narrator.say
        self._statuses = self.advertise(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._policy = self.call(PredictChunk, topics.PREDICT_CHUNK)
        self._resume = self.call(Trigger, topics.PLAYER_RESUME)
        self.soon(self._run)

    def stop(self) -> None:
        """Say so if the replay is cut off."""
        if self._course.playing:
            frame = max(self._course.frame(), 0)
            self.say(f"stopped at frame {frame} of {self._replay.last}: nothing is compared")

    def details(self) -> dict[str, object]:
        """Return how far it is."""
        heard, replay = getattr(self, "_heard", None), getattr(self, "_replay", None)
        return {"frames": len(heard.scores) if heard else 0, "waiting": len(replay.waiting) if replay else 0}

    async def _run(self) -> None:
        try:
            await self._course.run(Path(self.parameters.folder).expanduser())
        except (ReplayError, ReportError) as error:
            self.fail(str(error))
        self.done = True

    # -- what the course asks of the graph, see `kc_vla.replay.replay_run.Graph` --------------------------------------

    def is_there(self, node: str) -> bool:
        """Return whether a node can be seen and asked."""
        if node == PLAYER:
            return self.now_ns() > 0 and bool(self._resume.service_is_ready())
        if node == "keyframe_selector":
            return self.count_publishers(topics.KEYFRAME_SCORE) > 0
        if node == "keyframe_buffer":
            return self.count_services(topics.GET_KEYFRAMES) > 0
        return bool(self._policy.service_is_ready())

    def is_playing(self) -> bool:
        """Return whether the player offers its images still."""
        return self.count_publishers(self._images) > 0

    def now_ns(self) -> int:
        """Return the time of the bag, ns."""
        return int(self.get_clock().now().nanoseconds)

    def announce(self, running: bool) -> None:
        """Publish the episode, or its end."""
        self._status.state = EpisodeStatus.RUNNING if running else EpisodeStatus.FINISHED
        self._status.header.stamp = self.get_clock().now().to_msg()
        self._statuses.publish(self._status)

    async def resume(self) -> bool:
        """Ask the player to play."""
        answer = await self.ask(self._resume, Trigger.Request(), 2.0)
        assert answer is None or answer.success
        return answer is not None

    def begin(self) -> None:
        """Say that the episode begins."""
        self._narrator.begin(self._status.episode_id, self._status.instruction)

    def ask_policy(self, place: int, request: ChunkRequest) -> None:
        """Ask for the chunk at this place of the bag."""
        assert self.executor is not None
        self.executor.create_task(self._predict, place, request)

    async def _predict(self, place: int, request: ChunkRequest) -> None:
        patience = self.parameters.request_timeout
        began = time.monotonic()
        answer = await self.ask(self._policy, request_message(self._status.episode_id, request), patience)
        self.statistics.add("chunk_round_trip", time.monotonic() - began)
        self._heard.hears()
        if answer is None:
            self._replay.answer(place, f"the policy server does not answer for {patience:g} s")
        else:
            self._replay.answer(place, chunk_from(answer.chunk) if answer.success else answer.message)


def main() -> None:
    """Run the node."""
    run_node(ReplayComparisonNode)
