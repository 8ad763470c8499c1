"""A gamepad in the hands of a person who reads the terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import count

from sensor_msgs.msg import Joy

from kc_vla.policy.teleop import JoySettings
from kc_vla.ros import qos
from tests.support.node_process import Peer
from tests.support.stack import Stack

KEYS = JoySettings()
_LET_GO_S = 1.0


class Gamepad:
    """See the module."""

    def __init__(self, peer: Peer, stack: Stack) -> None:
        self._peer, self._stack, self._ticks = peer, stack, count()
        self._sticks = peer.node.create_publisher(Joy, "/joy", qos.STATE)

    def tell(self, buttons: Sequence[int] = (), up: float = 0.0) -> None:
        """Say which buttons are down, and how far the stick is that lifts."""
        axes = [0.0] * 8
        axes[KEYS.z] = up
        self._sticks.publish(Joy(axes=axes, buttons=[int(number in buttons) for number in range(8)]))

    def lift(self) -> None:
        """Hold the button and lift, and let go of it now and then, as it may have been missed for long."""
        self.tell([KEYS.enable] if next(self._ticks) % 20 else [], up=1.0)

    def hold(self, seconds: float) -> None:
        """Hold the button that enables, which was let go of before, for so long."""
        begun = time.monotonic()
        self._peer.until(lambda: self.tell() or time.monotonic() > begun + _LET_GO_S)
        self._peer.until(lambda: self.tell([KEYS.enable]) or time.monotonic() > begun + _LET_GO_S + seconds)

    def press_until(self, line: str, *buttons: int) -> None:
        """Press again and again, as a person does, until the terminal tells it."""
        begun = self._stack.position
        ticks = count()
        self._peer.until(lambda: self.tell(buttons if next(ticks) % 8 > 3 else ()) or self._stack.find(line, begun))
