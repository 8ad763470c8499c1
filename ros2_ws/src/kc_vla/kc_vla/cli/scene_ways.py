"""`kc-vla memory connect|disconnect|way`: what connects the floors of a map, and the ways over it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kc_vla.memory.long_term.memory import LongTermMemory

_KINDS = ("stairs", "lift", "ramp")
MapOf = Callable[["LongTermMemory", argparse.Namespace], str]
"""Returns the map that is meant."""


def add_way_actions(actions: Any, map_of: MapOf) -> None:
    """Add the actions to the parsers of `kc-vla memory`.

    Args:
        actions: what `add_subparsers` returned.
        map_of: finds the map of a store that the options mean.
    """
    texts = {
        "connect": "two areas of different floors by stairs, a lift or a ramp",
        "disconnect": "take such a connection away",
        "way": "the shortest way between two places",
    }
    connect, disconnect, way = (actions.add_parser(name, help=text) for name, text in texts.items())
    for action in (connect, disconnect, way):
        action.add_argument("store", type=Path, help="file of the memory")
        action.add_argument("--map", default="", help="map_id (default: the only one)")
    for end in ("one", "other"):
        connect.add_argument(end, help="id or name of the area at an end of it")
    connect.add_argument("--kind", choices=_KINDS, default="stairs", help="what it is (default: stairs)")
    connect.add_argument("--length", type=float, required=True, metavar="M", help="length of the way between both, m")
    connect.add_argument(
        "--wait", type=float, metavar="M", help="fixed cost, as m of walking that take as long (10 of a lift, else 0)"
    )
    disconnect.add_argument("connection", help="its id, as connect and way print it")
    for end in ("begin", "end"):
        way.add_argument(end, help="id or name of an area, object or floor, such as kitchen or upstairs")
    connect.set_defaults(run=lambda options: _connect(options, map_of))
    disconnect.set_defaults(run=lambda options: _disconnect(options, map_of))
    way.set_defaults(run=lambda options: _way(options, map_of))


def _connect(options: argparse.Namespace, map_of: MapOf) -> None:
    from kc_vla.memory.long_term.memory import LongTermMemory  # heavy imports only for what needs them
    from kc_vla.memory.long_term.store import Store

    with Store(options.store) as store:
        memory = LongTermMemory(store)
        map_id = map_of(memory, options)
        made = memory.connect(map_id, options.one, options.other, options.kind, options.length, options.wait)
        each = memory.graph(map_id).connections[made]
    print(
        f"{made}: {each.kind} from {each.areas[0]} to {each.areas[1]}, {each.length_m:g} m and {each.wait_m:g} m wait"
    )


def _disconnect(options: argparse.Namespace, map_of: MapOf) -> None:
    from kc_vla.memory.long_term.memory import LongTermMemory
    from kc_vla.memory.long_term.store import Store

    with Store(options.store) as store:
        memory = LongTermMemory(store)
        memory.disconnect(map_of(memory, options), options.connection)
    print(f"{options.connection}: no way goes over it any more")


def _way(options: argparse.Namespace, map_of: MapOf) -> None:
    from kc_vla.memory.long_term.memory import LongTermMemory
    from kc_vla.memory.long_term.store import Store
    from kc_vla.memory.long_term.ways import way

    with Store(options.store, read_only=True) as store:
        memory = LongTermMemory(store)
        graph = memory.graph(map_of(memory, options))
        found = way(graph, options.begin, options.end)
    over = f", over {', '.join(found.over)}" if found.over else ""
    print(" ".join(found.areas))
    print(f"{found.length_m:.2f} m{over}")
