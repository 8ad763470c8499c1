"""The parameters of `policy_server`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kc_vla.core.options import known_options, options_in
from kc_vla.inference.devices import DEVICES
from kc_vla.policy.backends import BACKENDS, PolicyContext
from kc_vla.policy.options import DIALECTS, TOKEN
from kc_vla.policy.takeover import PEOPLE
from kc_vla.ros.parameters import parameter, without_defaults
from kc_vla.ros.robot import RobotParameters

_SHARE = 0.9
"""Share of the backend's timeout that its server gets, so that the backend itself reports what is wrong."""

NOBODY = "none"
"""Takes over."""


@dataclass(frozen=True)
class PolicyParameters(RobotParameters):
    """The parameters of `policy_server`."""

    backend: str = parameter("expert", f"policy: {', '.join(BACKENDS.names())}", check=BACKENDS.get)
    takeover: str = parameter(NOBODY, "device with which a person can take over", choices=(NOBODY, *PEOPLE))
    bag: str = parameter("", "recorded episode that the backend `replay` plays")
    script: str = parameter("", "YAML file of poses that the backend `scripted` goes through")
    model: str = parameter("policy", "name of the model that the backend `learned` runs, in the registry")
    models_folder: str = parameter("", "folder of the registry of models; empty: the shipped models")
    checkpoint: str = parameter("", "folder of a LeRobot policy that the backend `lerobot` runs")
    socket: str = parameter("", "path of the socket of an external program, for the backend `driven`")
    device: str = parameter("auto", "device for the model", choices=DEVICES)
    threads: int = parameter(1, "CPU threads for the model", low=1, high=64)
    server: str = parameter("", "address of the server of the backends `groot` (tcp://...) and `openpi` (ws://...)")
    dialect: str = parameter("auto", "version of the server's protocol, for the backend `groot`", choices=DIALECTS)
    token: str = parameter("", f"token for the server; empty: the environment variable {TOKEN}")
    mapping: str = parameter("", "mapping to the server's names and units, a name or a file; empty: the robot's")
    options: str = parameter(
        "", "options of the backend that have no parameter here, such as those of another package, e.g. '{rate: 5.0}'"
    )
    skills: bool = parameter(
        False,
        "true: skills give the policy its instructions, and the policy need not know the instruction of the episode",
    )
    horizon: int = parameter(16, "actions in a chunk", low=1, high=512)
    wait_timeout: float = parameter(
        3.0, "s to wait for an observation, the buffer, the expert or the backend", low=0.1, high=60.0
    )
    sync_tolerance: float = parameter(0.02, "s between the streams of one observation", low=0.0, high=1.0)

    def context(
        self, listen: Callable[[str, Callable[..., None]], None], measured: Callable[[str, float], None]
    ) -> PolicyContext:
        """Return what every backend is made with; StartError where there is no such robot."""
        return PolicyContext(self.loaded_robot(), self.horizon, listen, measured)

    def options_of(self, name: str) -> dict[str, Any]:
        """Return the options of a backend: those parameters that are its options, and what `options` gives.

        A parameter that has its default leaves that option as the backend has it.

        Raises:
            TableError: There is no such backend, or its package cannot be loaded.
            OptionError: `options` is no mapping.
        """
        given = {**without_defaults(self), "timeout_s": _SHARE * self.wait_timeout}
        own = options_in(self.options, "parameter 'options'") if name == self.backend else {}
        return {**known_options(BACKENDS.get(name).options, given), **own}
