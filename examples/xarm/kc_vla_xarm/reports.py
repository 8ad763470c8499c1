"""What the control box of an xArm sends by itself: joints 100 times a second, and which motors have power.

The frames are read here and not by the SDK. While an error code is 1 to 17, which a pressed emergency stop is, the SDK
keeps the joint angles of before the error and returns them as those of now. It does not say how old they are, and
before its first report it has motor states of -1, which count as true.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

JOINTS_PORT, MOTORS_PORT = 30003, 30002
_SIZE = struct.Struct(">I")
_STATE, _ANGLES, _BRAKES, _ENABLED = 4, slice(7, 35), 87, 88
_MOST = 4096
_WINDOW_S = 0.04
"""Over so long velocities are measured: an encoder's step is not one."""
_TIMEOUT_S = 1.0
_RETRY_S = 0.2


@dataclass(frozen=True, eq=False)
class Joints:
    """A report of the joints.

    Attributes:
        came_at: steady time, s.
        state, mode: of the controller, in the vendor's numbers.
        angles: of 7 joints, rad; those that the arm does not have are 0.
        speeds: of them, rad/s.
    """

    came_at: float
    state: int
    mode: int
    angles: NDArray[np.float64]
    speeds: NDArray[np.float64]

    @property
    def age(self) -> float:
        """Seconds since it came."""
        return time.monotonic() - self.came_at


class Stream:
    """Takes frames from a port in a thread; opens the connection again whenever it is lost."""

    def __init__(self, address: str, port: int, least: int, take: Callable[[bytes], None]) -> None:
        """Begin. Args: `least` bytes that a frame has; `take` is called with each, from the thread."""
        self._where, self._least, self._take = (address, port), least, take
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"xarm {port}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no more."""
        self._ended.set()
        self._thread.join(2 * _TIMEOUT_S)

    def _run(self) -> None:
        while not self._ended.is_set():
            with suppress(OSError):
                self._read()
            self._ended.wait(_RETRY_S)

    def _read(self) -> None:
        with socket.create_connection(self._where, _TIMEOUT_S) as line:
            line.settimeout(_TIMEOUT_S)
            buffer = b""
            while not self._ended.is_set():
                if not (data := line.recv(_MOST)):
                    return
                buffer += data
                while len(buffer) >= _SIZE.size:
                    (size,) = _SIZE.unpack_from(buffer)
                    if not self._least <= size <= _MOST:
                        return  # out of step: begin anew
                    if len(buffer) < size:
                        break
                    self._take(buffer[:size])
                    buffer = buffer[size:]


class Reports:
    """The latest of each report.

    Attributes:
        joints: None before the first.
        powered: which of 7 motors are enabled with their brakes open.
        powered_at: steady time of that, s.
    """

    def __init__(self, address: str, port_offset: int) -> None:
        """Begin to listen."""
        self.joints: Joints | None = None
        self.powered, self.powered_at = np.zeros(7, bool), -np.inf
        self._recent: deque[tuple[float, NDArray[np.float64]]] = deque(maxlen=64)
        self._streams = (
            Stream(address, JOINTS_PORT + port_offset, 87, self._take_joints),
            Stream(address, MOTORS_PORT + port_offset, 91, self._take_motors),
        )

    def close(self) -> None:
        """Listen no more."""
        for stream in self._streams:
            stream.close()

    def _take_joints(self, frame: bytes) -> None:
        now, angles = time.monotonic(), np.array(struct.unpack("<7f", frame[_ANGLES]))
        if not np.isfinite(angles).all():
            return  # the last one grows old, which is noticed
        while self._recent and now - self._recent[0][0] > _WINDOW_S:
            self._recent.popleft()
        speeds = np.zeros(7)
        if self._recent and now - self._recent[0][0] > _WINDOW_S / 4:
            then, before = self._recent[0]
            speeds = (angles - before) / (now - then)
        self._recent.append((now, angles))
        self.joints = Joints(now, frame[_STATE] & 0x0F, frame[_STATE] >> 4, angles, speeds)

    def _take_motors(self, frame: bytes) -> None:
        both = frame[_BRAKES] & frame[_ENABLED]
        self.powered = np.array([bool(both >> joint & 1) for joint in range(7)])
        self.powered_at = time.monotonic()
