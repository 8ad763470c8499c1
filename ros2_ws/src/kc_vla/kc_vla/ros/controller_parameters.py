"""The parameters of `arm_controller`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.arm.stop_latch import usual_folder
from kc_vla.core.rig import Rig, load_rig
from kc_vla.ros.parameters import NodeParameters, parameter


@dataclass(frozen=True)
class ControllerParameters(NodeParameters):
    """See the module."""

    mode: str = parameter("lockstep", "what a control step waits for", choices=("lockstep", "realtime"))
    arm: str = parameter("simulated", "what executes the commands", choices=("simulated", "piper", "ros"))
    rig: str = parameter("piper", "the robot: a rig that comes with the stack, or its YAML file (arm: piper, ros)")
    channel: str = parameter("can0", "of the CAN bus (arm: piper)")
    bus: str = parameter("socketcan", "python-can's name of the kind of bus (arm: piper)")
    bus_timeout: float = parameter(5.0, "s that a bus which is not up yet is waited for", low=0.0, high=600.0)
    control_rate: float = parameter(200.0, "Hz of the control loop (realtime)", low=10.0, high=1000.0)
    command_rate: float = parameter(200.0, "Hz at which the arm is sent its angles (arm: piper)", low=50.0, high=200.0)
    state_rate: float = parameter(100.0, "Hz of the arm's state (arm: piper, ros)", low=10.0, high=200.0)
    max_speed: float = parameter(ServoSettings.speed, "rad/s of any joint (arm: piper, ros)", low=0.05, high=3.0)
    workspace_x_low: float = parameter(-0.7, "m, bound of the flange in the base frame", low=-2.0, high=2.0)
    workspace_x_high: float = parameter(0.7, "m, likewise", low=-2.0, high=2.0)
    workspace_y_low: float = parameter(-0.7, "m, likewise", low=-2.0, high=2.0)
    workspace_y_high: float = parameter(0.7, "m, likewise", low=-2.0, high=2.0)
    workspace_z_low: float = parameter(0.0, "m, bound of the flange and of every joint", low=-2.0, high=2.0)
    workspace_z_high: float = parameter(0.9, "m, bound of the flange in the base frame", low=-2.0, high=2.0)
    priority: int = parameter(50, "real-time priority of the control loop (realtime); 0: none", low=0, high=99)
    execute_steps: int = parameter(5, "control steps executed of a chunk before the next is asked for", low=1, high=500)
    blend_steps: int = parameter(3, "control steps of the fade from chunk to chunk", low=0, high=100)
    latency_steps: int = parameter(2, "control steps from request to use of a chunk (lockstep)", low=0, high=100)
    request_timeout: float = parameter(4.0, "s after which an unanswered request is made again", low=0.1, high=60.0)
    stale_after: float = parameter(0.5, "s without a joint state after which the arm holds", low=0.05, high=10.0)
    joint_offsets: str = parameter("", "file of `kc-vla calibrate joints` (arm: piper, ros); empty: none")
    state_folder: str = parameter(
        "", "where an emergency stop outlives this process; empty: ~/.ros/kc_vla (arm: piper, ros), else nowhere"
    )
    max_translation: float = parameter(0.1, "m that one action may ask for", low=0.001, high=0.5)
    max_rotation: float = parameter(0.1, "rad that one action may ask for", low=0.001, high=1.0)

    def stop_folder(self) -> Path | None:
        """Where an emergency stop is on record; None: nowhere, it ends with this process.

        Raises:
            RigError: the robot is not known.
            LatchError: there is no such place.
        """
        if self.state_folder:
            return Path(self.state_folder).expanduser()
        if self.arm == "simulated":
            return None
        driver = load_rig(self.rig).interface if self.arm == "ros" else None
        return usual_folder(self.channel if driver is None else f"ros{driver.command}")

    def servo_settings(self, rig: Rig) -> ServoSettings:
        """What the servo of an arm of that rig is to keep to.

        Raises:
            ValueError: the workspace is empty.
        """
        foreign = rig.interface if self.arm == "ros" else None
        rate = self.command_rate if foreign is None else foreign.rate
        settings = ServoSettings(
            period=1.0 / self.control_rate,
            command_every=max(1, round(self.control_rate / rate)),
            speed=self.max_speed,
            stale_after=ServoSettings.stale_after if foreign is None else foreign.stale_after,
            lowest=(self.workspace_x_low, self.workspace_y_low, self.workspace_z_low),
            highest=(self.workspace_x_high, self.workspace_y_high, self.workspace_z_high),
        )
        if not all(low < high for low, high in zip(settings.lowest, settings.highest, strict=True)):
            raise ValueError(f"the workspace from {settings.lowest} to {settings.highest} m is empty")
        return settings
