"""A stepped arm that takes impedance commands: torques, friction and a hand move its joints."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kc_vla.arm.compliant_servo import CompliantServo
from kc_vla.arm.emulator.joint_torques import MotorCommands
from kc_vla.arm.interface import ArmState, Impedance
from kc_vla.arm.servo_modes import Mode, Report, ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.core.compliance import Payload
from kc_vla.core.robot import Robot, Vector
from tests.support.piper import KINEMATICS, PIPER
from tests.support.stepped_arm import SteppedArm, power

SETTINGS = ServoSettings()
WORKSPACE = Workspace(KINEMATICS)


class SoftArm(SteppedArm):
    """An arm of torques.

    Attributes:
        springs: all angles at which its springs were fixed.
        most_torque: that it allows, N m.
        silent: no state of it comes, and no command reaches it.
    """

    def __init__(self, most_torque: float = 16.0) -> None:
        super().__init__()
        self.springs: list[Vector] = []
        self.most_torque, self.silent = most_torque, False

    @property
    def is_soft(self) -> bool:
        """Whether it follows impedance commands."""
        return self.body.commands is not None

    def read_state(self) -> ArmState:
        """What it tells of itself."""
        return replace(super().read_state(), impedance=self.is_soft)

    def set_target(self, angles: Vector, gripper: float) -> None:
        """Go there, stiffly."""
        super().set_target(angles, gripper)
        self.body.commands = None

    def torque_limits(self) -> Vector:
        """Of a command."""
        return np.full(6, self.most_torque)

    def set_impedance(self, impedance: Impedance) -> None:
        """Become springs and dampers."""
        assert np.isfinite(impedance.torques).all()
        self.springs.append(impedance.angles.copy())
        self.body.commands = MotorCommands(
            impedance.angles.copy(),
            impedance.velocities.copy(),
            impedance.stiffness.copy(),
            impedance.damping.copy(),
            impedance.torques.copy(),
        )

    def push(self, torques: Vector) -> None:
        """Let a hand push the joints, N m, until it pushes otherwise."""
        self.body.dynamics.hand = np.array(torques, float)

    def carry(self, mass: float) -> None:
        """Hang a thing of that mass, kg, at the flange."""
        self.body.dynamics.payload = Payload(mass)


class SoftHarness:
    """A servo, its soft arm and a clock.

    Attributes:
        arm: the arm.
        servo: its servo.
        reports: of all control periods.
        heights: of the flange after each of them, m.
    """

    def __init__(self, angles: Vector, arm: SoftArm | None = None, robot: Robot = PIPER) -> None:
        """Power the arm at `angles` (N,), rad."""
        self.arm = arm or SoftArm()
        self.arm.body.angles = np.array(angles, float)
        self.servo = CompliantServo(self.arm, SETTINGS, WORKSPACE, robot)
        self.now = 100.0
        self.reports: list[Report] = []
        self.heights: list[float] = []
        self.fastest = 0.0
        power(self.servo, self.now, SETTINGS.period)

    def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> Report:
        """Let time pass, until something is true."""
        report = self.servo.step(self.now)
        for _ in range(max(1, round(seconds / SETTINGS.period))):
            self.now += SETTINGS.period
            report = self.servo.step(self.now)
            self.arm.pass_time(SETTINGS.period)
            self.reports.append(report)
            self.heights.append(float(KINEMATICS.flange(self.arm.body.angles)[2, 3]))
            self.fastest = max(self.fastest, float(np.abs(self.arm.body.speeds).max()))
            if until():
                break
        return report

    def comply(self, guides: bool = True) -> None:
        """Make it compliant, and wait until it is."""
        self.servo.comply(self.now, guides)
        self.run(0.1, lambda: self.arm.is_soft and self.reports[-1].state.impedance)
        assert self.reports[-1].compliant

    @property
    def mode(self) -> Mode:
        """What the servo does."""
        return self.servo.mode
