"""`ros2 node`: nodes of the running graph."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..errors import UsageError
from ..ros.graph import CommandNode, add_discovery_arguments, command_node
from ..subverbs import Subverb, run_subverb


def main(arguments: Sequence[str]) -> int:
    """Run the verb."""
    return run_subverb("ros2 node", _SUBVERBS, arguments)


def node_names(command: CommandNode, timeout_s: float, *, hidden: bool = False) -> list[str]:
    """Return the full names of the nodes that are running, sorted; a name in use twice comes twice."""
    own = command.node.get_name()
    pairs = command.settled(lambda: sorted(command.node.get_node_names_and_namespaces()), timeout_s)
    return sorted(
        f"{namespace.rstrip('/')}/{name}"
        for name, namespace in pairs
        if name != own and (hidden or not name.startswith("_"))
    )


def wait_for_node(command: CommandNode, name: str, timeout_s: float) -> tuple[str, str]:
    """Return name and namespace of a node; UsageError if it does not appear within `timeout_s`."""
    full = "/" + name.strip("/")
    namespace, _, base = full.rpartition("/")
    wanted = (base, namespace or "/")
    found = command.wait_for(
        lambda: wanted if wanted in command.node.get_node_names_and_namespaces() else None, timeout_s
    )
    if found is None:
        raise UsageError(f"node '{full}' does not appear within {timeout_s:g} s (`ros2 node list` shows the others)")
    return found


def _add_list_arguments(parser: argparse.ArgumentParser) -> None:
    add_discovery_arguments(parser)
    parser.add_argument("-a", "--all", action="store_true", help="hidden nodes too")
    parser.add_argument("-c", "--count-nodes", action="store_true", help="print the number only")


def _list(options: argparse.Namespace) -> None:
    with command_node() as command:
        names = node_names(command, options.spin_time, hidden=options.all)
    if options.count_nodes:
        print(len(names))
        return
    print(*names, sep="\n", end="\n" if names else "")


def _add_info_arguments(parser: argparse.ArgumentParser) -> None:
    add_discovery_arguments(parser)
    parser.add_argument("node_name", help="full name of the node")


def _info(options: argparse.Namespace) -> None:
    with command_node() as command:
        name, namespace = wait_for_node(command, options.node_name, options.spin_time)
        node = command.node
        lists = command.settled(
            lambda: (
                node.get_subscriber_names_and_types_by_node(name, namespace),
                node.get_publisher_names_and_types_by_node(name, namespace),
                node.get_service_names_and_types_by_node(name, namespace),
                node.get_client_names_and_types_by_node(name, namespace),
            ),
            options.spin_time,
        )
    subscribers, publishers, servers, clients = (sorted(pairs) for pairs in lists)
    print(f"{namespace.rstrip('/')}/{name}")
    for title, pairs in (
        ("Subscribers", _without_actions(subscribers)),
        ("Publishers", _without_actions(publishers)),
        ("Service Servers", _without_actions(servers)),
        ("Service Clients", _without_actions(clients)),
        ("Action Servers", _actions(servers)),
        ("Action Clients", _actions(clients)),
    ):
        print(f"  {title}:")
        for entity, types in pairs:
            print(f"    {entity}: {', '.join(types)}")
    print()


def _without_actions(pairs: Sequence[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    return [(name, types) for name, types in pairs if "/_action/" not in name]


def _actions(pairs: Sequence[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Return the actions behind the `send_goal` services, with the types of the actions."""
    suffix = "/_action/send_goal"
    return [
        (name.removesuffix(suffix), [kind.removesuffix("_SendGoal") for kind in types])
        for name, types in pairs
        if name.endswith(suffix)
    ]


_SUBVERBS = {
    "list": Subverb("List the nodes", _add_list_arguments, _list),
    "info": Subverb("Show what a node publishes, subscribes and serves", _add_info_arguments, _info),
}
