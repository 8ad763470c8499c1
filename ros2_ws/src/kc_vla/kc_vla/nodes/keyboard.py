"""Node `keyboard`: the keys of a terminal as a gamepad on the topic `joy`, for `policy:=joy` and `takeover:=joy`.

ros2 run kc_vla keyboard
"""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import time
import tty
from dataclasses import dataclass

from sensor_msgs.msg import Joy

from kc_vla.core import topics
from kc_vla.policy.teleop import JoySettings
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node

HELP = """\
hold a key to move; the arm stops when it is let go
  w s  away from the base, towards it      i k  pitch
  a d  left, right                         u o  roll
  r f  up, down                            j l  yaw
  g h  close, open the gripper             q    end
  y n  success, failure: the episode ends
with takeover:=
  t    take over, as does any key that moves; p  the policy goes on
"""
_LAYOUT = JoySettings()
AXES = {
    "w": (_LAYOUT.x, 1.0),
    "s": (_LAYOUT.x, -1.0),
    "a": (_LAYOUT.y, 1.0),
    "d": (_LAYOUT.y, -1.0),
    "r": (_LAYOUT.z, 1.0),
    "f": (_LAYOUT.z, -1.0),
    "o": (_LAYOUT.roll, 1.0),
    "u": (_LAYOUT.roll, -1.0),
    "k": (_LAYOUT.pitch, 1.0),
    "i": (_LAYOUT.pitch, -1.0),
    "j": (_LAYOUT.yaw, 1.0),
    "l": (_LAYOUT.yaw, -1.0),
}
BUTTONS = {"g": _LAYOUT.close, "h": _LAYOUT.open, "t": _LAYOUT.enable}
WORDS = {"p": _LAYOUT.hand_back, "y": _LAYOUT.success, "n": _LAYOUT.failure}
"""They move nothing."""
_KEY_OF_SEVERAL = re.compile(r"\x1b+(?:\[\[?[0-?]*[ -/]*[@-~]|O[0-?]*.|.)", re.DOTALL)
_BEGUN = re.compile(r"\x1b+(?:\[\[?[0-?]*[ -/]*|O[0-?]*)?$")
_NUMBER_OF_AXES, _NUMBER_OF_BUTTONS = 8, 8


@dataclass(frozen=True)
class KeyboardParameters(NodeParameters):
    """Parameters of the node."""

    rate: float = parameter(30.0, "publishing rate, Hz", low=10.0, high=100.0)
    held: float = parameter(
        0.5,
        "s for which a key press counts; it must be longer than the terminal's delay before a held key repeats",
        low=0.05,
        high=2.0,
    )


class KeyboardNode(StackNode):
    """The node `keyboard`, which publishes the keys of a terminal as a gamepad."""

    Parameters = KeyboardParameters
    parameters: KeyboardParameters

    def __init__(self) -> None:
        super().__init__("keyboard")

    def start(self) -> None:
        """Take the terminal."""
        if not sys.stdin.isatty():
            raise StartError("there is no terminal to take keys from: run it in one of its own, not from a launch file")
        self._terminal = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        print(HELP, flush=True)
        self._held: dict[str, float] = {}
        self._begun = ""
        self._joys = self.advertise(Joy, topics.JOY, qos.STATE)
        self.every(1.0 / self.parameters.rate, self._tell)

    def stop(self) -> None:
        """Give the terminal back."""
        if hasattr(self, "_terminal"):
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._terminal)

    def _tell(self) -> None:
        now, came = time.monotonic(), False
        while select.select([sys.stdin], [], [], 0)[0]:
            read = os.read(sys.stdin.fileno(), 64).decode("utf-8", "replace")
            keys, self._begun = letters(self._begun + read)
            if not read or "q" in keys:
                self.done = True
                return
            if keys:  # the last one alone: a terminal repeats only that
                self._held = {keys[-1]: now + self.parameters.held}
            came = True
        if not came:
            self._begun = ""
        message = joy([key for key, until in self._held.items() if until > now])
        message.header.stamp = self.get_clock().now().to_msg()
        self._joys.publish(message)


def letters(read: str) -> tuple[str, str]:
    """Return the letters among what a terminal gave, small, and the begun key at its end.

    That key has not come as a whole yet.

    An arrow or a function key comes as several characters after an escape: none of them is a letter that was pressed.
    """
    begun = _BEGUN.search(read)
    end = begun.start() if begun else len(read)
    return _KEY_OF_SEVERAL.sub("", read[:end]).lower(), read[end:]


def joy(keys: list[str]) -> Joy:
    """Return the gamepad message for these keys; its enabling button is held while any of them moves something."""
    axes, buttons = [0.0] * _NUMBER_OF_AXES, [0] * _NUMBER_OF_BUTTONS
    for key in keys:
        if key in AXES:
            number, value = AXES[key]
            axes[number] = value
        elif key in BUTTONS:
            buttons[BUTTONS[key]] = 1
    buttons[_LAYOUT.enable] = int(any(axes) or any(buttons))
    for key in keys:
        if key in WORDS:
            buttons[WORDS[key]] = 1
    return Joy(axes=axes, buttons=buttons)


def main() -> None:
    """Run the node."""
    run_node(KeyboardNode)
