"""Events that need no labels: the arm slows down, the gripper has gripped or released, the scene has changed meanwhile.

All three are one thing: something that was going on has come to an end. For each there is a measure of how much is
going on (speed of the tool, speed of the fingers, change of the image while the arm rests), and an event where it has
gone up and falls. In the manner of KEMO (arXiv 2606.23589), which takes peaks of the arm's deceleration; gripper and
scene are ours, for a robot that waits and watches. Every frame is judged by itself and those before it alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.floating]
ARM, GRIPPER, SCENE = "arm", "gripper", "scene"
MOTION_S, SCENE_S = 0.1, 0.05
"""What has changed is measured over these times, whatever the rate of the frames: noise of one frame is no speed.

The scene's is shorter: a robot that answers a lamp at once moves soon after, and then nothing is said of the scene.
"""
BLOCKS = 32
"""The scene is looked at as so many by so many blocks: the noise of single pixels is gone, a lamp is not."""


@dataclass(frozen=True)
class EventSettings:
    """When something is going on, and when it has come to an end; chosen on training episodes (docs).

    Attributes:
        tool: speed of the tool from which on it moves, m/s.
        rest: speed of the tool up to which the arm counts as at rest: a change of the scene is not its own, m/s.
        fingers: speed of the opening from which on it moves, m/s.
        scene: change of a block's color within `SCENE_S` from which on something moves, levels of 255.
        motion_falls_to: share of its peak to which a speed has to fall, for the event: the robot all but stands.
        scene_falls_to: likewise of the scene's change; more, as what others do there is seen as a whole.
    """

    tool: float = 0.05
    rest: float = 0.1
    fingers: float = 0.02
    scene: float = 12.0
    motion_falls_to: float = 0.1
    scene_falls_to: float = 0.4


class ValueChange:
    """How far a value has moved from what it was a time before, or at the frame before where that is longer ago."""

    def __init__(self, distance: Callable[[Numbers, Numbers], float], lag_s: float) -> None:
        """Prepare to compare values.

        Args:
            distance: between two values.
            lag_s: the time between them, s.
        """
        self._distance, self._lag_ns = distance, round(lag_s * 1e9)
        self._held: deque[tuple[int, Numbers]] = deque()

    def update(self, stamp_ns: int, value: Numbers) -> tuple[float, float]:
        """Return the distance and the time that it took, s; 0 and the lag where nothing came before."""
        while len(self._held) > 1 and stamp_ns - self._held[1][0] >= self._lag_ns:
            self._held.popleft()
        self._held.append((stamp_ns, value))
        then_ns, then = self._held[0]
        return self._distance(value, then), (stamp_ns - then_ns or self._lag_ns) * 1e-9

    def forget(self) -> None:
        """Compare what comes next with nothing before it."""
        self._held.clear()


class Ending:
    """Tells when what was going on has come to an end: it was above `up` and has fallen to a share of its peak.

    Afterwards it has to rise above `up` again, and by as much as it fell: a long slowing down ends once.
    """

    def __init__(self, up: float, falls_to: float) -> None:
        """Prepare to wait for the end of something.

        Args:
            up: from which value on it is going on, in the unit of what is measured.
            falls_to: the share of its peak at which it has ended, 0..1.
        """
        self._up, self._falls_to = up, falls_to
        self._peak = self._low = 0.0

    def update(self, activity: float) -> bool:
        """Return whether it has ended in the frame of this activity."""
        if self._peak:
            self._peak = max(self._peak, activity)
            if activity <= self._falls_to * self._peak:
                self._peak, self._low = 0.0, activity
                return True
            return False
        self._low = min(self._low, activity)
        if activity > self._up and activity * self._falls_to >= self._low:
            self._peak = activity
        return False

    def forget(self) -> None:
        """Forget what was going on."""
        self._peak = self._low = 0.0


class EventDetector:
    """The events of one episode, frame by frame, in bounded memory."""

    def __init__(self, settings: EventSettings | None = None) -> None:
        """Begin to look for events.

        Args:
            settings: None for those that come with the stack.
        """
        known = settings or EventSettings()
        self._settings = known
        self._tool, self._fingers = ValueChange(_length, MOTION_S), ValueChange(_length, MOTION_S)
        self._scene = ValueChange(_largest, SCENE_S)
        self._slows = Ending(known.tool, known.motion_falls_to)
        self._grips = Ending(known.fingers, known.motion_falls_to)
        self._settles = Ending(known.scene, known.scene_falls_to)
        self._last_ns: int | None = None

    def update(
        self, stamp_ns: int, tool: NDArray[np.float64], opening: float, picture: Callable[[], NDArray[np.uint8]]
    ) -> tuple[str, ...]:
        """Take in the next frame and return what has ended in it, of `ARM`, `GRIPPER` and `SCENE`; mostly nothing.

        Args:
            stamp_ns: of the frame; one that is not later than the last says nothing.
            tool: (3,) m, finite.
            opening: of the gripper, m, finite.
            picture: gives it, (H, W, 3) RGB; asked for while the robot rests alone.
        """
        if self._last_ns is not None and stamp_ns <= self._last_ns:
            return ()
        self._last_ns = stamp_ns
        moved, took_s = self._tool.update(stamp_ns, tool)
        opened, _ = self._fingers.update(stamp_ns, np.array([opening]))
        speed, closing = moved / took_s, opened / took_s
        ended = {ARM: self._slows.update(speed), GRIPPER: self._grips.update(closing)}
        if speed > self._settings.rest or closing > self._settings.fingers:
            self._scene.forget()  # what the robot does itself changes the picture too
            self._settles.forget()
        else:
            changed, _ = self._scene.update(stamp_ns, _blocks(picture()))
            ended[SCENE] = self._settles.update(changed)
        return tuple(name for name, has in ended.items() if has)


def _length(now: Numbers, then: Numbers) -> float:
    return float(np.linalg.norm(now - then))


def _largest(now: Numbers, then: Numbers) -> float:
    return float(np.abs(now - then).max()) if now.shape == then.shape else 0.0


def _blocks(picture: NDArray[np.uint8]) -> Numbers:
    """Return its mean colors, (BLOCKS, BLOCKS, 3) float32."""
    small = cv2.resize(picture, (BLOCKS, BLOCKS), interpolation=cv2.INTER_AREA)
    return small.astype(np.float32)
