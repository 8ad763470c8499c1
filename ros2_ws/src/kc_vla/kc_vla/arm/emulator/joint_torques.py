"""The joints of an emulated Piper in its MIT mode: torques of motors, gravity and a hand move them, with friction.

The inertias are those of the robot's URDF. Friction, inertia of the rotors and torque of the motors are assumptions:
nobody has measured them on this arm.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kc_vla.arm.dynamics import ArmDynamics
from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.compliance import Payload
from kc_vla.core.inertia import read_inertia
from kc_vla.core.robot import Robot, Vector

COULOMB = np.array([0.5, 0.5, 0.5, 0.15, 0.15, 0.1])
"""Friction of a joint that turns, and the torque that a standing one bears, N m."""
VISCOUS = np.array([0.3, 0.3, 0.3, 0.05, 0.05, 0.05])
"""N m s/rad."""
ROTORS = np.array([0.02, 0.02, 0.02, 0.005, 0.005, 0.005])
"""Inertia of the rotors behind their gears, kg m2."""
MOST_TORQUE = np.array([21.0, 21.0, 21.0, 8.0, 8.0, 8.0])
"""Largest torque of the motors, N m."""
_STEP_S = 1e-3
_SWEEPS = 4
"""Passes in which the friction of each joint takes the others into account."""


def _none() -> Vector:
    return np.zeros(6)


@dataclass(eq=False)
class MotorCommands:
    """The last command of the motor drivers: torque = stiffness (angle - q) + damping (speed - v) + torque, all (6,).

    A driver without a command in this mode gives no torque.
    """

    angles: Vector = field(default_factory=_none)
    speeds: Vector = field(default_factory=_none)
    stiffness: Vector = field(default_factory=_none)
    damping: Vector = field(default_factory=_none)
    torques: Vector = field(default_factory=_none)

    def motor_torques(self, angles: Vector, speeds: Vector) -> Vector:
        """Return what the motors give at joint angles (6,), rad, and speeds (6,), rad/s, N m."""
        spring, damper = self.stiffness * (self.angles - angles), self.damping * (self.speeds - speeds)
        return np.clip(spring + damper + self.torques, -MOST_TORQUE, MOST_TORQUE)


class JointTorques:
    """Turns torques into motion.

    Attributes:
        hand: torque of a person's hand on each joint (6,), N m.
        payload: what the flange carries, whatever the robot file says.
    """

    def __init__(self, robot: Robot) -> None:
        """Args: `robot`: whose links these are. Raises: RobotError: its inertias are not known."""
        self._kinematics, self._inertia = Kinematics(robot.links_of("")), read_inertia(robot)
        self._limits, self._down = robot.limits, robot.down
        self.hand: Vector = np.zeros(len(robot.joints))
        self.payload = Payload()

    def step(
        self, angles: Vector, speeds: Vector, commands: MotorCommands, powered: NDArray[np.bool_], seconds: float
    ) -> tuple[Vector, Vector]:
        """Return angles (6,), rad, and speeds (6,), rad/s, after some milliseconds; joints without power are free."""
        dynamics = ArmDynamics(self._kinematics, self._inertia, self.payload, self._down)
        gravity = dynamics.gravity(angles)
        inertia = dynamics.mass_matrix(angles) + np.diag(ROTORS)
        count = max(1, round(seconds / _STEP_S))
        pause = seconds / count
        inverse: Vector = np.linalg.inv(inertia + pause * np.diag(VISCOUS)).astype(float)
        for _ in range(count):
            torques = np.where(powered, commands.motor_torques(angles, speeds), 0.0) + self.hand - gravity
            free = np.asarray(inverse @ (inertia @ speeds + pause * torques), float)
            speeds = _with_friction(free, inverse, pause * COULOMB)
            onward = angles + pause * speeds
            angles = np.clip(onward, self._limits.lowest, self._limits.highest)
            speeds = np.where(angles == onward, speeds, 0.0)  # against the end of its range a joint stands
        return angles, speeds


def _with_friction(free: Vector, inverse: Vector, most: Vector) -> Vector:
    """Return the speeds (N,), rad/s, that friction leaves: each joint is braked to a stand, or by the most there is.

    Args:
        free: speeds without friction (N,), rad/s.
        inverse: inverse of the inertia (N, N).
        most: impulse of friction (N,), N m s.
    """
    speeds, impulses = free.copy(), np.zeros(len(free))
    for _ in range(_SWEEPS):
        for k in range(len(free)):
            wanted = impulses[k] - speeds[k] / inverse[k, k]
            braked = min(max(wanted, -most[k]), most[k])
            speeds += inverse[:, k] * (braked - impulses[k])
            impulses[k] = braked
    return speeds
