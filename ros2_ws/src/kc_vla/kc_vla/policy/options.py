"""The options of the policies that come with the stack, a dataclass for each."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.core.options import option
from kc_vla.inference.options import ModelOptions

DIALECTS = ("auto", "n1.5", "n1.6", "kc-vla")
"""auto: the server is asked whether it is N1.5 or N1.6 and later; kc-vla: six moments with a mask, after the paper."""
TOKEN = "KC_VLA_POLICY_TOKEN"
"""Environment variable with the token of a policy's server: who looks at the processes does not see it there."""


@dataclass(frozen=True)
class LearnedOptions(ModelOptions):
    """The options of a learned policy."""

    model: str = option("name of the model in the registry", "policy")
    noise: float = option("scale of a chunk's initial noise; 0: the mean, 1: as in training", 0.0)
    strides: bool = option("accept frames at a fixed stride in place of keyframes", False)


@dataclass(frozen=True)
class LerobotOptions:
    """The options of a policy of LeRobot's."""

    checkpoint: str = option("folder of the checkpoint", "")
    device: str = option("device for the model: auto, cpu or cuda", "auto")
    threads: int = option("CPU threads for the model", 1, low=1, high=64)


@dataclass(frozen=True)
class OpenPiOptions:
    """The options of a policy behind an openpi server."""

    server: str = option("ws://host:8000; empty: this machine", "")
    token: str = option(f"token for the server; empty: the environment variable {TOKEN}", "", secret=True)
    mapping: str = option("mapping to the server's names and units: a name or a file; empty: the robot's", "")
    timeout_s: float = option("deadline for an answer of the server, s", 2.7)


@dataclass(frozen=True)
class GrootOptions:
    """The options of a policy behind a GR00T server."""

    server: str = option("tcp://host:5555; empty: this machine", "")
    dialect: str = option("version of the server's protocol", "auto", choices=DIALECTS)
    token: str = option(f"token for the server; empty: the environment variable {TOKEN}", "", secret=True)
    mapping: str = option("mapping to the server's names and units: a name or a file; empty: the robot's", "")
    timeout_s: float = option("deadline for an answer of the server, s", 2.7)


@dataclass(frozen=True)
class RecordingOptions:
    """The options of a recorded episode."""

    bag: str = option("bag of the episode", "")


@dataclass(frozen=True)
class ScriptOptions:
    """The options of a file of poses."""

    script: str = option("YAML file of poses", "")


@dataclass(frozen=True)
class ExternalOptions:
    """The options of a program outside ROS."""

    socket: str = option("path of the Unix socket of the program", "")


@dataclass(frozen=True)
class TrajectoryOptions:
    """The options of trajectories that clients such as MoveIt send: the tolerances where a goal names none."""

    path_tolerance: float = option("rad that a joint may be off during the motion", 0.2, low=0.001, high=3.0)
    goal_tolerance: float = option("rad that a joint may be off at the end", 0.02, low=0.0005, high=1.0)
    stopped_velocity: float = option(
        "rad/s up to which a joint counts as at rest at the end", 0.05, low=0.001, high=1.0
    )
    goal_time: float = option(
        "s after the end of the trajectory within which the arm must reach the goal", 2.0, low=0.05, high=60.0
    )
    start_tolerance: float = option("most rad between the arm and a first point at time 0", 0.05, low=0.001, high=0.2)
