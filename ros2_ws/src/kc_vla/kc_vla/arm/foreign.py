"""An arm that a driver of others moves: fed by its joint states, told positions. The line to it is handed in."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from kc_vla.arm.claim import claim
from kc_vla.arm.interface import ArmError, ArmState, require_target
from kc_vla.arm.joint_intake import Felt, JointIntake
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.last_words import TOLD_TO_LET_GO
from kc_vla.core.rig import Rig, Vector

_POLL_S = 0.02
_ASK_AGAIN_S = 0.5
"""Between two times that a driver is asked for power: some move their gripper with each."""
_SETTLE_S = 1.0
"""So long joints may take to get power from a driver that does not tell when they have."""

Take = Callable[[Sequence[str], Sequence[float], Sequence[float], int, int, float], None]
"""See `JointIntake.take`."""


class Line(Protocol):
    """What carries messages to a driver and back.

    Attributes:
        name: of the line on this machine: who has it has the arm.
    """

    name: str

    def open(self, take: Take) -> None:
        """Begin to listen; `take` is called with every joint state, from another thread."""
        ...

    def send(self, names: Sequence[str], positions: Sequence[float], gripper: bool) -> None:
        """Tell joints, by name, where to be, in the driver's units; on the gripper's own topic if `gripper`."""
        ...

    def switch(self, on: bool) -> None:
        """Ask for power, or for none."""
        ...

    def deaf(self) -> tuple[str, ...]:
        """Topics of commands that nobody listens to."""
        ...

    def rivals(self) -> tuple[str, ...]:
        """Topics of commands that others tell something on, too."""
        ...

    def close(self) -> None:
        """Listen no more."""
        ...


class ForeignArm:
    """See `kc_vla.arm.interface.Driver`.

    Its driver has limits of its own, which are not asked for: those of the rig count.
    """

    firmware = ""

    def __init__(self, rig: Rig, line: Line, patience: float = 3.0) -> None:
        """Args: `rig` has an interface; `patience`: s that the driver may take to answer."""
        assert rig.interface is not None
        self._rig, self._interface, self._line, self._patience = rig, rig.interface, line, patience
        self.limits, self.rest, self.kinematics = rig.limits, rig.rest, Kinematics(rig.links_of(""))
        self.farewell = TOLD_TO_LET_GO if rig.interface.has_switch else ""
        self._intake = JointIntake(rig.interface, rig)
        self._switched_on_at: float | None = None
        self._asked_at = -np.inf
        self._off = False
        self._name: socket.socket | None = None

    def connect(self) -> None:
        """See `Driver.connect`."""
        self._name = claim(self._line.name)
        try:
            self._line.open(self._intake.take)
            self._wait()
        except ArmError:
            self.disconnect()
            raise

    def require_fit(self) -> None:
        """See `Driver.require_fit`: a driver does not tell which arm it has, only its joints' names."""

    def may_have_power(self) -> bool:
        """See `Driver.may_have_power`: nobody tells that it has none."""
        return True

    def give_power(self) -> None:
        """See `MovedArm.give_power`."""
        now = time.monotonic()
        if self._interface.has_switch and now - self._asked_at > _ASK_AGAIN_S:
            self._asked_at = now
            self._line.switch(True)
            self._off = False
            self._switched_on_at = self._switched_on_at or now

    def read(self) -> ArmState:
        """See `MovedArm.read`."""
        now = time.monotonic()
        felt = self._intake.felt(now)
        deaf = self._line.deaf()
        settled = self._switched_on_at is not None and now - self._switched_on_at > _SETTLE_S
        return ArmState(
            age=felt.age,
            angles=felt.angles,
            speeds=felt.speeds,
            gripper=felt.share * self._rig.opening,
            powered=np.full(len(felt.angles), not self._off),
            obeys=not deaf and (settled or not self._interface.has_switch),
            faults=(*felt.faults, *self._faults(deaf)),
            line=felt.refusal or f"nothing comes on {self._interface.state}: does its driver run?",
            doubt=felt.doubt,
        )

    def command(self, angles: Vector, gripper: float) -> None:
        """See `MovedArm.command`."""
        require_target(angles, gripper, self.limits)
        interface = self._interface
        positions = (np.asarray(angles, float) / interface.radians).tolist()
        share = float(np.clip(gripper / self._rig.opening, 0.0, 1.0))
        finger = interface.gripper.position(share)
        if interface.gripper.command:
            self._line.send(interface.joints, positions, gripper=False)
            self._line.send((interface.gripper.joint,), (finger,), gripper=True)
        else:
            self._line.send((*interface.joints, interface.gripper.joint), (*positions, finger), gripper=False)

    def take_power(self) -> None:
        """See `MovedArm.take_power`. Only where it can be given again."""
        if self._interface.has_switch and not self._off:
            self._line.switch(False)
            self._off, self._switched_on_at = True, None

    def disconnect(self) -> None:
        """See `Driver.disconnect`."""
        self._line.close()
        if self._name is not None:
            self._name.close()
            self._name = None

    def reconnect(self) -> None:
        """See `Driver.reconnect`: the middleware finds a driver again by itself."""

    def details(self) -> dict[str, object]:
        """See `Driver.details`."""
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

    def _missing(self, felt: Felt) -> str:
        if not np.isfinite(felt.age):
            return felt.refusal or self._intake.untold()
        if deaf := self._line.deaf():
            return f"nobody listens on {deaf[0]}: is its controller active?"
        return "; ".join(felt.faults)
