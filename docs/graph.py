"""Draws the graph of a running stack as Mermaid and puts it into nodes.md: `python docs/graph.py`.

The picture is what the nodes themselves say that they publish, subscribe to, serve and call.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from pathlib import Path

import rclpy
from rclpy.node import Node

PAGE = Path(__file__).resolve().parent / "nodes.md"
BEGIN, END = "<!-- graph: python docs/graph.py -->", "<!-- end of graph -->"
HIDDEN_TOPICS = {"/rosout", "/parameter_events", "/diagnostics", "/clock"}
LISTENERS = {"recorder", "episode_runner", "viewer", "foxglove"}
"""Nodes that listen to everything: one dashed arrow each stands for all their topics."""


def edges(node: Node, names: list[str]) -> dict[tuple[str, str], set[str]]:
    """Return what goes from which node to which: topics as they are named, services in italics."""
    given: defaultdict[str, set[str]] = defaultdict(set)
    taken: defaultdict[str, set[str]] = defaultdict(set)
    for name in names:
        for topic, _ in node.get_publisher_names_and_types_by_node(name, "/"):
            given[topic].add(name)
        for topic, _ in node.get_subscriber_names_and_types_by_node(name, "/"):
            taken[topic].add(name)
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for topic in given.keys() & taken.keys() - HIDDEN_TOPICS:
        for source in given[topic]:
            for target in taken[topic] - {source}:
                found[source, target].add(topic.lstrip("/"))
    served: defaultdict[str, set[str]] = defaultdict(set)
    for name in names:
        for service, _ in node.get_service_names_and_types_by_node(name, "/"):
            if not service.startswith(tuple(f"/{n}/" for n in names)):
                served[service].add(name)
    for name in names:
        for service, _ in node.get_client_names_and_types_by_node(name, "/"):
            for target in served[service]:
                found[name, target].add(f"<i>{service.lstrip('/')}</i>")
    return found


def mermaid(found: dict[tuple[str, str], set[str]]) -> str:
    """Return the graph in Mermaid's language."""
    lines = ["```mermaid", "flowchart LR"]
    for (source, target), what in sorted(found.items()):
        if target in LISTENERS:
            continue
        lines.append(f'    {source} -- "{"<br>".join(sorted(what))}" --> {target}')
    for listener in sorted({t for _, t in found} & LISTENERS):
        sources = sorted({s for s, t in found if t == listener} - LISTENERS)
        lines.append(f"    {' & '.join(sources)} -.-> {listener}")
    return "\n".join([*lines, "```"])


def main() -> int:
    """Look at the graph that is there and write it down."""
    rclpy.init()
    node = Node("graph_drawer")
    time.sleep(3.0)  # discovery has no end that could be waited for
    names = sorted(n for n, _ in node.get_node_names_and_namespaces() if n != "graph_drawer" and not n.startswith("_"))
    if not names:
        print("docs/graph.py: no nodes here: start the stack first, in the same ROS domain", file=sys.stderr)
        return 1
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{mermaid(edges(node, names))}\n{END}{rest.split(END)[1]}")
    print(f"{PAGE}: {len(names)} nodes")
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
