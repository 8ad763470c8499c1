"""A map as JSON or GraphML, for other programs and back; each has all that the graph has."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from kc_vla.core.files import write_whole
from kc_vla.core.untrusted import parsed_json, read_text
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.fields import KINDS, from_whole_fields, kind_of, to_whole_fields
from kc_vla.memory.long_term.graph import SceneGraph, whole_graph
from kc_vla.memory.long_term.nodes import Area, Connection, Node, SceneObject
from kc_vla.memory.long_term.query import NEXT_TO, neighbours
from kc_vla.memory.long_term.spark_dsg_file import read_spark_dsg, write_spark_dsg

FORMAT, VERSION = "kc_vla scene graph", 2
_FLAT_VERSION = 1
"""The version of a map without connections, so that older programs read it."""
_LISTS = {"floors": "floor", "areas": "area", "connections": "connection", "objects": "object"}
_OPTIONAL = "connections"
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class GraphFileFormat(NamedTuple):
    """A form of file: how a graph is written to one, and read from one as the map of a name, or of its own."""

    write: Callable[[SceneGraph, Path], None]
    read: Callable[[Path, str], SceneGraph]


def form_of(path: Path, name: str = "") -> GraphFileFormat:
    """Return the form that is called so, or that the ending of a file names; GraphError if neither does."""
    forms = {
        "json": GraphFileFormat(_write_json, _read_json),
        "graphml": GraphFileFormat(_write_graphml, _read_graphml),
        "spark-dsg": GraphFileFormat(write_spark_dsg, read_spark_dsg),
    }
    chosen = name or path.suffix.removeprefix(".")
    if chosen not in forms:
        raise GraphError(f"{told(chosen)} is no form of a scene graph: choose one of {', '.join(forms)}")
    return forms[chosen]


def _write_json(graph: SceneGraph, path: Path) -> None:
    lists = {
        name: [to_whole_fields(node) for node in graph.nodes() if kind_of(node) == kind]
        for name, kind in _LISTS.items()
        if name != _OPTIONAL or graph.connections
    }
    version = VERSION if graph.connections else _FLAT_VERSION
    head = {"format": FORMAT, "version": version, "map_id": graph.map_id, "number": graph.number}
    write_whole(path, json.dumps(head | lists, indent=1) + "\n")


def _read_json(path: Path, map_id: str) -> SceneGraph:
    try:
        content = parsed_json(read_text(path))
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise GraphError(f"is no {FORMAT}: name the --format that it has, such as spark-dsg, or export it anew")
        if content.get("version") not in (_FLAT_VERSION, VERSION):
            known = f"{_FLAT_VERSION} and {VERSION}"
            raise GraphError(f"is of version {told(content.get('version'))}, this kc_vla reads {known}: update it")
        nodes = []
        for name, kind in _LISTS.items():
            listed = content.get(name, [] if name == _OPTIONAL else None)
            if not isinstance(listed, list):
                raise GraphError(f"has no list of {name}")
            nodes += [from_whole_fields(kind, given) for given in listed]
        number = content.get("number")
        return whole_graph(map_id or content.get("map_id", ""), nodes, number if type(number) is int else 1)
    except (ValueError, GraphError) as error:
        raise GraphError(f"{path}: {error}") from error


def _write_graphml(graph: SceneGraph, path: Path) -> None:
    """Write each node with its kind, label and place for viewers, and all its fields as JSON."""
    import networkx as nx  # half a second, which JSON is spared

    out: nx.DiGraph = nx.DiGraph(map_id=graph.map_id, format=FORMAT, version=VERSION, number=graph.number)
    for node in graph.nodes():
        said: dict[str, Any] = {"kind": kind_of(node), "label": _NO_XML.sub("?", _label(node))}
        if isinstance(node, (Area, SceneObject)):
            said |= dict(zip("xyz", map(float, node.position), strict=True))
        out.add_node(node.id, **said, fields=json.dumps(to_whole_fields(node)))
    out.add_edges_from(graph.network.edges(data=True))
    for one in graph.known():
        out.add_edges_from(
            (one.id, two, {"kind": NEXT_TO}) for kind, two in neighbours(graph, one.id) if kind == NEXT_TO
        )
    written = BytesIO()
    nx.write_graphml_xml(out, written)
    write_whole(path, written.getvalue().decode())


def _read_graphml(path: Path, map_id: str) -> SceneGraph:
    import networkx as nx

    try:
        text = read_text(path)
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise GraphError("defines entities of its own: take them out")
        found = nx.read_graphml(BytesIO(text.encode()))
        if found.graph.get("format") != FORMAT:
            raise GraphError(f"is no {FORMAT}: name the --format that it has, such as spark-dsg, or export it anew")
        nodes = [
            from_whole_fields(str(said.get("kind")), parsed_json(str(said.get("fields"))))
            for _, said in found.nodes(data=True)
        ]
        number = found.graph.get("number")
        order = list(KINDS)
        nodes.sort(key=lambda node: order.index(kind_of(node)))
        return whole_graph(map_id or str(found.graph.get("map_id", "")), nodes, number if type(number) is int else 1)
    except (ValueError, KeyError, GraphError, nx.NetworkXException, ElementTree.ParseError) as error:
        raise GraphError(f"{path}: {' '.join(str(error).split())[:300]}") from error


def _label(node: Node) -> str:
    if isinstance(node, SceneObject):
        return node.object_type
    return node.kind if isinstance(node, Connection) else node.name or node.id
