"""Between messages and keyframes that a memory is linked with, and a copy of them for a client."""

from __future__ import annotations

import time

from kc_vla.core.stamps import nanoseconds
from kc_vla.memory.episodic.linked import LinkedKeyframe, LinkedKeyframes, in_order
from kc_vla.ros.convert import time_message
from kc_vla.ros.skills import seen_from, seen_message
from kc_vla_msgs.msg import LinkedKeyframe as LinkedKeyframeMessage
from kc_vla_msgs.srv import GetLinkedKeyframes


def linked_message(keyframe: LinkedKeyframe) -> LinkedKeyframeMessage:
    """Return the message of a keyframe with what it shows."""
    message = LinkedKeyframeMessage(
        number=keyframe.number,
        episode_id=keyframe.episode_id,
        frame_index=keyframe.frame,
        phase=keyframe.phase,
        label=keyframe.label,
        source=keyframe.source,
        apart=float(keyframe.apart_s),
        seen=[seen_message(each) for each in keyframe.seen],
    )
    message.header.stamp, message.header.frame_id = time_message(keyframe.stamp_ns), keyframe.frame_id
    return message


def linked_from(message: LinkedKeyframeMessage) -> LinkedKeyframe:
    """Return the keyframe of a message.

    Raises:
        KeyframeLinkError: it cannot be one.
    """
    return LinkedKeyframe(
        message.episode_id,
        int(message.frame_index),
        nanoseconds(message.header.stamp),
        int(message.phase),
        message.label,
        message.source,
        message.header.frame_id,
        float(message.apart),
        tuple(seen_from(each) for each in message.seen),
        int(message.number),
    )


def history_response(response: GetLinkedKeyframes.Response, history: LinkedKeyframes, after: int) -> None:
    """Put the keyframes that a client does not have yet into a response."""
    numbers = [each.number for each in history.keyframes]
    response.oldest, response.newest = min(numbers, default=0), max(numbers, default=0)
    response.left = history.left
    response.keyframes = [linked_message(each) for each in history.keyframes if each.number > after]


class LinkedKeyframesCopy:
    """The keyframes of one map, for a client that looks at them again and again."""

    def __init__(self, fresh_s: float) -> None:
        """Begin without keyframes.

        Args:
            fresh_s: so old a copy may be, s.
        """
        self._fresh_s, self._fresh_until_s = fresh_s, 0.0
        self._by_number: dict[int, LinkedKeyframe] = {}
        self._left = 0

    @property
    def after(self) -> int:
        """Return the number of the newest link that it has; 0 for none."""
        return max(self._by_number, default=0)

    def is_fresh(self) -> bool:
        """Return whether the copy can be looked at as it is."""
        return time.monotonic() < self._fresh_until_s

    def history(self) -> LinkedKeyframes:
        """Return what it has."""
        return in_order(list(self._by_number.values()), self._left)

    def apply(self, response: GetLinkedKeyframes.Response) -> bool:
        """Bring it up to date; return whether that is done. The copy of another store is emptied: ask for all again."""
        if response.newest < self.after:
            self._by_number.clear()
            return False
        found = [linked_from(each) for each in response.keyframes]
        again = {each.name for each in found}
        kept = {
            number: each
            for number, each in self._by_number.items()
            if number >= response.oldest and each.name not in again
        }
        self._by_number = kept | {each.number: each for each in found}
        self._left, self._fresh_until_s = int(response.left), time.monotonic() + self._fresh_s
        return True
