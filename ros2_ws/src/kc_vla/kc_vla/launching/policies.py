"""The launch arguments of what makes the actions, and what is wrong with them before anything has started."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from pathlib import Path

from launch import LaunchContext, Substitution
from launch_ros.actions import Node

from kc_vla.core.choice import offered
from kc_vla.core.options import options_in
from kc_vla.core.robot import load_robot
from kc_vla.inference.models import ModelError, models_in, read_registry
from kc_vla.keyframes.selectors import SELECTORS
from kc_vla.launching.arguments import Argument, chosen, read
from kc_vla.launching.graph import AGAIN, launch_file, node, texts
from kc_vla.launching.kinds import AnyText, Checked, ExistingPath, NewPath, OneOf, ServerUrl
from kc_vla.launching.namespace import Suffix
from kc_vla.launching.parameters import parameters_of
from kc_vla.launching.renamed import renamed
from kc_vla.policy.backends import BACKENDS
from kc_vla.policy.driven.wire import usual_socket
from kc_vla.policy.model import load_policy
from kc_vla.policy.options import DIALECTS, TOKEN
from kc_vla.policy.scripted import load_script

AUTO = "auto"
"""A value of an argument: what fits the others."""
TRAJECTORY = "trajectory"
FOLLOWED = ("leader", "joy", "driven", TRAJECTORY)
"""Policies that give what is to be done now, and want it to be done at once."""
_OF_EVERY_GRAPH = {
    **{"models_folder": "policy_models", "model": "policy_model", "checkpoint": "checkpoint"},
    **{name: name for name in ("server", "dialect", "token", "mapping")},
    "options": "policy_options",
    "robot": "robot",
}
"""Launch arguments of every graph with a policy, by the parameters of the node `policy_server` that they fill."""
_PEOPLE = ("leader", "joy")
_SCHEMES = {"openpi": ("ws", "wss"), "groot": ("tcp",)}
_FOLDERS = {"replay": ("bag", "name the bag of an episode"), "lerobot": ("checkpoint", "name the folder of a policy")}
"""What a policy cannot do without, by its launch argument."""


def execution(context: LaunchContext) -> list[Substitution]:
    """Return the files of parameters of the arm controller that follow from `policy:=`.

    A file, because what a file says of a node by its name wins over any parameter that is given without one.
    """
    return [parameters_of("followed.yaml")] if chosen(context, "policy") in FOLLOWED else []


def script_argument() -> Argument:
    """Return the argument `script:=`, of a graph that can go through the poses of a file."""
    return Argument(
        "script",
        ExistingPath("file", needed=True),
        default_value=launch_file("params", "piper_script.yaml"),
        description="poses for policy:=scripted",
    )


def socket_argument() -> Argument:
    """Return the argument `socket:=`, of a graph whose robot an external program can control."""
    return Argument(
        "socket",
        NewPath("socket"),
        default_value=[usual_socket(), Suffix()],
        description="Unix socket of the program that drives, for policy:=driven; in a namespace, the default ends "
        "with its name",
    )


def policy_model_arguments() -> tuple[Argument, ...]:
    """Return the arguments that name files of a network, and the one for the options of any policy."""
    return (
        Argument(
            "policy_models",
            Checked(check_registry, empty=True),
            default_value="",
            description="folder with a registry of models, for policy:=learned; empty: the shipped models",
        ),
        Argument(
            "policy_model",
            AnyText(),
            default_value="policy",
            description="name of the policy in the registry of policy_models:=",
        ),
        Argument(
            "checkpoint",
            ExistingPath("folder"),
            default_value="",
            description="folder of LeRobot's config.json, for policy:=lerobot",
        ),
        Argument(
            "policy_options",
            Checked(check_options, empty=True),
            default_value="",
            description="options of the policy that have no argument here, such as those of another package, e.g. "
            "'{rate: 5.0}'",
        ),
    )


def policy_server_arguments() -> tuple[Argument, ...]:
    """Return `server:=`, `dialect:=`, `token:=` and `mapping:=`, of every graph that can ask a policy's server."""
    return (
        Argument(
            "server",
            ServerUrl(("ws", "wss", "tcp")),
            default_value="",
            description="address of the policy server: ws://host:8000 for policy:=openpi, tcp://host:5555 for "
            "policy:=groot",
        ),
        Argument(
            "dialect",
            OneOf(tuple(DIALECTS)),
            default_value="auto",
            description="version of the server's protocol, for policy:=groot",
        ),
        Argument(
            "token", AnyText(), default_value="", description=f"token for the server; empty: the environment's {TOKEN}"
        ),
        Argument(
            "mapping",
            Checked(_check_mapping_name, empty=True),
            default_value="",
            description="mapping to the server's names and units, a name or a file; empty: the robot's own mapping",
        ),
    )


