"""The robot: observations come from a running stack, and actions go through the stack's limits."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

import numpy as np
from lerobot.robots import Robot
from lerobot.utils.errors import DeviceAlreadyConnectedError, DeviceNotConnectedError

from kc_vla.policy.driven.client import ExternalClient
from kc_vla.policy.driven.client import RobotInfo as Driven
from kc_vla.policy.driven.wire import ExternalWireError
from lerobot_robot_kc_vla.config_kc_vla import KcVlaConfig

_AGAIN_S = 0.5


class KcVla(Robot):
    """A robot of a stack that was started with `policy:=driven`.

    Calibration, limits and cameras are the stack's. Once a control step something new is seen: a loop at the control
    rate, `--dataset.fps`, goes in step with the robot.
    """

    config_class = KcVlaConfig
    name = "kc_vla"

    def __init__(self, config: KcVlaConfig) -> None:
        super().__init__(config)
        self.config = config
        self._driver: ExternalClient | None = None

    @cached_property
    def _robot(self) -> Driven:
        """What is driven, asked once: LeRobot wants to know what it will see before it connects."""
        driver, robot = self._reached()
        driver.close()
        return robot

    @property
    def cameras(self) -> dict[str, tuple[int, int]]:
        """The views, of which LeRobot asks how many there are."""
        return self._robot.views

    @property
    def observation_features(self) -> dict[str, Any]:
        """Each number of the state, and height, width and colors of each view."""
        views = {view: (*size, 3) for view, size in self._robot.views.items()}
        return {**dict.fromkeys(self._robot.state, float), **views}

    @property
    def action_features(self) -> dict[str, Any]:
        """Each number of an action."""
        return dict.fromkeys(self._robot.action, float)

    @property
    def is_connected(self) -> bool:
        """Whether the stack is driven from here."""
        return self._driver is not None

    def connect(self, calibrate: bool = True) -> None:
        """Begin to drive; ExternalWireError where no stack listens, or another program drives it."""
        if self._driver is not None:
            raise DeviceAlreadyConnectedError(f"{self} is connected already")
        self._driver, robot = self._reached()
        if robot != self._robot:
            self.disconnect()
            raise DeviceNotConnectedError(f"another robot than before is at {self.config.socket}: begin anew")

    @property
    def is_calibrated(self) -> bool:
        """The stack's affair."""
        return True

    def calibrate(self) -> None:
        """Nothing: `kc-vla calibrate` does it."""

    def configure(self) -> None:
        """Nothing: the stack has configured the arm."""

    def get_observation(self) -> dict[str, Any]:
        """The newest moment; DeviceNotConnectedError where the stack goes on no more."""
        sight = self._connected().look(self.config.stale_after)
        if sight.age > self.config.stale_after:
            raise DeviceNotConnectedError(
                f"the stack has asked for nothing for {sight.age:.1f} s: has its episode ended, or is it stopped?"
            )
        return {**dict(zip(self._robot.state, sight.state.tolist(), strict=True)), **sight.views}

    def send_action(self, action: dict[str, Any]) -> dict[str, Any]:
        """Have it done, and return it: where the stack's limits cut it, its diagnostics say so."""
        values = np.array([float(action[name]) for name in self._robot.action])
        self._connected().act(values)
        return dict(zip(self._robot.action, values.tolist(), strict=True))

    def disconnect(self) -> None:
        """Drive no more: the arm holds."""
        self._connected().close()
        self._driver = None

    def _reached(self) -> tuple[ExternalClient, Driven]:
        """The stack, as soon as an episode runs there; ExternalWireError where that takes too long."""
        last = time.monotonic() + self.config.wait
        while True:
            driver = None
            try:
                driver = ExternalClient(self.config.socket, self.config.timeout)
                return driver, driver.about()
            except ExternalWireError:
                if driver is not None:
                    driver.close()
                if time.monotonic() > last:
                    raise
                time.sleep(_AGAIN_S)

    def _connected(self) -> ExternalClient:
        if self._driver is None:
            raise DeviceNotConnectedError(f"{self} is not connected: call connect() first")
        return self._driver
