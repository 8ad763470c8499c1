"""A UFACTORY xArm in servo mode: joint states from its stream, set-points through the SDK, all that waits in a thread.

The SDK has two connections. One sends set-points and nothing else, so that nothing makes one wait. The other one
enables, disables, resets, moves the gripper and asks for errors, in a thread of its own: each of its calls may take
seconds, and the control loop has milliseconds.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.arm.interface import ArmError, ArmState, UnfitArmError, require_target
from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import Robot, Vector
from kc_vla_xarm import vendor
from kc_vla_xarm.reports import JOINTS_PORT, Joints, Reports
from kc_vla_xarm.row import XArmOptions

SERVO_MODE = 1
"""The controller follows the latest set-point at once, without planning a way."""
_MOVES = (0, 1, 2)
"""States of the controller in which it takes set-points: ready, moving, standing."""
_STATES = {3: "paused", 4: "stopped", 5: "stopped by a change of its mode", 6: "stopping"}
_BUTTONS = (1, 2, 3)
"""Error codes of emergency stops that people press."""
_ANSWER_S = 0.1
"""How long the controller may take to answer a set-point."""
_ANSWERS = {1: "it reports an error", 2: "it reports a warning", 9: "it is not ready"}
"""Codes of the SDK with which a controller answers; by all others it did not."""
_DEAF_S = 1.0
"""So long nothing is sent after a set-point that was refused: each that is not answered holds the control loop up."""
_ASK_S = 0.05
"""Between two questions for errors."""
_SILENT_S = 0.15
"""Joints that are older make it a silent control box."""
_SLOW_S = 1.0
"""So long errors may not be known before the arm counts as lost."""
_WHY_S = 0.15
"""How long the reason of a stop may take to be known."""
_WANTED_S = 0.5
"""An enabling that was asked for longer ago is given up."""
_AGAIN_S = 1.0
"""Between two tries to enable."""
_FIRST_S = 2.0
"""How long the first report may take."""
_PULSES = 850.0
"""Of the vendor's gripper when it is wide open."""
_GRIPPER_STEP = 0.0005
"""m: a smaller change of the gripper is not sent."""
_GRIPPER_ASK_S = 0.2


