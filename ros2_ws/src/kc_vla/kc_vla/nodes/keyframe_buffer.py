"""Node `keyframe_buffer`: keeps the full observation of every keyframe; survives its own restart."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from kc_vla.core import topics
from kc_vla.core.episode import Episode
from kc_vla.keyframes.buffer import BufferRefusal, KeyframeBuffer
from kc_vla.keyframes.intake import EventNote, KeyframeIntake, ScoreNote
from kc_vla.keyframes.observation import Observation
from kc_vla.keyframes.selector import SelectorEvent
from kc_vla.keyframes.smoothing import Decision
from kc_vla.keyframes.store import KeyframeStore
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, seconds_since
from kc_vla.ros.convert import keyframe_message, time_message
from kc_vla.ros.frame_gate import FrameGate
from kc_vla.ros.parameters import parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.robot import RobotParameters
from kc_vla.ros.streams import ObservationFeed
from kc_vla_msgs.msg import KeyframeEvent, KeyframeIndex, KeyframeScore
from kc_vla_msgs.srv import GetKeyframes, InjectKeyframe, ResetKeyframes


@dataclass(frozen=True)
class BufferParameters(RobotParameters):
    """Parameters of the node."""

    capacity: int = parameter(16, "most keyframes held", low=2, high=1000)
    recent_frames: int = parameter(64, "ring of recent observations, frames", low=8, high=2000)
    state_folder: str = parameter("", "folder in which keyframes survive a restart of this node; empty: none")
    sync_tolerance: float = parameter(0.02, "s between the streams of one observation", low=0.0, high=1.0)
    wait_timeout: float = parameter(2.0, "s that a caller waits for a frame to come in", low=0.1, high=60.0)


class KeyframeBufferNode(StackNode):
    """The node `keyframe_buffer`, which keeps the observation of every keyframe."""

    Parameters = BufferParameters
    parameters: BufferParameters

    def __init__(self) -> None:
        super().__init__("keyframe_buffer")

    def start(self) -> None:
        """Make the buffer and open its services."""
        folder = self.parameters.state_folder
        store = KeyframeStore(Path(folder).expanduser()) if folder else None
        self._buffer = KeyframeBuffer(self.parameters.capacity, self.parameters.recent_frames, store)
        self._intake = KeyframeIntake(self._buffer)
        self._gate = FrameGate(self, self.parameters.wait_timeout)
        self._index = self.advertise(KeyframeIndex, topics.KEYFRAME_INDEX, qos.STATUS)
        robot, tolerance = self.parameters.loaded_robot(), self.parameters.sync_tolerance
        self._base_frame = robot.base_frame
        self._feed = ObservationFeed(self, robot.views, tolerance, self._on_observation, self._publish_index)
        self.watch_episodes()
        self.subscribe(KeyframeEvent, topics.KEYFRAME_EVENT, self._on_event, qos.EVENT_LOG)
        self.subscribe(KeyframeScore, topics.KEYFRAME_SCORE, self._on_score, qos.EVENT)
        self.serve(GetKeyframes, topics.GET_KEYFRAMES, self._get)
        self.serve(ResetKeyframes, topics.RESET_KEYFRAMES, self._reset)
        self.serve(InjectKeyframe, topics.INJECT_KEYFRAME, self._inject)
        self.every(0.5, self._give_up_lost_events)

    def on_episode(self, episode: Episode) -> None:
        """Begin an episode, or continue the one in the store."""
        if not episode.running:
            return
        self._feed.begin(episode)
        self._intake.begin(episode.id)
        self.problem(self._buffer.storage_error, ERROR)
        self._publish_index()
        held = len(self._buffer.index())
        if held:
            self.get_logger().info(f"goes on with {held} keyframes of episode {episode.id}")

    def details(self) -> dict[str, object]:
        """Return how full the buffer is."""
        buffer = getattr(self, "_buffer", None)
        return {"keyframes": len(buffer.index()), "newest_frame": buffer.newest_frame} if buffer else {}

    def _on_observation(self, observation: Observation) -> None:
        self._intake.observe(observation)
        self._advance()

    def _on_event(self, message: KeyframeEvent) -> None:
        event = SelectorEvent(
            Decision(message.type),
            message.frame_index,
            message.decided_at_frame,
            message.phase,
            message.label,
            message.score,
        )
        self._intake.put_event(EventNote(message.episode_id, message.sequence, event, message.source))
        self._advance()

    def _on_score(self, message: KeyframeScore, info: dict[str, int]) -> None:
        published_ns = info["source_timestamp"]
        self._intake.put_score(ScoreNote(message.episode_id, message.frame_index, message.events, published_ns))
        self._advance()

    def _advance(self) -> None:
        settled, problems = self._intake.advance()
        for problem in problems:
            self.problem(problem, ERROR)
        for score in settled:
            self.statistics.add("score_to_index", seconds_since(score.published_ns))
        if settled:
            self._publish_index()
            self._gate.open(self._buffer.settled_frame)

    def _give_up_lost_events(self) -> None:
        lost = self._intake.give_up(time.time_ns())
        if lost:
            self.statistics.drop(topics.KEYFRAME_EVENT, lost)
            self.problem(f"{lost} keyframe events were lost: a keyframe may be missing", ERROR)
            self._advance()

    def _publish_index(self) -> None:
        episode = self.episode
        settled = self._buffer.settled_frame
        if episode is None:
            return
        index = self._buffer.index()
        message = KeyframeIndex(
            episode_id=episode.id,
            newest_frame=settled,
            events=self._buffer.events,
            frame_indices=[entry.frame for entry in index],
            phases=[entry.phase for entry in index],
            labels=[entry.label for entry in index],
            scores=[entry.score for entry in index],
            committed=[entry.committed for entry in index],
        )
        message.header.stamp = time_message(episode.start_ns + max(settled, 0) * episode.period_ns)
        self._index.publish(message)

    # -- services -----------------------------------------------------------------------------------------------

    async def _get(self, request: GetKeyframes.Request, response: GetKeyframes.Response) -> GetKeyframes.Response:
        response.message = self._refuse_episode(request.episode_id)
        if response.message:
            return response
        as_of = int(request.as_of_frame)
        if as_of >= 0 and not self._buffer.knows(as_of) and not await self._gate.wait(as_of):
            response.message = (
                f"frame {as_of} has not come in for {self._gate.timeout:g} s "
                f"(newest: {self._buffer.settled_frame}): does the keyframe selector run, and know the task?"
            )
            return response
        known = set(request.known_frames)
        assert self.episode is not None
        for keyframe in self._buffer.keyframes(None if as_of < 0 else as_of, request.provisional):
            pixels = request.images and keyframe.observation.frame not in known
            response.keyframes.append(keyframe_message(keyframe, self.episode.id, self._base_frame, pixels))
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
            if request.keep:
                self._buffer.keep(int(request.frame_index))
            else:
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


def main() -> None:
    """Run the node."""
    run_node(KeyframeBufferNode)
