"""Nodes as the fields of a JSON object, and back: in the store, in exported files, for messages.

What a field would say by default is left out, and so is what is no text, the blob of a node, but in whole fields.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.nodes import Area, Connection, Floor, Node, SceneObject

KINDS: dict[str, type[Node]] = {"floor": Floor, "area": Area, "connection": Connection, "object": SceneObject}
BLOBS = {"floor": "", "area": "edge", "connection": "", "object": "embedding"}
"""The field of each kind that is no text; empty where there is none."""
_NAMES = {kind: name for name, kind in KINDS.items()}


def _defaults(kind: type[Node]) -> dict[str, Any]:
    """Return the names of the fields, each with its default or MISSING."""
    return {
        each.name: each.default_factory() if each.default_factory is not MISSING else each.default
        for each in fields(kind)
        if each.name not in BLOBS.values()
    }


_DEFAULTS = {kind: _defaults(kind) for kind in KINDS.values()}


def kind_of(node: Node) -> str:
    """Return the kind of a node, `floor`, `area`, `connection` or `object`."""
    return _NAMES[type(node)]


def blob_of(node: Node) -> bytes:
    """Return what of a node is no text: an object's embedding, an area's edge."""
    blob: bytes = getattr(node, BLOBS[kind_of(node)], b"")
    return blob


def to_fields(node: Node) -> dict[str, Any]:
    """Return a node as what JSON can hold."""
    found: dict[str, Any] = {}
    for name, default in _DEFAULTS[type(node)].items():
        value = getattr(node, name)
        if value != default:
            found[name] = sorted(value) if isinstance(value, frozenset) else value
    return found


def from_fields(kind: str, given: Mapping[str, Any], blob: bytes = b"") -> Node:
    """Return the node of such fields, and of what is no text.

    Raises:
        GraphError: they are not those of a node of that kind, or one has a value that it cannot have.
    """
    if kind not in KINDS:
        raise GraphError(f"{told(kind)} is no kind of node: there are {', '.join(KINDS)}")
    values = dict(given)
    for name in ("position", "size"):
        if type(vector := values.get(name)) is list:
            values[name] = tuple(vector)
    for name in ("areas", "places"):
        if type(ends := values.get(name)) is list:
            values[name] = tuple(tuple(end) if type(end) is list else end for end in ends)
    if "by_hand" in values:
        values["by_hand"] = _names(values["by_hand"])
    for name in ("attributes", "adjacent"):
        if name in values and type(values[name]) is not dict:
            raise GraphError(f"{kind} {told(values.get('id'))}: {name} is {told(values[name])}")
    if blob:
        values[BLOBS[kind] or "blob"] = blob
    try:
        return KINDS[kind](**values)
    except TypeError:
        known = _DEFAULTS[KINDS[kind]]
        missing = [name for name, default in known.items() if default is MISSING and name not in values]
        unknown = [name for name in values if name not in known]
        raise GraphError(
            f"{kind} {told(values.get('id'))}: "
            + (f"{', '.join(missing)} missing" if missing else f"unknown: {told(', '.join(map(str, unknown)))}")
        ) from None


def to_whole_fields(node: Node) -> dict[str, Any]:
    """Return the same with what is no text, in base64: all of a node, for a file."""
    found = to_fields(node)
    if blob := blob_of(node):
        found[BLOBS[kind_of(node)]] = base64.b64encode(blob).decode()
    return found


def from_whole_fields(kind: str, given: Any) -> Node:
    """Return the node of what `to_whole_fields` made; GraphError as `from_fields`, or what is no text is no base64."""
    if not isinstance(given, dict):
        raise GraphError(f"{told(given)} is no {kind}: it must be an object of fields")
    blob_name = BLOBS.get(kind, "")
    values: Mapping[str, Any] = {name: value for name, value in given.items() if name != blob_name}
    try:
        blob = base64.b64decode(given.get(blob_name, ""), validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise GraphError(f"{kind} {told(given.get('id'))}: its {blob_name} is no base64") from None
    return from_fields(kind, values, blob)


def _names(value: Any) -> frozenset[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
        raise GraphError(f"by_hand is {told(value)}: it must be names of fields")
    return frozenset(value)
