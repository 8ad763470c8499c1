"""The arm that a third-party driver moves: it takes that driver's joint states, and sends positions over a line."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from kc_vla.arm.interface import ArmError, ArmState, require_target
from kc_vla.arm.joint_intake import JointIntake, MeasuredJoints
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.last_words import TOLD_TO_LET_GO
from kc_vla.core.robot import Robot, Vector
from kc_vla.core.robot_interface import RobotInterface

_POLL_S = 0.02
_ASK_AGAIN_S = 0.5
"""Seconds between two requests to enable the arm: some drivers move their gripper with each."""
_SETTLE_S = 1.0
"""Seconds that joints may take to be enabled by a driver that does not tell when they have."""

Take = Callable[[Sequence[str], Sequence[float], Sequence[float], int, int, float], None]
"""What takes a message of joint states: `JointIntake.take`."""


class Line(Protocol):
    """What carries messages to a driver and back."""

    def open(self, take: Take) -> None:
        """Begin to listen, and call `take` with every joint state, from another thread."""
        ...

    def send(self, names: Sequence[str], positions: Sequence[float], gripper: bool) -> None:
        """Send positions to joints, or to the gripper on its own topic.

        Args:
            names: of the joints, as the driver has them.
            positions: in the driver's units.
            gripper: send them on the gripper's own topic.
        """
        ...

    def switch(self, on: bool) -> None:
        """Ask the driver to enable the arm, or to disable it."""
        ...

    def deaf(self) -> tuple[str, ...]:
        """Return the topics of commands that have no subscriber."""
        ...

    def rivals(self) -> tuple[str, ...]:
        """Return the topics of commands on which others publish, too."""
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


class ForeignArm:
    """An arm that a third-party driver moves, as the `ArmDriver` of the control process.

    The limits of the robot file count; limits that the third-party driver may have of its own are never read.
    """

    firmware = ""
    has_brakes = False
    warnings: tuple[str, ...] = ()

    def __init__(self, robot: Robot, interface: RobotInterface, line: Line, patience: float = 3.0) -> None:
        """Prepare; `connect` begins.

        Args:
            robot: robot to move.
            interface: topics, names and units by which the driver moves it.
            line: connection to the driver.
            patience: s that the driver may take to answer.
        """
        self._robot, self._interface, self._line, self._patience = robot, interface, line, patience
        self.limits, self.home_pose, self.kinematics = robot.limits, robot.rest, Kinematics(robot.links_of(""))
        self.shutdown_message = TOLD_TO_LET_GO if interface.has_switch else ""
        self._intake = JointIntake(interface, robot)
        self._at = robot.rest
        self._switched_on_at: float | None = None
        self._asked_at = -np.inf
        self._off = False

    def connect(self) -> None:
        """Wait for the joint states of the driver.

        Raises:
            ArmError: another process controls this arm, or nothing usable comes; the claim is released again.
        """
        try:
            self._line.open(self._intake.take)
            self._wait()
        except ArmError:
            self.close()
            raise

    def check_identity(self) -> None:
        """Accept every arm, because a third-party driver reports its joints' names but not its model."""

    def may_be_enabled(self) -> bool:
        """Return True, because no third-party driver reports that its motors are disabled."""
        return True

    def enable(self) -> None:
        """Ask the driver to enable the arm where it has a switch for that, and repeat the request now and then."""
        now = time.monotonic()
        if self._interface.has_switch and now - self._asked_at > _ASK_AGAIN_S:
            self._asked_at = now
            self._line.switch(True)
            self._off = False
            self._switched_on_at = self._switched_on_at or now

    def read_state(self) -> ArmState:
        """Return the latest measured state, in which the driver's silence and refused messages are faults."""
        now = time.monotonic()
        felt = self._intake.felt(now)
        self._at = felt.angles
        deaf = self._line.deaf()
        settled = self._switched_on_at is not None and now - self._switched_on_at > _SETTLE_S
        return ArmState(
            age=felt.age,
            angles=felt.angles,
            speeds=felt.speeds,
            gripper=felt.share * self._robot.opening,
            powered=np.full(len(felt.angles), not self._off),
            in_command_mode=not deaf and (settled or not self._interface.has_switch),
            faults=(*felt.faults, *self._faults(deaf)),
            line=felt.refusal or f"nothing comes on {self._interface.state}: does its driver run?",
            doubt=felt.doubt,
        )

    def set_target(self, angles: Vector, gripper: float) -> None:
        """Publish a target to the driver in its own units, with the gripper in the same or in a separate message.

        Args:
            angles: of the joints (N,), rad.
            gripper: opening, m; a wider or narrower one is clipped.

        Raises:
            ValueError: the target is not finite or out of the limits; nothing is published.
        """
        require_target(angles, gripper, self.limits, self._at)
        interface = self._interface
        positions = (np.asarray(angles, float) / interface.radians).tolist()
        share = float(np.clip(gripper / self._robot.opening, 0.0, 1.0))
        finger = interface.gripper.position(share)
        if interface.gripper.command:
            self._line.send(interface.joints, positions, gripper=False)
            self._line.send((interface.gripper.joint,), (finger,), gripper=True)
        else:
            self._line.send((*interface.joints, interface.gripper.joint), (*positions, finger), gripper=False)

    def disable(self) -> None:
        """Ask the driver to disable the arm, if the driver has a switch that can enable it again."""
        if self._interface.has_switch and not self._off:
            self._line.switch(False)
            self._off, self._switched_on_at = True, None

    def close(self) -> None:
        """Close the line to the driver."""
        self._line.close()

    def reset(self) -> None:
        """Refuse to reset: only the arm's own driver or pendant can do that.

        Raises:
            ArmError: always; the text says what to do.
        """
        raise ArmError("not reset: this arm is reset by its own driver or pendant; then call arm/resume")

    def reconnect(self) -> None:
        """Do nothing, because the middleware finds a driver again by itself."""

    def diagnostics(self) -> dict[str, object]:
        """Return the kind of driver and the state of its joint states for the diagnostics."""
        felt = self._intake.felt(time.monotonic())
        return {"driver": str(self._interface.kind), "driver/joint_states": felt.refusal or "ok"}

    def _faults(self, deaf: tuple[str, ...]) -> tuple[str, ...]:
        unheard = [f"nobody listens on {topic}: is its controller active?" for topic in deaf]
        return (*unheard, *(f"another program tells the arm on {topic}: end it" for topic in self._line.rivals()))

    def _wait(self) -> None:
        until = time.monotonic() + self._patience
        while trouble := self._missing(self._intake.felt(time.monotonic())):
            if time.monotonic() > until:
                raise ArmError(trouble)
            time.sleep(_POLL_S)

    def _missing(self, felt: MeasuredJoints) -> str:
        if not np.isfinite(felt.age):
            return felt.refusal or self._intake.untold()
        if deaf := self._line.deaf():
            return f"nobody listens on {deaf[0]}: is its controller active?"
        return "; ".join(felt.faults)