def policy_server(
    arguments: tuple[str, ...] = (), remapped: Sequence[tuple[str, str]] = (), **parameters: object
) -> Node:
    """Return the node `policy_server`, which takes the arguments of every graph.

    Args:
        arguments: names of further launch arguments, which the graph has; the parameters have the same names.
        remapped: names of topics and services, each with the one that it has here.
        parameters: further parameters and their values.
    """
    given = texts(**_OF_EVERY_GRAPH, **{name: name for name in arguments})
    return node("policy_server", {**given, **parameters}, remapped=remapped, **AGAIN)


def selector_argument(graph: str) -> tuple[Argument, Argument]:
    """Return the argument `selector:=` of a graph in `kc_vla.core.choice.GRAPHS`, and `source:=`, its former name."""
    meanings = {AUTO: "events for a learned policy that was trained with events, otherwise learned"}
    chosen_by = "keyframe selector"
    return renamed("source", _choice("selector", chosen_by, AUTO, meanings | offered(SELECTORS, graph)))


def policy_argument(graph: str, default: str, also: Mapping[str, str] = types.MappingProxyType({})) -> Argument:
    """Return the argument `policy:=`, of a graph in `kc_vla.core.choice.GRAPHS`.

    `also` has further values with their meanings, which are no backends.
    """
    return _choice("policy", "policy that moves the arm", default, {**also, **offered(BACKENDS, graph)})


def takeover_argument(*devices: str) -> Argument:
    """Return the argument `takeover:=`, of a graph whose robot a person can control with one of these."""
    meanings = {"none": "nobody takes over"} | {device: BACKENDS.get(device).meaning for device in devices}
    return _choice("takeover", "device with which a person takes over from the policy", "none", meanings)


def check_options(text: str) -> None:
    """Check that a text gives options.

    Raises:
        OptionError: it does not.
    """
    options_in(text, "it")


def check_registry(folder: str) -> None:
    """Check that a folder has a registry of models.

    Raises:
        ValueError: it has none.
    """
    try:
        read_registry(Path(folder).expanduser())
    except ModelError as error:
        raise ValueError(str(error)) from error


def check_policy(context: LaunchContext) -> None:
    """Check that the policy of `policy:=` can be made from the other arguments.

    Raises:
        RuntimeError: it cannot, or a person would take over from a person.
        StackError: a file that it needs is not as it should be, or the policy's package cannot be loaded.
    """
    given = context.launch_configurations
    policy, server = given["policy"], given["server"]
    if policy in BACKENDS.names():
        BACKENDS.options_of(policy, options_in(given["policy_options"], "policy_options:="))
    if given.get("takeover", "none") != "none" and policy in _PEOPLE:
        raise RuntimeError(
            f"takeover:={given['takeover']}: with policy:={policy} a person drives already: leave it out"
        )
    if policy in _FOLDERS and not given[_FOLDERS[policy][0]]:
        argument, advice = _FOLDERS[policy]
        raise RuntimeError(f"policy:={policy} needs {argument}:=: {advice}")
    if policy == "learned":
        load_policy(models_in(given["policy_models"]), given["policy_model"])
    if policy == "scripted":
        load_script(Path(given["script"]).expanduser(), load_robot(given["robot"]))
    if policy in _SCHEMES:
        if server:
            read("server", ServerUrl(_SCHEMES[policy]), server)
        usual = "kc-vla" if policy == "groot" and given["dialect"] == "kc-vla" else policy
        if (mappings := _mappings()) is not None:
            mappings.load_mapping(given["mapping"], load_robot(given["robot"]), policy, usual)


def _check_mapping_name(name: str) -> None:
    mappings = _mappings()
    if name.endswith((".yaml", ".yml")):
        ExistingPath("file").read(name)
    elif mappings is not None and name not in (known := mappings.shipped_mappings()):
        raise ValueError(f"there are {', '.join(known)}, or name a YAML file of your own")


def _mappings() -> types.ModuleType | None:
    """Return what reads mappings; None where the Python of the launch lacks what it needs: then the node checks."""
    try:
        from kc_vla.policy.remote import mapping_file
    except ImportError:
        return None
    return mapping_file


def _choice(name: str, purpose: str, default: str, meanings: Mapping[str, str]) -> Argument:
    told = "; ".join(f"{word}: {meaning}" for word, meaning in meanings.items())
    return Argument(name, OneOf(tuple(meanings)), default_value=default, description=f"{purpose}; {told}")
