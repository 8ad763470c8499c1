"""A topic by which nobody is woken: what comes waits in the middleware until the node asks for it.

For one who looks on, and does so seldom: to be woken for every image and every command costs more than they do.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.qos import QoSProfile

from kc_vla.ros.base import StackNode


class Mailbox:
    """What came on a topic and was not taken yet, up to the profile's depth. Safe for any threads."""

    def __init__(self, node: StackNode, kind: type, topic: str, profile: QoSProfile, raw: bool = False) -> None:
        """Listen, while `node` is active or until `close`; `raw`: messages are given as bytes."""
        self._node = node
        self._lock = threading.Lock()
        self._entity = node.subscribe(kind, topic, _nothing, profile, raw=raw, group=_Asleep())

    def take(self) -> Iterator[Any]:
        """Yield what came, oldest first; nothing after `close`."""
        while True:
            with self._lock:
                try:
                    with self._entity.handle:
                        found = self._entity.handle.take_message(self._entity.msg_type, self._entity.raw)
                except InvalidHandle:
                    return
            if found is None:
                return
            yield found[0]

    def newest(self) -> Any | None:
        """Return the last of what came, None where nothing did."""
        last = None
        for last in self.take():  # noqa: B007
            pass
        return last

    def close(self) -> None:
        """Listen no more."""
        self._node.unsubscribe(self._entity)


class _Asleep(CallbackGroup):
    """A callback group whose entities the executor leaves alone."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        pass


def _nothing(message: Any) -> None:
    """Do nothing; it is never called."""
