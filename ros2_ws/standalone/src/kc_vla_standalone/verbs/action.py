"""`ros2 action`: actions of the running graph, and goals for them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import (
    ActionClient,
    get_action_client_names_and_types_by_node,
    get_action_names_and_types,
    get_action_server_names_and_types_by_node,
)

from ..errors import UsageError
from ..ros.graph import DISCOVERY_TIMEOUT_S, CommandNode, add_discovery_arguments, command_node
from ..ros.interfaces import interface_class, message_from_yaml
from ..ros.message_text import message_yaml
from ..subverbs import Subverb, run_subverb

_LONGEST_ANSWER_S = 24 * 3600.0
_STATUS = {
    getattr(GoalStatus, f"STATUS_{name}"): name
    for name in ("UNKNOWN", "ACCEPTED", "EXECUTING", "CANCELING", "SUCCEEDED", "CANCELED", "ABORTED")
}


def main(arguments: Sequence[str]) -> int:
    """Run the verb."""
    return run_subverb("ros2 action", _SUBVERBS, arguments)


def _add_list_arguments(parser: argparse.ArgumentParser) -> None:
    add_discovery_arguments(parser)
    parser.add_argument("-t", "--show-types", action="store_true", help="show the types too")
    parser.add_argument("-c", "--count-actions", action="store_true", help="print the number only")


def _list(options: argparse.Namespace) -> None:
    with command_node() as command:
        actions = command.settled(lambda: sorted(get_action_names_and_types(command.node)), options.spin_time)
    if options.count_actions:
        print(len(actions))
        return
    for name, types in actions:
        print(f"{name} [{', '.join(types)}]" if options.show_types else name)


def _add_info_arguments(parser: argparse.ArgumentParser) -> None:
    add_discovery_arguments(parser)
    parser.add_argument("action_name", help="the action")
    parser.add_argument("-t", "--show-types", action="store_true", help="show the types too")
    parser.add_argument("-c", "--count", action="store_true", help="print the numbers only")


def _info(options: argparse.Namespace) -> None:
    with command_node() as command:
        name = command.absolute(options.action_name)
        ends = command.settled(lambda: _ends(command, name), options.spin_time)
    print(f"Action: {options.action_name}")
    for what, found in zip(("clients", "servers"), ends, strict=True):
        print(f"Action {what}: {len(found)}")
        for node, types in () if options.count else found:
            print(f"    {node} [{', '.join(types)}]" if options.show_types else f"    {node}")


def _ends(command: CommandNode, action: str) -> tuple[list[tuple[str, list[str]]], ...]:
    """Return the clients and the servers of an action: full name of each node, and the types."""
    looks = (get_action_client_names_and_types_by_node, get_action_server_names_and_types_by_node)
    found: list[list[tuple[str, list[str]]]] = [[], []]
    for node, namespace in sorted(set(command.node.get_node_names_and_namespaces())):
        for ends, look in zip(found, looks, strict=True):
            try:
                types = dict(look(command.node, node, namespace)).get(action)
            except RuntimeError:  # the node has gone since
                continue
            if types:
                ends.append((f"{namespace.rstrip('/')}/{node}", types))
    return tuple(found)


def _add_goal_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action_name", help="the action")
    parser.add_argument("action_type", help="its type, such as kc_vla_msgs/action/ExecuteInstruction")
    parser.add_argument("goal", nargs="?", default="{}", help="the goal as a YAML dictionary")
    parser.add_argument("-f", "--feedback", action="store_true", help="show what the server says on its way")


def _send_goal(options: argparse.Namespace) -> int | None:
    kind = interface_class(options.action_type, "action")
    with command_node() as command:
        goal = message_from_yaml(kind.Goal, options.goal, command.node.get_clock().now().to_msg())
        name = command.absolute(options.action_name)
        client = ActionClient(command.node, kind, name)
        try:
            return _pursue(command, client, name, goal, options)
        finally:
            client.destroy()


def _pursue(command: CommandNode, client: Any, name: str, goal: Any, options: argparse.Namespace) -> int | None:
    print("Waiting for an action server to become available...", flush=True)
    if not command.wait_for(lambda: client.server_is_ready() or None, DISCOVERY_TIMEOUT_S):
        raise UsageError(f"no action '{name}' of type '{options.action_type}' within {DISCOVERY_TIMEOUT_S:g} s")
    print(f"Sending goal:\n     {message_yaml(goal)}", flush=True)
    heard = (
        (lambda told: print(f"Feedback:\n    {message_yaml(told.feedback)}", flush=True)) if options.feedback else None
    )
    sent = client.send_goal_async(goal, heard)
    handle: Any = command.result(sent, _LONGEST_ANSWER_S, f"action '{name}'")
    if not handle.accepted:
        print("Goal was rejected.")
        return None
    print(f"Goal accepted with ID: {bytes(handle.goal_id.uuid).hex()}\n", flush=True)
    try:
        answer: Any = command.result(handle.get_result_async(), _LONGEST_ANSWER_S, f"action '{name}'")
    except KeyboardInterrupt:  # as upstream: who goes away wants it no longer
        print("Canceling goal...", flush=True)
        canceled: Any = command.result(handle.cancel_goal_async(), DISCOVERY_TIMEOUT_S, f"action '{name}'")
        print("Goal canceled." if canceled.goals_canceling else "Failed to cancel goal", flush=True)
        raise
    print(f"Result:\n    {message_yaml(answer.result)}")
    print(f"Goal finished with status: {_STATUS.get(answer.status, 'UNKNOWN')}")
    return None


_SUBVERBS = {
    "list": Subverb("List the actions", _add_list_arguments, _list),
    "info": Subverb("Show who serves an action and who asks for it", _add_info_arguments, _info),
    "send_goal": Subverb("Send a goal, and wait for its result", _add_goal_arguments, _send_goal),
}
