"""The process that keeps the time of an arm that a driver of others moves."""

from __future__ import annotations

import sys

from kc_vla.arm.control_process import ControlProcess
from kc_vla.arm.foreign import ForeignArm
from kc_vla.arm.interface import ArmError
from kc_vla.arm.remote import Calls
from kc_vla.arm.wiring import Wiring
from kc_vla.ros.arm_line import RosLine


def foreign_arm(wiring: Wiring) -> ForeignArm:
    """The arm of a rig with an interface.

    Raises:
        ArmError: the rig has none.
    """
    interface = wiring.rig.interface
    if interface is None:
        raise ArmError(
            f"the rig '{wiring.rig.name}' does not say how others' drivers move it: give it a section 'interface', "
            "see docs/other_robots.md"
        )
    return ForeignArm(wiring.rig, RosLine(interface, wiring.simulated_time))


def main() -> None:
    """Run the process; it is started by `kc_vla.arm.remote.Remote`."""
    ControlProcess(Calls(sys.argv[1:]), foreign_arm).run()
