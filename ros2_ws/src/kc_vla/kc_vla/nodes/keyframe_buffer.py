"""Node `keyframe_buffer`: keeps the full observation of every keyframe; survives its own restart."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclpy.task import Future

from kc_vla.episode import Episode
from kc_vla.keyframes.buffer import BufferRefusal, KeyframeBuffer
from kc_vla.keyframes.selector import Event
from kc_vla.keyframes.smoothing import Decision
from kc_vla.keyframes.store import KeyframeStore
from kc_vla.nodes import qos, topics
from kc_vla.nodes.base import ERROR, StackNode, run_node, seconds_since
from kc_vla.nodes.convert import BadMessageError, keyframe_message, time_message
from kc_vla.nodes.parameters import NodeParameters, parameter
from kc_vla.nodes.streams import listen_to_observations, observation_of, observation_synchronizer
from kc_vla_msgs.msg import KeyframeEvent, KeyframeIndex, KeyframeScore
from kc_vla_msgs.srv import GetKeyframes, InjectKeyframe, ResetKeyframes

BASE_FRAME = "robot_base"
LOST_EVENT_S = 2.0
"""After this time an event that a score speaks of is taken for lost, s."""


@dataclass(frozen=True)
class BufferParameters(NodeParameters):
    """Parameters of the node."""

    capacity: int = parameter(16, "most keyframes held", low=2, high=1000)
    recent_frames: int = parameter(64, "ring of recent observations, frames", low=8, high=2000)
    state_folder: str = parameter("", "where keyframes survive a restart of this node; empty: nowhere")
    sync_tolerance: float = parameter(0.02, "s between the streams of one observation", low=0.0, high=1.0)
    wait_timeout: float = parameter(5.0, "s that a caller waits for a frame to come in", low=0.1, high=60.0)


class KeyframeBufferNode(StackNode):
    """See the module."""

    Parameters = BufferParameters
    parameters: BufferParameters

    def __init__(self) -> None:
        super().__init__("keyframe_buffer")

    def start(self) -> None:
        """Make the buffer and open its doors."""
        folder = self.parameters.state_folder
        store = KeyframeStore(Path(folder).expanduser()) if folder else None
        self._buffer = KeyframeBuffer(self.parameters.capacity, self.parameters.recent_frames, store)
        self._streams = observation_synchronizer(self.parameters.sync_tolerance)
        # events wait for the observation that they name, scores for their events; either may overtake the status of
        # its episode, which comes on a topic of its own
        self._events: deque[KeyframeEvent] = deque(maxlen=1000)
        self._scores: deque[tuple[KeyframeScore, int]] = deque(maxlen=1000)
        self._episode_id = ""
        self._past: deque[str] = deque(maxlen=100)
        self._waiters: list[tuple[int, float, Future]] = []
        self._index = self.advertise(KeyframeIndex, topics.KEYFRAME_INDEX, qos.STATUS)
        self.watch_episodes()
        self.subscribe(KeyframeEvent, topics.KEYFRAME_EVENT, self._on_event, qos.EVENT_LOG)
        self.subscribe(KeyframeScore, topics.KEYFRAME_SCORE, self._on_score, qos.EVENT)
        self.serve(GetKeyframes, topics.GET_KEYFRAMES, self._get)
        self.serve(ResetKeyframes, topics.RESET_KEYFRAMES, self._reset)
        self.serve(InjectKeyframe, topics.INJECT_KEYFRAME, self._inject)
        self.every(0.1, self._expire_waiters)
        self.every(0.5, self._give_up_lost_events)
        listen_to_observations(self, self._on_sample)

    def on_episode(self, episode: Episode) -> None:
        """Begin an episode, or go on with the one that the store holds."""
        if not episode.running:
            return
        self._buffer.begin(episode.id)
        self._streams.reset(after_ns=episode.start_ns - 1)
        if self._episode_id:
            self._past.append(self._episode_id)
        self._episode_id = episode.id
        self.problem(self._buffer.storage_error, ERROR)
        held = len(self._buffer.index())
        if held:
            self.get_logger().info(f"goes on with {held} keyframes of episode {episode.id}")

    def details(self) -> dict[str, object]:
        """Return how full the buffer is."""
        buffer = getattr(self, "_buffer", None)
        return {"keyframes": len(buffer.index()), "newest_frame": buffer.newest_frame} if buffer else {}

    def _on_sample(self, stream: str, stamp_ns: int, message: Any, published_ns: int) -> None:
        episode = self.episode
        if episode is None or not episode.running:
            return
        moments = self._streams.put(stream, stamp_ns, message)
        for moment in moments:
            try:
                observation = observation_of(moment, episode)
            except BadMessageError as error:
                self.problem(f"observation left out: {error}", ERROR)
                continue
            if observation.frame > self._buffer.newest_frame + 1 and self._buffer.newest_frame >= 0:
                self.statistics.drop("observation", observation.frame - self._buffer.newest_frame - 1)
            self._buffer.observe(observation)
            self.statistics.add("camera_to_buffer", seconds_since(published_ns))
        if moments:
            self._advance()
        elif stream == "third_person" and episode.frame_of(stamp_ns) == self._buffer.newest_frame:
            self._publish_index()  # a frame shown again: somebody has not got the index

    def _on_event(self, event: KeyframeEvent) -> None:
        self._events.append(event)
        self._advance()

    def _on_score(self, score: KeyframeScore, info: dict[str, int]) -> None:
        self._scores.append((score, info["source_timestamp"]))
        self._advance()

    def _advance(self) -> None:
        """Apply the events whose observation is there, then settle the frames whose events are in."""
        if self.episode is None:
            return
        newest, running = self._buffer.newest_frame, self.episode.id
        while self._events:
            message = self._events[0]
            if message.episode_id == running and message.decided_at_frame <= newest:
                self._apply(message)
            elif message.episode_id not in self._past:
                break
            self._events.popleft()
        settled = False
        while self._scores:
            score, published_ns = self._scores[0]
            ready = score.frame_index <= newest and score.events <= self._buffer.events
            if score.episode_id == running and ready:
                self._buffer.settle(score.frame_index)
                self.statistics.add("score_to_index", seconds_since(published_ns))
                settled = True
            elif score.episode_id not in self._past:
                break
            self._scores.popleft()
        if settled:
            self._publish_index()
            self._answer_waiters()

    def _apply(self, message: KeyframeEvent) -> None:
        event = Event(
            Decision(message.type),
            message.frame_index,
            message.decided_at_frame,
            message.phase,
            message.label,
            message.score,
        )
        seen_before = message.sequence < self._buffer.events
        try:
            self._buffer.apply(event, message.source, message.sequence)
        except BufferRefusal as error:
            if not seen_before:  # a candidate of before a restart, superseded since, is rightly gone
                self.problem(str(error), ERROR)
        if self._buffer.storage_error:
            self.problem(self._buffer.storage_error, ERROR)

    def _give_up_lost_events(self) -> None:
        """Go on without events that never came: reader and writer of a reliable topic were both replaced."""
        if not self._scores or self.episode is None:
            return
        score, published_ns = self._scores[0]
        lost = score.events - self._buffer.events
        ready = score.episode_id == self.episode.id and score.frame_index <= self._buffer.newest_frame
        if ready and lost > 0 and seconds_since(published_ns) > LOST_EVENT_S:
            self.statistics.drop("keyframes/event", lost)
            self.problem(f"{lost} keyframe events were lost: a keyframe may be missing", ERROR)
            self._buffer.events = score.events
            self._advance()

    def _publish_index(self) -> None:
        episode = self.episode
        settled = self._buffer.settled_frame
        if episode is None or settled < 0:
            return
        index = self._buffer.index()
        message = KeyframeIndex(
            episode_id=episode.id,
            newest_frame=settled,
            events=self._buffer.events,
            frame_indices=[entry.frame for entry in index],
            phases=[entry.phase for entry in index],
            labels=[entry.label for entry in index],
            committed=[entry.committed for entry in index],
        )
        message.header.stamp = time_message(episode.start_ns + settled * episode.period_ns)
        self._index.publish(message)

    # -- services -----------------------------------------------------------------------------------------------

    async def _get(self, request: GetKeyframes.Request, response: GetKeyframes.Response) -> GetKeyframes.Response:
        response.message = self._refuse_episode(request.episode_id)
        if response.message:
            return response
        as_of = int(request.as_of_frame)
        if as_of >= 0 and not self._buffer.knows(as_of):
            arrived: Future = Future()
            self._waiters.append((as_of, time.monotonic() + self.parameters.wait_timeout, arrived))
            if not await arrived:
                response.message = (
                    f"frame {as_of} has not come in for {self.parameters.wait_timeout:g} s "
                    f"(newest: {self._buffer.settled_frame}): is the keyframe selector alive?"
                )
                return response
        known = set(request.known_frames)
        assert self.episode is not None
        for keyframe in self._buffer.keyframes(None if as_of < 0 else as_of, request.provisional):
            pixels = request.images and keyframe.observation.frame not in known
            response.keyframes.append(keyframe_message(keyframe, self.episode.id, BASE_FRAME, pixels))
        response.success = True
        return response

    def _reset(self, request: ResetKeyframes.Request, response: ResetKeyframes.Response) -> ResetKeyframes.Response:
        response.message = self._refuse_episode(request.episode_id)
        if not response.message:
            self._buffer.forget()
            self._publish_index()
            response.success = True
        return response

    def _inject(self, request: InjectKeyframe.Request, response: InjectKeyframe.Response) -> InjectKeyframe.Response:
        response.message = self._refuse_episode(request.episode_id)
        if response.message:
            return response
        try:
            self._buffer.inject(int(request.frame_index), request.label)
        except BufferRefusal as error:
            response.message = str(error)
            return response
        self._publish_index()
        response.success = True
        return response

    def _refuse_episode(self, episode_id: str) -> str:
        if self.episode is None:
            return "no episode has begun"
        if episode_id not in ("", self.episode.id):
            return f"episode '{episode_id}' is not the running one ('{self.episode.id}')"
        return ""

    def _answer_waiters(self) -> None:
        for frame, _, arrived in self._waiters:
            if self._buffer.knows(frame):
                arrived.set_result(True)
        self._waiters = [w for w in self._waiters if not w[2].done()]

    def _expire_waiters(self) -> None:
        now = time.monotonic()
        for _, deadline, arrived in self._waiters:
            if now > deadline:
                arrived.set_result(False)
        self._waiters = [w for w in self._waiters if not w[2].done()]


def main() -> None:
    """Run the node."""
    run_node(KeyframeBufferNode)
