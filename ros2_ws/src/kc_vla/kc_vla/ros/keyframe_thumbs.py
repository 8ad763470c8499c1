"""The images of the keyframes for who looks on: asked of the buffer, each once, and only while they are wanted."""

from __future__ import annotations

from collections.abc import Callable

from kc_vla.core import topics
from kc_vla.live.images import data_url
from kc_vla.ros.base import StackNode
from kc_vla.ros.convert import BadMessageError, image_pixels
from kc_vla_msgs.msg import KeyframeIndex
from kc_vla_msgs.srv import GetKeyframes

_LOOK_S, _ANSWER_S = 0.5, 3.0
_LONGEST = 240
"""px of a side."""


class KeyframeThumbs:
    """Asks for what an index names and nobody has yet."""

    def __init__(self, node: StackNode, is_wanted: Callable[[], bool], take: Callable[[int, str], None]) -> None:
        """Begin.

        Args:
            node: that asks.
            is_wanted: whether a client looks.
            take: is given the frame of each keyframe and its image by the first view, as a data URL.
        """
        self._node, self._is_wanted, self._take = node, is_wanted, take
        self._client = node.call(GetKeyframes, topics.GET_KEYFRAMES)
        self._index, self._episode = KeyframeIndex(), ""
        self._has: set[int] = set()
        node.every(_LOOK_S, self._ask)

    def begin(self, episode_id: str) -> None:
        """Begin another episode, of whose images nobody has any."""
        self._has, self._episode = set(), episode_id

    def follow(self, index: KeyframeIndex) -> None:
        """Take in what the buffer holds, of whatever episode; may be called by any thread."""
        self._index = index

    async def _ask(self) -> None:
        index, has = self._index, self._has
        if index.episode_id != self._episode or set(index.frame_indices) <= has:
            return
        if not self._is_wanted() or not self._client.service_is_ready():
            return
        request = GetKeyframes.Request(
            episode_id=index.episode_id, as_of_frame=-1, known_frames=sorted(has), images=True, provisional=True
        )
        answer = await self._node.ask(self._client, request, _ANSWER_S)
        if answer is None or has is not self._has:
            return  # asked again, or of an episode that is over
        for keyframe in answer.keyframes:
            frame, views = int(keyframe.observation.frame_index), keyframe.observation.views
            if frame in has or not views:
                continue
            has.add(frame)
            try:
                self._take(frame, data_url(image_pixels(views[0].image), _LONGEST))
            except BadMessageError as error:
                self._node.problem(f"the picture of keyframe {frame} cannot be shown: {error}")