class XArm:
    """See `kc_vla.arm.interface.ArmDriver`.

    Attributes:
        limits, home_pose, kinematics: as the robot file says; the controller has its own limits beside these.
        firmware: of the control box, e.g. "2.5.0"; empty before `connect`.
        warnings: see `ArmDriver`.
    """

    has_brakes = True
    shutdown_message = "the arm is parked, its motors have no power, and its brakes hold it"

    def __init__(self, robot: Robot, options: XArmOptions) -> None:
        """Prepare; nothing is opened."""
        if len(robot.gripper) != 1:
            raise UnfitArmError(
                f"robot '{robot.name}' has {len(robot.gripper)} gripper joints, but the driver 'xarm' has 1"
            )
        self._robot, self._options = robot, options
        self.limits, self.home_pose, self.kinematics = robot.limits, robot.rest, Kinematics(robot.links_of(""))
        self.firmware, self.warnings = "", ()  # type: tuple[str, tuple[str, ...]]
        self._reports: Reports | None = None
        self._stream: Any = None
        self._slow: Any = None
        self._at: Vector = robot.rest
        self._refused_at, self._refusal = -np.inf, ""
        self._followed = False
        self._left_at = -np.inf
        self._wake, self._ended = threading.Event(), threading.Event()
        self._worker: threading.Thread | None = None
        # shared with the worker
        self._enable_at = self._enabled_at = -np.inf
        self._disables = self._resets = False
        self._error, self._warning, self._asked_at = 0, 0, -np.inf
        self._opening, self._target, self._sent = 0.0, None, None  # type: tuple[float, float | None, float | None]
        self._trouble = ""

    # -- connection ---------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """See `ArmDriver.connect`."""
        api, where, offset = vendor.load(), self._options.address, self._options.port_offset
        self.close()
        self._ended.clear()
        try:
            self._reports = Reports(where, offset)
            self._wait_for(self._reports)  # the SDK would wait minutes for a box that takes it in and is silent
            self._slow, self._stream = (vendor.connected(api, where, offset) for _ in range(2))
            self._stream.set_timeout(_ANSWER_S)
            self._ask_errors()
        except ArmError:
            self.close()
            raise
        self.firmware = ".".join(map(str, self._slow.version_number))
        self.warnings = (f"the controller has warning {self._warning}",) if self._warning else ()
        self._worker = threading.Thread(target=self._work, name="xarm", daemon=True)
        self._worker.start()

    def check_identity(self) -> None:
        """See `ArmDriver.check_identity`."""
        found, wanted = int(self._slow.axis), len(self._robot.joints)
        if found != wanted:
            raise UnfitArmError(
                f"the arm at {self._options.address} has {found} joints, and robot '{self._robot.name}' has {wanted}: "
                "choose its robot file, or its address"
            )

    def may_be_enabled(self) -> bool:
        """See `ArmDriver.may_be_enabled`."""
        return bool(self._powered().any())

    def close(self) -> None:
        """See `ArmDriver.close`."""
        self._ended.set()
        self._wake.set()
        if self._worker is not None:
            self._worker.join(2.0)
            self._worker = None
        if self._reports is not None:
            self._reports.close()
            self._reports = None
        for sdk in (self._stream, self._slow):
            if sdk is not None:
                sdk.disconnect()
        self._stream = self._slow = None

    def reconnect(self) -> None:
        """See `ArmDriver.reconnect`: the reports come back by themselves, the worker opens the rest."""
        self._wake.set()

    def diagnostics(self) -> dict[str, object]:
        """See `ArmDriver.diagnostics`."""
        joints = self._reports.joints if self._reports is not None else None
        if joints is None:
            return {"controller": "silent"}
        state = f"state {joints.state}, mode {joints.mode}"
        return {"controller": state, "controller/error": self._error, "controller/warning": self._warning}

    # -- what the servo calls -----------------------------------------------------------------------------------

    def enable(self) -> None:
        """See `MovableArm.enable`."""
        self._enable_at = time.monotonic()
        self._wake.set()

    def disable(self) -> None:
        """See `MovableArm.disable`."""
        self._enable_at, self._disables = -np.inf, True
        self._wake.set()

    def reset(self) -> None:
        """See `ArmDriver.reset`. An xArm keeps its power, or its brakes hold it."""
        self._resets = True
        self._wake.set()

    def read_state(self) -> ArmState:
        """See `MovableArm.read_state`."""
        count, joints = len(self._robot.joints), self._reports.joints if self._reports is not None else None
        if joints is None:
            zeros = np.zeros(count)
            return ArmState(np.inf, self._at, zeros, self._opening, zeros > 0, False, (), self._silence())
        self._at = joints.angles[:count]
        assert self._reports is not None
        known = time.monotonic() - min(self._asked_at, self._reports.powered_at)
        return ArmState(
            age=joints.age if known < _SLOW_S else max(joints.age, known),
            angles=self._at.copy(),
            speeds=joints.speeds[:count].copy(),
            gripper=self._opening,
            powered=self._powered(),
            in_command_mode=self._follows(joints),
            faults=(),
            line=self._silence() if joints.age > _SILENT_S or known > _SLOW_S else _why(joints),
            own_stop=self._own_stop(),
        )

    def set_target(self, angles: Vector, gripper: float) -> None:
        """See `MovableArm.set_target`. It waits for the controller's answer, which takes about a millisecond.

        After a set-point that was refused none is sent: the arm would leap to it if it were let go on.
        """
        require_target(angles, gripper, self.limits, self._at)
        since = time.monotonic() - self._refused_at
        if since < _WHY_S:
            return  # the reports are about to say why, which the servo then stops for
        if since < _DEAF_S:
            raise ValueError(f"the controller took no set-point: {self._refusal}")
        if code := int(self._stream.set_servo_angle_j(angles.tolist(), is_radian=True)):
            self._refused_at = time.monotonic()
            self._refusal = _ANSWERS.get(code, "it does not answer: look at the network") + f" (code {code} of the SDK)"
            self._wake.set()
            return
        self._target = float(np.clip(gripper, 0.0, self._robot.opening))

    # -- what it reports ----------------------------------------------------------------------------------------

    def _powered(self) -> NDArray[np.bool_]:
        count = len(self._robot.joints)
        return np.zeros(count, bool) if self._reports is None else self._reports.powered[:count].copy()

    def _follows(self, joints: Joints) -> bool:
        """Whether it takes set-points; where it just ceased to, once the reason can be known."""
        follows = joints.state in _MOVES and joints.mode == SERVO_MODE
        if follows:
            if not self._followed:
                self._refused_at = -np.inf  # it was made ready anew: what it refused before does not count
            self._followed, self._left_at = True, np.inf
            return True
        if not self._followed:
            return False
        self._left_at = min(self._left_at, time.monotonic())
        self._followed = self._asked_at < self._left_at and time.monotonic() - self._left_at < _WHY_S
        return self._followed

    def _own_stop(self) -> str:
        if not self._error:
            return ""
        words = vendor.error_in_words(self._error)
        what = "the arm's own emergency stop is set" if self._error in _BUTTONS else "the controller reports an error"
        return f"{what} (error {self._error}: {words})"

    def _silence(self) -> str:
        where = self._options.address
        return f"the control box at {where} is silent: look at its power and its network{self._trouble}"

    def _wait_for(self, reports: Reports) -> None:
        until = time.monotonic() + _FIRST_S
        while reports.joints is None or not np.isfinite(reports.powered_at):
            if time.monotonic() > until:
                port = JOINTS_PORT + self._options.port_offset
                raise ArmError(
                    f"no joint states come from {self._options.address}, port {port}: is the control box on, and in "
                    "this network?"
                )
            time.sleep(0.01)

    # -- the worker ---------------------------------------------------------------------------------------------

    def _work(self) -> None:
        gripper_at = 0.0
        grips = False
        while not self._ended.is_set():
            self._wake.wait(_ASK_S)
            self._wake.clear()
            try:
                if not (self._slow.connected and self._stream.connected):
                    self._open_again()
                    continue
                self._ask_errors()
                if self._disables:
                    self._disables = False
                    self._slow.motion_enable(enable=False)
                    grips = False
                if self._resets:
                    self._resets = False
                    self._slow.clean_error()
                    self._slow.clean_warn()
                    self._ask_errors()
                if self._enabling_is_wanted():
                    self._enable_now()
                if self._options.has_gripper and self._powered().all() and not self._error:
                    grips = grips or self._prepare_gripper()
                    if time.monotonic() - gripper_at > _GRIPPER_ASK_S or self._sent != self._target:
                        gripper_at = time.monotonic()
                        self._move_gripper()
            except Exception as error:  # noqa: BLE001 - of the SDK, which says not what it raises; the state grows old
                self._trouble = f" ({type(error).__name__}: {error})"
                self._ended.wait(_ASK_S)

    def _ask_errors(self) -> None:
        code, found = self._slow.get_err_warn_code()
        if code == 0:
            self._error, self._warning = (int(value) for value in found)
            self._asked_at, self._trouble = time.monotonic(), ""

    def _enabling_is_wanted(self) -> bool:
        now = time.monotonic()
        return not self._ended.is_set() and now - self._enable_at < _WANTED_S and now - self._enabled_at > _AGAIN_S

    def _enable_now(self) -> None:
        """Power where the arm stands, then servo mode; given up as soon as nobody asks for it any more."""
        self._enabled_at = time.monotonic()
        sdk = self._slow
        steps = (lambda: sdk.motion_enable(enable=True), lambda: sdk.set_mode(SERVO_MODE), lambda: sdk.set_state(0))
        for step in steps:
            if time.monotonic() - self._enable_at > _WANTED_S or step() != 0:
                return

    def _prepare_gripper(self) -> bool:
        sdk = self._slow
        steps = (
            sdk.set_gripper_enable(True),
            sdk.set_gripper_mode(0),
            sdk.set_gripper_speed(self._options.gripper_speed),
        )
        return not any(steps)

    def _move_gripper(self) -> None:
        code, pulses = self._slow.get_gripper_position()
        if code == 0 and pulses is not None:
            self._opening = self._robot.opening * float(pulses) / _PULSES
        target = self._target
        if target is not None and (self._sent is None or abs(target - self._sent) > _GRIPPER_STEP):
            # A connection without reports takes the mode for 0, in which the SDK would wait until the arm stands.
            goal = round(target / self._robot.opening * _PULSES)
            if self._slow.set_gripper_position(goal, wait=False, wait_motion=False, auto_enable=False) == 0:
                self._sent = target

    def _open_again(self) -> None:
        """Connect anew; nothing is sent but what connecting needs."""
        self._ended.wait(_AGAIN_S)
        joints = self._reports.joints if self._reports is not None else None
        if self._ended.is_set() or joints is None or joints.age > _SLOW_S:
            return  # nobody is there
        for sdk in (self._slow, self._stream):
            if not sdk.connected:
                sdk.connect()
        self._stream.set_timeout(_ANSWER_S)


def _why(joints: Joints) -> str:
    """Why it takes no set-points, in words; empty if it does."""
    if joints.state not in _MOVES:
        what = _STATES.get(joints.state, f"in state {joints.state}")
        return f"the controller is {what}, by its app or another program: look at it, then call arm/resume"
    if joints.mode != SERVO_MODE:
        return f"another program set the controller's mode to {joints.mode}: end it, then call arm/resume"
    return ""
