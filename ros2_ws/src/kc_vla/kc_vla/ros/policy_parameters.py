"""The parameters of `policy_server`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kc_vla.inference.onnx_sessions import DEVICES
from kc_vla.policy.backends import BACKENDS, DIALECTS, TOKEN, BackendSettings
from kc_vla.policy.takeover import PEOPLE
from kc_vla.ros.parameters import parameter
from kc_vla.ros.robot import RobotParameters

_SHARE = 0.9
"""Of the time that is waited for a backend, a server's: so it is the backend that says what is wrong with it."""

NOBODY = "none"
"""Takes over."""


@dataclass(frozen=True)
class PolicyParameters(RobotParameters):
    """See the module."""

    backend: str = parameter("expert", "what makes the actions", choices=tuple(BACKENDS))
    takeover: str = parameter(NOBODY, "what a person can take over with", choices=(NOBODY, *PEOPLE))
    bag: str = parameter("", "recorded episode that the backend `replay` plays")
    script: str = parameter("", "YAML file of poses that the backend `scripted` goes through")
    model: str = parameter("policy", "name of the model that the backend `learned` runs, in the registry")
    models_folder: str = parameter("", "folder with that registry; empty: that of the models shipped with the stack")
    checkpoint: str = parameter("", "folder of a LeRobot policy that the backend `lerobot` runs")
    socket: str = parameter("", "path of the socket at which a program drives, for the backend `driven`")
    device: str = parameter("auto", "what the model runs on", choices=DEVICES)
    threads: int = parameter(1, "of the processor for the model", low=1, high=64)
    server: str = parameter("", "address of the server of the backends `groot` (tcp://...) and `openpi` (ws://...)")
    dialect: str = parameter("auto", "of the backend `groot`", choices=DIALECTS)
    token: str = parameter("", f"that the server wants; empty: that of the environment's {TOKEN}")
    mapping: str = parameter(
        "", "what the server calls what the robot sees, feels and does; empty: as comes with the rig"
    )
    horizon: int = parameter(16, "actions in a chunk", low=1, high=512)
    wait_timeout: float = parameter(
        3.0, "s to wait for an observation, the buffer, the expert or the backend", low=0.1, high=60.0
    )
    sync_tolerance: float = parameter(0.02, "s between the streams of one observation", low=0.0, high=1.0)

    def settings(
        self, listen: Callable[[str, Callable[..., None]], None], measured: Callable[[str, float], None]
    ) -> BackendSettings:
        """What the backend is made with; StartError where there is no such robot."""
        return BackendSettings(
            rig=self.robot(),
            horizon=self.horizon,
            bag=self.bag,
            script=self.script,
            listen=listen,
            model=self.model,
            models_folder=self.models_folder,
            device=self.device,
            threads=self.threads,
            checkpoint=self.checkpoint,
            socket=self.socket,
            server=self.server,
            dialect=self.dialect,
            token=self.token,
            mapping=self.mapping,
            timeout_s=_SHARE * self.wait_timeout,
            measured=measured,
        )
