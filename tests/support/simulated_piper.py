"""An emulated Piper with a body at a table, moved through the vendor's SDK."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.emulator.process import main as emulate
from kc_vla.arm.interface import ArmState
from kc_vla.arm.inverse import joints_for
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.remote import Remote
from kc_vla_sim.piper.body import FollowingBody
from kc_vla_sim.piper.table import PiperTable
from tests.support.piper import KINEMATICS, LIMITS, PIPER, REST

_PATIENCE_S = 30.0
_POLL_S = 0.01
_TIP_M = 0.125
"""From the flange to the place between the fingers."""
_FORWARD = np.array([0.0, 1.4, -1.2, 0.0, 1.0, 0.0])


class SimulatedPiper:
    """An arm that moves as the SDK says, while `until` or `wait` serves its body."""

    def __init__(self, path: Path, table: PiperTable, seed: int = 0) -> None:
        self._path, self.table, self._seed = path, table, seed

    def __enter__(self) -> SimulatedPiper:
        """Connect and enable it, with the table as the seed has it."""
        self._emulator = Remote(emulate)
        try:
            self._emulator.start("the emulated arm", print, "begin", str(self._path), PIPER)
            self._body = FollowingBody(self.table, lambda body: self._emulator.tell("touch", body))
            self._body.begin(self._seed, REST)
            self.arm = PiperArm(PIPER, str(self._path), INTERFACE, patience=_PATIENCE_S)
            self.arm.connect()
        except BaseException:
            self._emulator.close()
            raise
        self.until(self._enabled)
        return self

    def __exit__(self, *error: object) -> None:
        """Take it away."""
        self.arm.close()
        self._emulator.close()

    @property
    def state(self) -> ArmState:
        """What the SDK reads."""
        return self.arm.read_state()

    def until(self, done: Callable[[], object]) -> None:
        """Serve the body until `done()`; fail if that takes too long."""
        end = time.monotonic() + _PATIENCE_S
        while not done():
            assert time.monotonic() < end, "waited in vain"
            if views := self._emulator.look():
                self._body.see(views)
            self._body.catch_up()
            time.sleep(_POLL_S)

    def wait(self, seconds: float) -> None:
        """Serve the body for a while."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end)

    def wait_until_it_rests(self) -> None:
        """Serve the body until it has stood still for half a second."""
        before = self.table.angles
        since = time.monotonic()

        def rests() -> bool:
            nonlocal before, since
            if np.abs(self.table.angles - before).max() > 1e-3:
                before, since = self.table.angles, time.monotonic()
            return time.monotonic() > since + 0.5

        self.until(rests)

    def move(self, angles: ArrayLike, gripper: float) -> None:
        """Go to joint angles (6,), rad, and a gripper width, m, and wait until the arm reports that it rests."""
        target = np.asarray(angles, float)
        before = [self.state]

        def rests() -> bool:
            self.arm.set_target(target, gripper)
            last, before[0] = before[0], self.state
            still = np.abs(last.angles - before[0].angles).max() < 2e-4 and abs(last.gripper - before[0].gripper) < 1e-4
            return bool(still and np.abs(before[0].angles - target).max() < 2e-3)

        self.until(rests)
        self.wait(0.5)  # the fingers may still be on their way

    def follow(self, path: Iterable[ArrayLike], gripper: float, period: float) -> None:
        """Go along joint angles (6,), rad, one each `period`, s, with one gripper width, m."""
        for angles in path:
            self.arm.set_target(np.asarray(angles, float), gripper)
            self.wait(period)

    def _enabled(self) -> bool:
        self.arm.enable()
        return bool(self.state.powered.all()) and self.state.in_command_mode


def reaching_down(place: ArrayLike, yaw: float, tilt: float = 0.4) -> NDArray[np.float64]:
    """Return joint angles (6,), rad, with the place between the fingers at `place`.

    Args:
        place: x, y, z in the base frame, m.
        yaw: of the line between the fingers from the base's y axis, rad.
        tilt: of the hand away from the vertical, its fingers forward, rad.
    """
    pose = np.eye(4)
    pose[:3, :3] = (Rotation.from_euler("z", yaw) * Rotation.from_euler("y", -tilt)).as_matrix() @ np.diag([-1, 1, -1])
    pose[:3, 3] = np.asarray(place) - _TIP_M * pose[:3, 2]
    return joints_for(pose, _FORWARD, LIMITS, KINEMATICS)
