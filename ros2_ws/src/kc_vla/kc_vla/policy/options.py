"""The options of the policies that come with the stack, a dataclass for each."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.core.options import option

DIALECTS = ("auto", "n1.5", "n1.6", "kc-vla")
"""auto: the server is asked whether it is N1.5 or N1.6 and later; kc-vla: six moments with a mask, after the paper."""
TOKEN = "KC_VLA_POLICY_TOKEN"
"""Environment variable with the token of a policy's server: who looks at the processes does not see it there."""


@dataclass(frozen=True)
class LearnedOptions:
    """The options of a learned policy."""

    model: str = option("name of the model in the registry", "policy")
    models_folder: str = option("folder with that registry; empty: the models shipped", "")
    device: str = option("auto, cpu or cuda", "auto")
    threads: int = option("of the CPU for the model", 1, low=1, high=64)
    noise: float = option("share of the training's noise that a chunk begins with; 1: as in training", 0.0)
    strides: bool = option("frames at a stride can be given in place of keyframes", False)


@dataclass(frozen=True)
class LerobotOptions:
    """The options of a policy of LeRobot's."""

    checkpoint: str = option("folder of the policy", "")
    device: str = option("auto, cpu or cuda", "auto")
    threads: int = option("of the CPU for the model", 1, low=1, high=64)


@dataclass(frozen=True)
class OpenPiOptions:
    """The options of a policy behind an openpi server."""

    server: str = option("ws://host:8000; empty: this machine", "")
    token: str = option(f"that the server wants; empty: the environment's {TOKEN}", "", secret=True)
    mapping: str = option("what the server calls images, state and actions: a name or file; empty: the robot's", "")
    timeout_s: float = option("within which the server is to answer, s", 2.7)


@dataclass(frozen=True)
class GrootOptions:
    """The options of a policy behind a GR00T server."""

    server: str = option("tcp://host:5555; empty: this machine", "")
    dialect: str = option("what the server speaks", "auto", choices=DIALECTS)
    token: str = option(f"that the server wants; empty: the environment's {TOKEN}", "", secret=True)
    mapping: str = option("what the server calls images, state and actions: a name or file; empty: the robot's", "")
    timeout_s: float = option("within which the server is to answer, s", 2.7)


@dataclass(frozen=True)
class RecordingOptions:
    """The options of a recorded episode."""

    bag: str = option("of the episode", "")


@dataclass(frozen=True)
class ScriptOptions:
    """The options of a file of poses."""

    script: str = option("YAML file of poses", "")


@dataclass(frozen=True)
class ExternalOptions:
    """The options of a program outside ROS."""

    socket: str = option("path of the Unix socket of the program", "")
