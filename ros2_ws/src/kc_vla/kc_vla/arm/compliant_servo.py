"""A servo whose arm can be made compliant: led by hand, or soft on its way. Every stop and fault ends that."""

from __future__ import annotations

from kc_vla.arm.compliance import Compliance, compliance_of
from kc_vla.arm.interface import ArmError, ArmState, MovableArm
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import Mode, ServoSettings
from kc_vla.arm.set_points import RefusedSetPointError
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import Robot, Vector


class CompliantServo(Servo):
    """The control loop of one arm, with the mode `compliance` where the arm has it."""

    def __init__(self, arm: MovableArm, settings: ServoSettings, workspace: Workspace, robot: Robot) -> None:
        """Prepare a blocked servo, see `Servo`.

        Args:
            arm: arm of N joints, connected.
            settings: periods and limits.
            workspace: box in the base frame that the flange must not leave.
            robot: robot file of the arm, with the gains and the URDF that has the inertias.

        Raises:
            ArmError: The limits of the arm leave a joint no motion.
        """
        super().__init__(arm, settings, workspace)
        self._never = ""
        self._soft: Compliance | None = None
        try:
            self._soft = compliance_of(arm, robot, workspace, settings)
        except ArmError as error:  # what an arm without this mode can do else, it does
            self._never = str(error)

    @property
    def is_compliant(self) -> bool:
        """Return whether the joints are springs, or on their way to be."""
        return self._soft is not None and self._soft.active

    def comply(self, now: float, guides: bool) -> None:
        """Make the joints springs and dampers, because a person has said so.

        Args:
            now: Steady time, s.
            guides: Whether the arm goes where a hand leads it. Otherwise it follows its targets, softly.

        Raises:
            ArmError: The arm has no such mode, is blocked or moves by itself; the text says what to do.
        """
        if self._soft is None:
            raise ArmError(f"not compliant: {self._never}")
        if self._mode not in (Mode.HOLD, Mode.FOLLOW, Mode.GUIDE):
            raise ArmError(f"not compliant: the arm does this: {self._mode}: {self._reason}")
        state = self._arm.read_state()
        if trouble := self._checks.trouble(state) or self._outside.advice:
            raise ArmError(f"not compliant: {trouble}")
        self._soft.begin(state, now, guides)
        self._begin_at(state.angles)
        self._mode, self._reason = (Mode.GUIDE, "led by hand") if guides else (Mode.HOLD, "holds softly")

    def stiffen(self, reason: str, state: ArmState | None = None) -> None:
        """End `comply`, and hold where the arm is; nothing happens to an arm that is not compliant.

        An arm that was pushed out of its joint limits is blocked: only `resume` leads it back inside.

        Args:
            reason: Text that the reports carry from now on.
            state: State of the arm; None: it is read.
        """
        if self._soft is None or not self._soft.active:
            return
        self._soft.end()
        state = state or self._arm.read_state()
        if self._checks.is_lost(state):  # it hangs on its springs; where it is will be known when it is resumed
            self._mode, self._reason, self._mute, self._blocked_at = Mode.BLOCKED, reason, True, state.gripper
            return
        self._begin_at(state.angles)
        if self._outside.look(state.angles):  # it was pushed there
            self._mode, self._reason, self._blocked_at = (
                Mode.BLOCKED,
                f"{reason}; {self._outside.advice}",
                state.gripper,
            )
        else:
            self._mode, self._reason = Mode.HOLD, reason

    def halt(self, reason: str) -> None:
        """Make the arm stiff, and come to rest, see `Servo.halt`."""
        self.stiffen(reason)
        super().halt(reason)

    def park(self, now: float) -> None:
        """Make the arm stiff, and set out for the home pose, see `Servo.park`."""
        self.stiffen("about to park")
        super().park(now)

    def _send(self, set_point: Vector, state: ArmState) -> Vector:
        """Send a set-point (N,), rad, or the impedance command in its place; return where the springs are fixed."""
        if self._soft is None or not self._soft.active:
            return super()._send(set_point, state)
        command = self._soft.next(state, set_point, self._gripper)
        if self._steps % self._settings.command_every == 0:
            try:
                self._guard.send_impedance(command)
            except RefusedSetPointError:  # a person who resumes the arm has not asked for compliance
                self._soft.end()
                raise
        return command.angles

    def _strayed(self, state: ArmState, now: float) -> str:
        """Return why the arm is not where it was sent, or why the compliance has to end.

        That blocks the arm: a policy that goes on must not move it stiffly while a hand is still at it.
        """
        if self._soft is not None and self._soft.active and (ended := self._soft.ends(state, now)):
            return f"compliance has ended: {ended}"
        return "" if self._mode is Mode.GUIDE else super()._strayed(state, now)

    def _block(self, state: ArmState, trouble: str) -> None:
        self.stiffen(trouble, state)
        super()._block(state, trouble)
