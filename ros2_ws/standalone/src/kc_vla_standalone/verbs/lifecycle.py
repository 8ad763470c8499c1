"""`ros2 lifecycle`: states and transitions of lifecycle nodes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState

from ..errors import UsageError
from ..ros.graph import CommandNode, add_discovery_arguments, command_node
from ..subverbs import Subverb, run_subverb
from .node import wait_for_node

_ANSWER_TIMEOUT_S = 5.0
# A transition loads models or opens devices: it may take long.
_TRANSITION_TIMEOUT_S = 120.0


def main(arguments: Sequence[str]) -> int:
    """Run the verb."""
    return run_subverb("ros2 lifecycle", _SUBVERBS, arguments)


def _call(command: CommandNode, node: str, service: str, kind: Any, request: Any, timeout_s: float) -> Any:
    client = command.node.create_client(kind, f"{node}/{service}")
    if not command.wait_for(lambda: client.service_is_ready() or None, _ANSWER_TIMEOUT_S):
        raise UsageError(f"node '{node}' is not a lifecycle node")
    return command.result(client.call_async(request), timeout_s, f"node '{node}'")


def _add_get_arguments(parser: argparse.ArgumentParser) -> None:
    add_discovery_arguments(parser)
    parser.add_argument("node_name", help="full name of the node")


def _get(options: argparse.Namespace) -> None:
    with command_node() as command:
        node = _node(command, options)
        state = _call(command, node, "get_state", GetState, GetState.Request(), _ANSWER_TIMEOUT_S)
    print(f"{state.current_state.label} [{state.current_state.id}]")


def _add_set_arguments(parser: argparse.ArgumentParser) -> None:
    add_discovery_arguments(parser)
    parser.add_argument("node_name", help="full name of the node")
    parser.add_argument("transition", help="label or number of the transition, such as configure")


def _set(options: argparse.Namespace) -> None:
    with command_node() as command:
        node = _node(command, options)
        request = GetAvailableTransitions.Request()
        available = _call(
            command, node, "get_available_transitions", GetAvailableTransitions, request, _ANSWER_TIMEOUT_S
        )
        transitions = [entry.transition for entry in available.available_transitions]
        chosen = [t for t in transitions if options.transition in (t.label, str(t.id))]
        if not chosen:
            labels = ", ".join(f"{t.label} [{t.id}]" for t in transitions) or "none"
            raise UsageError(f"'{options.transition}' is no transition that '{node}' can make now (it can: {labels})")
        change = ChangeState.Request(transition=chosen[0])
        result = _call(command, node, "change_state", ChangeState, change, _TRANSITION_TIMEOUT_S)
    if not result.success:
        raise UsageError(f"transition '{chosen[0].label}' of '{node}' failed")
    print("Transitioning successful")


def _node(command: CommandNode, options: argparse.Namespace) -> str:
    name, namespace = wait_for_node(command, options.node_name, options.spin_time)
    return f"{namespace.rstrip('/')}/{name}"


_SUBVERBS = {
    "get": Subverb("Show the state of a node", _add_get_arguments, _get),
    "set": Subverb("Request a transition of a node", _add_set_arguments, _set),
}
