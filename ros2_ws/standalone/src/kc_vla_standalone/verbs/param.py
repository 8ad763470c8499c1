"""`ros2 param`: parameters of running nodes."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient

from ..errors import UsageError
from ..ros.graph import CommandNode, add_discovery_arguments, command_node
from ..subverbs import Subverb, run_subverb
from .node import node_names, wait_for_node

_ANSWER_TIMEOUT_S = 5.0
_LABELS = {
    Parameter.Type.BOOL: "Boolean value is",
    Parameter.Type.INTEGER: "Integer value is",
    Parameter.Type.DOUBLE: "Double value is",
    Parameter.Type.STRING: "String value is",
    Parameter.Type.BYTE_ARRAY: "Byte values are",
    Parameter.Type.BOOL_ARRAY: "Boolean values are",
    Parameter.Type.INTEGER_ARRAY: "Integer values are",
    Parameter.Type.DOUBLE_ARRAY: "Double values are",
    Parameter.Type.STRING_ARRAY: "String values are",
}


def main(arguments: Sequence[str]) -> int:
    """Run the verb."""
    return run_subverb("ros2 param", _SUBVERBS, arguments)


class ParameterClient:
    """The parameters of one node, through its services."""

    def __init__(self, command: CommandNode, name: str) -> None:
        self._command = command
        self._name = name
        self._client = AsyncParameterClient(command.node, name)

    def names(self) -> list[str]:
        """Return the names, sorted."""
        response: Any = self._result(self._client.list_parameters())
        return sorted(response.result.names)

    def values(self, names: Sequence[str]) -> dict[str, Any]:
        """Return messages rcl_interfaces/ParameterValue by name."""
        response: Any = self._result(self._client.get_parameters(list(names)))
        return dict(zip(names, response.values, strict=False))

    def set(self, name: str, value: Any) -> str:
        """Set a parameter and return the node's remark; UsageError if the node refuses."""
        (result,) = self._set(Parameter(name, value=value))
        if not result.successful:
            raise UsageError(f"setting parameter '{name}' of '{self._name}' failed: {result.reason}")
        reason: str = result.reason
        return reason

    def _set(self, parameter: Parameter) -> Any:
        response: Any = self._result(self._client.set_parameters([parameter]))
        return response.results

    def _result(self, future: Any) -> object:
        return self._command.result(future, _ANSWER_TIMEOUT_S, f"node '{self._name}'")

    def wait(self) -> None:
        """Wait for the services; UsageError if the node does not have them."""
        ready = self._command.wait_for(lambda: self._client.services_are_ready() or None, _ANSWER_TIMEOUT_S)
        if not ready:
            raise UsageError(f"node '{self._name}' does not offer its parameters")


@contextlib.contextmanager
def _parameters_of(options: argparse.Namespace) -> Iterator[ParameterClient]:
    with command_node() as command:
        name, namespace = wait_for_node(command, options.node_name, options.spin_time)
        parameters = ParameterClient(command, f"{namespace.rstrip('/')}/{name}")
        parameters.wait()
        yield parameters


def _add_list_arguments(parser: argparse.ArgumentParser) -> None:
    add_discovery_arguments(parser)
    parser.add_argument("node_name", nargs="?", help="full name of the node (default: all nodes)")


def _list(options: argparse.Namespace) -> None:
    with command_node() as command:
        if options.node_name is not None:
            wait_for_node(command, options.node_name, options.spin_time)
            nodes = ["/" + options.node_name.strip("/")]
        else:
            nodes = node_names(command, options.spin_time)
        for node in nodes:
            parameters = ParameterClient(command, node)
            parameters.wait()
            indent = ""
            if options.node_name is None:
                print(f"{node}:")
                indent = "  "
            for name in parameters.names():
                print(f"{indent}{name}")


def _add_get_arguments(parser: argparse.ArgumentParser) -> None:
    add_discovery_arguments(parser)
    parser.add_argument("--hide-type", action="store_true", help="print the value only")
    parser.add_argument("node_name", help="full name of the node")
    parser.add_argument("parameter_name", help="the parameter")


def _get(options: argparse.Namespace) -> None:
    with _parameters_of(options) as parameters:
        name = options.parameter_name
        message = parameters.values([name]).get(name)
        if message is None:
            raise UsageError(f"node '{options.node_name}' has no parameter '{name}'")
    kind = Parameter.Type(message.type)
    if kind is Parameter.Type.NOT_SET:
        print("Parameter not set.")
        return
    value = _python_value(message)
    print(value if options.hide_type else f"{_LABELS[kind]}: {value}")


def _add_set_arguments(parser: argparse.ArgumentParser) -> None:
    add_discovery_arguments(parser)
    parser.add_argument("node_name", help="full name of the node")
    parser.add_argument("parameter_name", help="the parameter")
    parser.add_argument("value", help="the value in YAML")


def _set(options: argparse.Namespace) -> None:
    try:
        value = yaml.safe_load(options.value)
    except yaml.YAMLError as error:
        raise UsageError(f"'{options.value}' is not valid YAML: {' '.join(str(error).split())}") from error
    if isinstance(value, dict) or value is None:
        value = options.value
    with _parameters_of(options) as parameters:
        reason = parameters.set(options.parameter_name, value)
    print(f"Set parameter successful{f': {reason}' if reason else ''}")


def _add_dump_arguments(parser: argparse.ArgumentParser) -> None:
    add_discovery_arguments(parser)
    parser.add_argument("node_name", help="full name of the node")


def _dump(options: argparse.Namespace) -> None:
    with _parameters_of(options) as parameters:
        values = parameters.values(parameters.names())
    tree: dict[str, Any] = {}
    for name, message in values.items():
        *groups, last = name.split(".")
        branch = tree
        for group in groups:
            branch = branch.setdefault(group, {})
        branch[last] = _python_value(message)
    print(yaml.safe_dump({"/" + options.node_name.strip("/"): {"ros__parameters": tree}}), end="")


def _python_value(message: Any) -> Any:
    value = parameter_value_to_python(message)
    return value if value is None or isinstance(value, bool | int | float | str) else list(value)


_SUBVERBS = {
    "list": Subverb("List the parameters of a node", _add_list_arguments, _list),
    "get": Subverb("Show a parameter", _add_get_arguments, _get),
    "set": Subverb("Set a parameter", _add_set_arguments, _set),
    "dump": Subverb("Print all parameters of a node as a parameter file", _add_dump_arguments, _dump),
}
