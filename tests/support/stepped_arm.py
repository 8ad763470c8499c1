"""An arm with the emulated Piper's body whose time passes only when the test says so."""

from kc_vla.arm.emulator.body import Body
from kc_vla.arm.interface import ArmError, ArmState, JointLimits, Vector
from kc_vla.arm.piper_limits import HIGHEST, LOWEST, REST, TOP_SPEED


class SteppedArm:
    """See the module.

    Attributes:
        body: its joints.
        sent: all angles it was sent.
        age, obeys, faults: what it tells of itself.
    """

    def __init__(self) -> None:
        self.limits, self.rest = JointLimits(LOWEST, HIGHEST, TOP_SPEED), REST
        self.body = Body()
        self.gripper = 0.0
        self.sent: list[Vector] = []
        self.age, self.obeys, self.faults = 0.0, True, ()

    def enable(self) -> None:
        """Give power in place."""
        if self.faults:
            raise ArmError("the arm is not enabled")
        if not self.body.powered.all():
            self.body.targets = self.body.angles.copy()
        self.body.powered[:] = True

    def read(self) -> ArmState:
        """What it tells of itself."""
        body = self.body
        return ArmState(
            self.age, body.angles.copy(), body.speeds.copy(), self.gripper, body.powered.copy(), self.obeys, self.faults
        )

    def command(self, angles: Vector, gripper: float) -> None:
        """Go there."""
        assert ((angles >= LOWEST) & (angles <= HIGHEST)).all()  # false for what is no number, too
        self.sent.append(angles.copy())
        self.body.targets, self.gripper = angles.copy(), gripper

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self.body.step(seconds, 1.0)
