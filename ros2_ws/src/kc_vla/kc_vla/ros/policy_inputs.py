"""What a policy is given, from the cameras, the arm, the keyframe buffer and the simulator's expert."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core import topics
from kc_vla.core.chunk import TOOL_DELTA_NAMES
from kc_vla.core.codec import Codec
from kc_vla.core.episode import Episode
from kc_vla.keyframes.observation import Observation, pose_of
from kc_vla.policy.interface import PolicyError, Proprioception, RememberedFrame
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import image_pixels
from kc_vla.ros.frame_gate import FrameGate
from kc_vla.ros.streams import ObservationFeed
from kc_vla_msgs.msg import Observation as ObservationMessage
from kc_vla_msgs.srv import ExpertChunk, GetKeyframes

_AGAIN_S = 1.0
"""Between two times that the buffer is asked the same; it may have to wait for the frame that it is asked for."""
RECENT = 32
"""Observations kept, so that a request for a frame of a moment ago can be answered."""


class PolicyInputs:
    """The inputs of a policy in the running episode."""

    def __init__(
        self, node: StackNode, codec: Codec, views: Sequence[str], timeout: float, sync_tolerance: float
    ) -> None:
        """Subscribe to all that a policy needs.

        Args:
            node: of the policy server.
            codec: of the robot.
            views: that an observation needs; without any it is the state of the arm alone.
            timeout: of each wait, s.
            sync_tolerance: between streams of one frame, s.
        """
        self._node, self._timeout = node, timeout
        self._expert = node.call(ExpertChunk, topics.EXPERT_CHUNK)
        self._buffer = node.call(GetKeyframes, topics.GET_KEYFRAMES)
        self._gate = FrameGate(node, timeout)
        self._recent: OrderedDict[int, Observation] = OrderedDict()
        self._codec = codec
        self._keyframes: dict[int, RememberedFrame] = {}  # with their pictures, by frame
        self._feed = ObservationFeed(node, views, sync_tolerance, self._on_observation)

    @property
    def newest(self) -> int:
        """Return the index of the newest observation; -1 before the first."""
        return next(reversed(self._recent), -1)

    def begin(self, episode: Episode) -> None:
        """Forget the episode before."""
        self._feed.begin(episode)
        self._recent.clear()
        self._keyframes.clear()

    async def observation(self, frame: int) -> Observation:
        """Return the observation of `frame`, or the next one there is.

        Raises:
            PolicyError: none comes.
        """
        newest = self.newest
        if newest < frame and not await self._gate.wait(frame):
            raise PolicyError(
                f"no full observation of frame {frame} for {self._timeout:g} s "
                f"(newest: {'none' if newest < 0 else newest}): are all cameras and the arm publishing?"
            )
        if not self._recent:
            raise PolicyError("the episode ended")
        return self._recent.get(frame) or next(o for f, o in self._recent.items() if f >= frame)

    async def keyframes(self, frame: int, images: bool) -> tuple[list[int], list[RememberedFrame]]:
        """Return the frames, and with `images` all, of the keyframes known at `frame`, but for `frame` itself.

        Images cross the wire once: those already here are not asked for again.

        Raises:
            PolicyError: the buffer does not answer, or refuses.
            CodecError: one is of another robot.
        """
        request = GetKeyframes.Request(
            as_of_frame=frame, known_frames=sorted(self._keyframes), images=images, provisional=True
        )
        answer = await self._ask(self._buffer, request, "the keyframe buffer", _AGAIN_S)
        if not answer.success:
            raise PolicyError(answer.message)
        frames = [k.observation.frame_index for k in answer.keyframes if k.observation.frame_index != frame]
        for keyframe in answer.keyframes:
            seen = keyframe.observation
            if seen.views:
                self._keyframes[seen.frame_index] = self._seen(seen)
        if not images:
            return frames, []
        self._keyframes = {f: self._keyframes[f] for f in frames if f in self._keyframes}
        return frames, [self._keyframes[f] for f in frames]

    def _seen(self, observation: ObservationMessage) -> RememberedFrame:
        views = {view.name: image_pixels(view.image) for view in observation.views}
        joints, pose = observation.joints, pose_of(observation.tool_pose)
        felt = Proprioception(pose, np.array(joints.position, float))
        return RememberedFrame(
            observation.frame_index, views, self._codec.state(pose, tuple(joints.name), felt.joints), felt
        )

    async def plan(self, episode: Episode, frame: int, horizon: int) -> NDArray[np.float32]:
        """Return what the simulator's expert would do from `frame` on, (horizon, 7).

        Raises:
            PolicyError: it does not answer, refuses, or gives something else.
        """
        request = ExpertChunk.Request(episode_id=episode.id, observation_frame=frame, horizon=horizon)
        answer = await self._ask(self._expert, request, "the simulator's expert")
        if not answer.success:
            raise PolicyError(f"the expert refuses: {answer.message}")
        actions = np.array(answer.actions, np.float32)
        if actions.size != horizon * len(TOOL_DELTA_NAMES):
            raise PolicyError(f"the expert gave {actions.size} numbers for {horizon} actions")
        return actions.reshape(horizon, -1)

    async def _ask(self, client: Any, request: Any, who: str, again: float | None = None) -> Any:
        answer = await self._node.ask(client, request, self._timeout, again)
        if answer is None:
            raise PolicyError(f"{who} does not answer for {self._timeout:g} s")
        return answer

    def _on_observation(self, observation: Observation) -> None:
        self._recent[observation.frame] = observation
        while len(self._recent) > RECENT:
            self._recent.popitem(last=False)
        self._gate.open(observation.frame)
