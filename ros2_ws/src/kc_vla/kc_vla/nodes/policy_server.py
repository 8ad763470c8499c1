"""Node `policy_server`: turns keyframes, the present observation and the instruction into action chunks."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import String

from kc_vla.core import topics
from kc_vla.core.chunk import Chunk
from kc_vla.core.codec import CodecError
from kc_vla.core.episode import Episode
from kc_vla.inference.worker import JobOutcome, LateError, NoResultError, OutdatedError
from kc_vla.keyframes.observation import Observation
from kc_vla.policy.backends import BACKENDS
from kc_vla.policy.interface import Backend, PolicyError, PolicyInput, Proprioception, UnfitPolicyError
from kc_vla.policy.trajectory.backend import TrajectoryBackend
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.control_authority import ActionProvider, ControlAuthority
from kc_vla.ros.convert import chunk_message
from kc_vla.ros.health import CANNOT_ACT
from kc_vla.ros.policy_inputs import PolicyInputs
from kc_vla.ros.policy_parameters import PolicyParameters
from kc_vla.ros.process import run_node
from kc_vla.ros.streams import OFFERS
from kc_vla.ros.work import answer
from kc_vla_msgs.msg import ActionChunk
from kc_vla_msgs.srv import PredictChunk

if TYPE_CHECKING:
    from kc_vla.ros.trajectory_server import TrajectoryServer


class PolicyServerNode(StackNode):
    """The node `policy_server`, which answers requests for action chunks."""

    Parameters = PolicyParameters
    parameters: PolicyParameters

    def __init__(self) -> None:
        super().__init__("policy_server")
        self._unfit = ""
        """Id of an episode in which the policy never answers."""
        self._instruction = ""
        """Instruction of the skill that a policy does at present; empty: that of the episode counts."""

    def start(self) -> None:
        """Make the backend and open the service."""
        values = self.parameters
        context = values.context(self._listen, self.statistics.add)
        self._driving = ControlAuthority(self, context, values, lambda: self._inputs.newest)
        codec = self._driving.policy.codec
        views = codec.robot.views if BACKENDS.get(values.backend).cameras else ()
        self._inputs = PolicyInputs(self, codec, views, values.wait_timeout, values.sync_tolerance)
        self._trajectories = self._serve_trajectories(self._driving.policy.backend)
        self._chunks = self.advertise(ActionChunk, topics.POLICY_CHUNK, qos.EVENT)
        self.watch_episodes()
        self.subscribe(String, topics.SKILL_INSTRUCTION, self._on_instruction, qos.STATUS)
        self.serve(PredictChunk, topics.PREDICT_CHUNK, self._predict)

    def stop(self) -> None:
        """Leave a backend that thinks to itself."""
        if self._trajectories is not None:
            self._trajectories.close()
        self._driving.close()

    def on_episode(self, episode: Episode) -> None:
        """Forget the episode before."""
        if episode.running:
            self._unfit = ""
            self._inputs.begin(episode)
            self.problem("")
            self._driving.begin(episode, self._on_reset)
        else:
            self._driving.end()

    def details(self) -> dict[str, object]:
        """Return which backend answers."""
        unfit = {CANNOT_ACT: self._unfit} if self._unfit else {}
        return {"backend": self.parameters.backend, **unfit, **(self._driving.details() if self.works else {})}

    def _on_reset(self, outcome: JobOutcome[str]) -> None:
        try:
            if remark := outcome.result():
                self.get_logger().warning(remark)
        except (PolicyError, LateError) as error:
            if not (self.parameters.skills and isinstance(error, UnfitPolicyError)):
                self.problem(str(error))
        except NoResultError:
            pass  # the next episode has begun

    def _on_instruction(self, message: String) -> None:
        self._instruction = message.data

    def _serve_trajectories(self, backend: Backend) -> TrajectoryServer | None:
        """Return what clients of ros2_control find here; None where the policy is another."""
        if not isinstance(backend, TrajectoryBackend):
            return None
        from kc_vla.ros.trajectory_server import TrajectoryServer  # which alone needs control_msgs

        return TrajectoryServer(self, backend, self._driving)

    def _listen(self, stream: str, offer: Callable[..., None]) -> None:
        kind, topic, values = OFFERS[stream]
        self.subscribe(kind, topic, lambda message: offer(*values(message)), qos.STATE)

    # -- the service --------------------------------------------------------------------------------------------

    async def _predict(self, request: PredictChunk.Request, response: PredictChunk.Response) -> PredictChunk.Response:
        began = time.perf_counter()
        episode = self.episode
        if episode is None or not episode.running or episode.id != request.episode_id:
            response.message = f"episode '{request.episode_id}' is not running here"
            return response
        self._driving.asked(int(request.sequence), int(request.observation_frame))
        seat, turn = self._driving.seat, self._driving.turn
        try:
            seen, frames, given = await self._given(request, episode, seat)
            self._require(episode, turn)  # the backend may have begun another one
            actions = await answer(seat.work, partial(seat.backend.infer, given))
            self._require(episode, turn)
        except (CodecError, PolicyError, NoResultError) as error:
            if isinstance(error, UnfitPolicyError) and not self.parameters.skills:  # another skill may be known
                self._unfit = episode.id
            if isinstance(error, CodecError | PolicyError | LateError):
                self.problem(str(error))
            response.message = str(error)
            return response
        latency = time.perf_counter() - began
        self.statistics.add("predict", latency)
        self.problem("")
        self._driving.gave(seen.frame, actions)
        backend = seat.backend
        planned = Chunk(int(request.sequence), seen.frame, backend.action_type, tuple(backend.names), actions)
        chunk = chunk_message(planned, episode, seen.stamp_ns, backend.name, latency, frames)
        chunk.header.stamp = self.get_clock().now().to_msg()
        chunk.header.frame_id = seat.codec.robot.base_frame
        self._chunks.publish(chunk)
        response.chunk = chunk
        response.success = True
        return response

    async def _given(
        self, request: PredictChunk.Request, episode: Episode, seat: ActionProvider
    ) -> tuple[Observation, list[int], PolicyInput]:
        """Return the observation to start from, the frames of the keyframes, and what the backend is given."""
        began = time.perf_counter()
        if self.parameters.skills and not self._instruction:
            raise PolicyError("no skill has said yet what the policy is to do")
        backend, inputs = seat.backend, self._inputs
        seen = await inputs.observation(int(request.observation_frame))
        frames, keyframes = (
            await inputs.keyframes(seen.frame, backend.needs_images) if backend.needs_keyframes else ([], [])
        )
        self.statistics.add("gather", time.perf_counter() - began)
        plan = await inputs.plan(episode, seen.frame, self.parameters.horizon) if backend.needs_plan else None
        given = PolicyInput(
            frame=seen.frame,
            views=seen.views if backend.needs_images else {},
            keyframes=keyframes,
            state=seat.codec.state(seen.tool_pose, seen.joint_names, seen.joint_positions),
            instruction=self._instruction or episode.instruction,
            frozen=_frozen(request),
            plan=plan,
            felt=Proprioception(seen.tool_pose, seen.joint_positions),
        )
        return seen, frames, given

    def _require(self, episode: Episode, turn: int) -> None:
        if self.episode is None or self.episode.id != episode.id:
            raise OutdatedError(f"episode '{episode.id}' ended while the policy was thinking")
        self._driving.require(turn)


def _frozen(request: PredictChunk.Request) -> NDArray[np.float32]:
    steps = int(request.frozen_steps)
    values = np.array(request.frozen_actions, np.float32)
    if steps == 0 or values.size % steps:
        return np.empty((0, 0), np.float32)
    return values.reshape(steps, -1)


def main() -> None:
    """Run the node."""
    run_node(PolicyServerNode)
