"""An arm with the emulated Piper's body whose time passes only when the test says so."""

from kc_vla.arm.emulator.body import Body
from kc_vla.arm.interface import ArmState
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import Mode
from kc_vla.core.robot import Vector
from tests.support.piper import HIGHEST, LIMITS, LOWEST, PIPER, REST

_ENOUGH = 10


def power(servo: Servo, until: float, period: float) -> None:
    """Have the servo give its arm power and hold, in the control periods before `until`, s."""
    begun = until - _ENOUGH * period
    servo.resume(begun)
    for k in range(_ENOUGH):
        servo.step(begun + k * period)
    assert servo.mode is Mode.HOLD


class SteppedArm:
    """See the module.

    Attributes:
        body: its joints.
        sent: all angles it was sent.
        gripper: that it was told last; `between` its fingers is something so wide, m.
        age, in_command_mode, faults, doubt, own_stop: what it tells of itself.
    """

    def __init__(self) -> None:
        self.limits, self.home_pose, self.has_brakes = LIMITS, REST, False
        self.body = Body(PIPER)
        self.gripper = self.between = 0.0
        self.sent: list[Vector] = []
        self.age, self.in_command_mode, self.faults, self.doubt, self.own_stop = 0.0, True, (), "", ""

    def enable(self) -> None:
        """In place."""
        if not self.body.powered.all():
            self.body.targets = self.body.angles.copy()
        self.body.powered[:] = True

    def read_state(self) -> ArmState:
        """What it tells of itself."""
        body = self.body
        return ArmState(
            age=self.age,
            angles=body.angles.copy(),
            speeds=body.speeds.copy(),
            gripper=max(self.gripper, self.between),
            powered=body.powered.copy(),
            in_command_mode=self.in_command_mode,
            faults=self.faults,
            doubt=self.doubt,
            own_stop=self.own_stop,
        )

    def set_target(self, angles: Vector, gripper: float) -> None:
        """Go there."""
        assert ((angles >= LOWEST) & (angles <= HIGHEST)).all()  # false for what is no number, too
        self.sent.append(angles.copy())
        self.body.targets, self.gripper = angles.copy(), gripper

    def disable(self) -> None:
        """Let go."""
        self.body.powered[:] = False

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self.body.step(seconds, 1.0)
