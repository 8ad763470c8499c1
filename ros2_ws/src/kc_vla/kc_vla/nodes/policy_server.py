"""Node `policy_server`: keyframes + current observation + instruction in, action chunks out."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sensor_msgs.msg import JointState, Joy

from kc_vla.bags.errors import BagReadError
from kc_vla.core import topics
from kc_vla.core.codec import Codec, CodecError
from kc_vla.core.episode import Episode
from kc_vla.core.rig import Rig, RigError, load_rig
from kc_vla.episodes.episode import RecordedEpisode, recorded_actions
from kc_vla.episodes.episode_data import Status
from kc_vla.keyframes.observation import Observation
from kc_vla.policy.backends import Backend, ExpertBackend, PolicyError, PolicyInput, ReplayBackend
from kc_vla.policy.scripted import ScriptedBackend, load_script
from kc_vla.policy.teleop import JoyBackend, LeaderBackend
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.convert import floats_array, image_pixels, time_message
from kc_vla.ros.frame_gate import FrameGate
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.streams import ObservationFeed
from kc_vla_msgs.msg import ActionChunk
from kc_vla_msgs.srv import ExpertChunk, GetKeyframes, PredictChunk

RECENT = 32
"""Observations kept, so that a request for a frame of a moment ago can be answered."""
Pair = tuple[NDArray[np.uint8], NDArray[np.uint8]]


@dataclass(frozen=True)
class PolicyParameters(NodeParameters):
    """Parameters of the node."""

    backend: str = parameter(
        "expert", "what makes the actions", choices=("expert", "replay", "scripted", "leader", "joy")
    )
    rig: str = parameter("panda_sim", "the robot: a rig that comes with the stack, or its YAML file")
    bag: str = parameter("", "recorded episode that the backend `replay` plays")
    script: str = parameter("", "YAML file of poses that the backend `scripted` goes through")
    horizon: int = parameter(16, "actions in a chunk", low=1, high=512)
    wait_timeout: float = parameter(3.0, "s to wait for an observation, the buffer or the expert", low=0.1, high=60.0)
    sync_tolerance: float = parameter(0.02, "s between the streams of one observation", low=0.0, high=1.0)


class PolicyServerNode(StackNode):
    """See the module."""

    Parameters = PolicyParameters
    parameters: PolicyParameters

    def __init__(self) -> None:
        super().__init__("policy_server")

    def start(self) -> None:
        """Make the backend and open the service."""
        self._expert = self.call(ExpertChunk, topics.EXPERT_CHUNK)
        self._buffer = self.call(GetKeyframes, topics.GET_KEYFRAMES)
        self._played: Status | None = None
        self._backend = self._make_backend(self._load_rig())
        self._codec = Codec(self._load_rig(), self._backend.action_type)
        self._gate = FrameGate(self, self.parameters.wait_timeout)
        self._recent: OrderedDict[int, Observation] = OrderedDict()
        self._pictures: dict[int, Pair] = {}  # of the keyframes, by frame
        self._chunks = self.advertise(ActionChunk, topics.POLICY_CHUNK, qos.EVENT)
        self._feed = ObservationFeed(self, self.parameters.sync_tolerance, self._on_observation)
        self.watch_episodes()
        self.serve(PredictChunk, topics.PREDICT_CHUNK, self._predict)

    def on_episode(self, episode: Episode) -> None:
        """Forget the episode before."""
        if episode.running:
            self._feed.begin(episode)
            self._recent.clear()
            self._pictures.clear()
            self._backend.reset(episode)
            self.problem("")
            played = self._played
            if played is not None and (played.task, played.seed) != (episode.task, episode.seed):
                self.get_logger().warning(
                    f"the bag is of {played.task} with seed {played.seed}, this episode is {episode.task} with seed "
                    f"{episode.seed}: the actions of the one are not for the other"
                )

    def details(self) -> dict[str, object]:
        """Return which backend answers."""
        return {"backend": self.parameters.backend}

    def _load_rig(self) -> Rig:
        try:
            return load_rig(self.parameters.rig)
        except RigError as error:
            raise StartError(str(error)) from error

    def _make_backend(self, rig: Rig) -> Backend:
        if self.parameters.backend == "expert":
            return ExpertBackend(self._ask_expert, self.parameters.horizon)
        if self.parameters.backend == "scripted":
            try:
                return ScriptedBackend(
                    load_script(Path(self.parameters.script).expanduser(), rig), self.parameters.horizon, rig
                )
            except PolicyError as error:
                raise StartError(str(error)) from error
        if self.parameters.backend == "leader":
            leader = LeaderBackend(rig)
            self.subscribe(JointState, topics.LEADER_STATES, lambda m: leader.offer(np.array(m.position)), qos.STATE)
            return leader
        if self.parameters.backend == "joy":
            gamepad = JoyBackend()
            self.subscribe(Joy, topics.JOY, lambda m: gamepad.offer(list(m.axes), list(m.buttons)), qos.STATE)
            return gamepad
        if not self.parameters.bag:
            raise StartError("backend 'replay' needs the parameter 'bag': the folder of a recorded episode")
        bag = Path(self.parameters.bag).expanduser()
        try:
            played = RecordedEpisode(bag)
            actions = recorded_actions(played)
            self._played = played.status
            return ReplayBackend(actions, self.parameters.horizon)
        except (BagReadError, PolicyError) as error:
            raise StartError(f"nothing to replay: {error}") from error

    # -- observations -------------------------------------------------------------------------------------------

    def _on_observation(self, observation: Observation) -> None:
        self._recent[observation.frame] = observation
        while len(self._recent) > RECENT:
            self._recent.popitem(last=False)
        self._gate.open(observation.frame)

    async def _observation(self, frame: int) -> Observation:
        """Return the observation of `frame`, or the next one there is."""
        newest = next(reversed(self._recent), -1)
        if newest < frame and not await self._gate.wait(frame):
            raise PolicyError(
                f"no full observation of frame {frame} for {self._gate.timeout:g} s "
                f"(newest: {'none' if newest < 0 else newest}): are both cameras and the arm publishing?"
            )
        if not self._recent:
            raise PolicyError("the episode ended")
        return self._recent.get(frame) or next(o for f, o in self._recent.items() if f >= frame)

    # -- the service --------------------------------------------------------------------------------------------

    async def _predict(self, request: PredictChunk.Request, response: PredictChunk.Response) -> PredictChunk.Response:
        began = time.perf_counter()
        episode = self.episode
        if episode is None or not episode.running or episode.id != request.episode_id:
            response.message = f"episode '{request.episode_id}' is not running here"
            return response
        try:
            observation = await self._observation(int(request.observation_frame))
            frames, images = await self._keyframes(observation.frame) if self._backend.needs_keyframes else ([], [])
            self.statistics.add("gather", time.perf_counter() - began)
            current = (observation.third_person, observation.wrist)
            given = PolicyInput(
                frame=observation.frame,
                images=[*images, current] if self._backend.needs_images else (),
                state=self._codec.state(observation.tool_pose, observation.joint_names, observation.joint_positions),
                instruction=episode.instruction,
                frozen=_frozen(request),
            )
            actions = await self._backend.infer(given)
        except (CodecError, PolicyError) as error:
            self.problem(str(error))
            response.message = str(error)
            return response
        if self.episode is not episode and (self.episode is None or self.episode.id != episode.id):
            response.message = f"episode '{request.episode_id}' ended while the policy was thinking"
            return response
        latency = time.perf_counter() - began
        self.statistics.add("predict", latency)
        self.problem("")
        chunk = ActionChunk(
            episode_id=episode.id,
            sequence=request.sequence,
            observation_stamp=time_message(observation.stamp_ns),
            observation_frame=observation.frame,
            latency=latency,
            action_type=int(self._backend.action_type),
            names=list(self._backend.names),
            period=episode.period_ns * 1e-9,
            horizon=actions.shape[0],
            dimension=actions.shape[1],
            keyframes_used=frames,
            backend=self._backend.name,
        )
        chunk.actions = floats_array(actions)
        chunk.header.stamp = self.get_clock().now().to_msg()
        chunk.header.frame_id = self._codec.rig.base_frame
        self._chunks.publish(chunk)
        response.chunk = chunk
        response.success = True
        return response

    async def _keyframes(self, frame: int) -> tuple[list[int], list[Pair]]:
        """Return frame and pictures of every keyframe known at `frame`, the current frame left out.

        Pictures cross the wire once: those already here are not asked for again.
        """
        request = GetKeyframes.Request(
            as_of_frame=frame,
            known_frames=sorted(self._pictures),
            images=self._backend.needs_images,
            provisional=True,
        )
        answer = await self.ask(self._buffer, request, self.parameters.wait_timeout)
        if answer is None:
            raise PolicyError(f"the keyframe buffer does not answer for {self.parameters.wait_timeout:g} s")
        if not answer.success:
            raise PolicyError(answer.message)
        frames = [k.observation.frame_index for k in answer.keyframes if k.observation.frame_index != frame]
        for keyframe in answer.keyframes:
            seen = keyframe.observation
            if seen.third_person.width:
                self._pictures[seen.frame_index] = (image_pixels(seen.third_person), image_pixels(seen.wrist))
        if not self._backend.needs_images:
            return frames, []
        self._pictures = {f: self._pictures[f] for f in frames if f in self._pictures}
        return frames, [self._pictures[f] for f in frames]

    async def _ask_expert(self, frame: int, horizon: int) -> NDArray[np.float32]:
        assert self.episode is not None
        request = ExpertChunk.Request(episode_id=self.episode.id, observation_frame=frame, horizon=horizon)
        answer = await self.ask(self._expert, request, self.parameters.wait_timeout)
        if answer is None:
            raise PolicyError(f"the simulator's expert does not answer for {self.parameters.wait_timeout:g} s")
        if not answer.success:
            raise PolicyError(f"the expert refuses: {answer.message}")
        actions = np.array(answer.actions, np.float32)
        if actions.size != horizon * len(self._backend.names):
            raise PolicyError(f"the expert gave {actions.size} numbers for {horizon} actions")
        return actions.reshape(horizon, -1)


def _frozen(request: PredictChunk.Request) -> NDArray[np.float32]:
    steps = int(request.frozen_steps)
    values = np.array(request.frozen_actions, np.float32)
    if steps == 0 or values.size % steps:
        return np.empty((0, 0), np.float32)
    return values.reshape(steps, -1)


def main() -> None:
    """Run the node."""
    run_node(PolicyServerNode)
