"""`ros2 service`: services of the running graph."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..errors import UsageError
from ..ros.graph import DISCOVERY_TIMEOUT_S, command_node
from ..ros.interfaces import interface_class, message_from_yaml
from ..ros.listing import add_listing_arguments, print_listing
from ..subverbs import Subverb, run_subverb

_LONGEST_ANSWER_S = 3600.0


def main(arguments: Sequence[str]) -> int:
    """Run the verb."""
    return run_subverb("ros2 service", _SUBVERBS, arguments)


def _add_list_arguments(parser: argparse.ArgumentParser) -> None:
    add_listing_arguments(parser, "services")


def _list(options: argparse.Namespace) -> None:
    with command_node() as command:
        services = command.settled(command.node.get_service_names_and_types, options.spin_time)
    print_listing(options, services)


def _add_call_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("service_name", help="the service")
    parser.add_argument("service_type", help="its type, such as std_srvs/srv/Trigger")
    parser.add_argument("values", nargs="?", default="{}", help="the request as a YAML dictionary")


def _call(options: argparse.Namespace) -> None:
    service_class = interface_class(options.service_type, "srv")
    with command_node() as command:
        now = command.node.get_clock().now().to_msg()
        request = message_from_yaml(service_class.Request, options.values, now)
        name = command.absolute(options.service_name)
        client = command.node.create_client(service_class, name)
        if not command.wait_for(lambda: client.service_is_ready() or None, DISCOVERY_TIMEOUT_S):
            offered = set(dict(command.node.get_service_names_and_types()).get(name, ()))
            others = ", ".join(sorted(offered - {options.service_type}))
            other = f"; it is offered as {others}" if others else ""
            raise UsageError(
                f"no service '{name}' of type '{options.service_type}' within {DISCOVERY_TIMEOUT_S:g} s{other}"
            )
        print(f"requester: making request: {request!r}\n", flush=True)
        # A service may take its time; Ctrl-C ends the wait.
        response = command.result(client.call_async(request), _LONGEST_ANSWER_S, f"service '{name}'")
        print(f"response:\n{response!r}\n")


_SUBVERBS = {
    "list": Subverb("List the services", _add_list_arguments, _list),
    "call": Subverb("Call a service", _add_call_arguments, _call),
}
