"""Parameter files of ROS, `params:=`: looked at before a node is started, since rcl takes much for one that is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from kc_vla.core.deprecation import deprecated
from kc_vla.core.untrusted import parsed_yaml, read_text
from kc_vla.launching.declared import SIMULATED as SIMULATED
from kc_vla.launching.declared import node_names as node_names
from kc_vla.launching.declared import parameters_of_node

_PARAMETERS = "ros__parameters"
_ANY = {"*", "**"}
"""Names that mean several nodes."""
_MOST_BYTES = 1 << 20
_QOS_OF_ROS = "qos_overrides."
_WITH_VIEW = "camera"
"""A node with a namespace of its own, that of its view."""


class ParameterFileError(RuntimeError):
    """A file that names no parameters of nodes."""


def check_parameter_file(path: Path, namespace: str = "/") -> None:
    """Check that a file names nodes of the stack and the parameters of each, in the form that ROS expects.

    Args:
        path: of the file.
        namespace: that the nodes are started in, as "/name".

    Raises:
        ParameterFileError: it cannot be read, is something else, or names a node that there is not, or that is in
            another namespace.
    """
    known = node_names()
    for key in _sections(_read(path)):
        name = key.rpartition("/")[2]
        if name not in known | _ANY:
            near = get_close_matches(name, known, 1)
            meant = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(sorted(known))}"
            raise ParameterFileError(f"'{path}': there is no node '{name}': {meant}")
        if not _can_match(key, namespace):
            wanted = f"/**/{name}" if name not in _ANY else "/**"
            raise ParameterFileError(
                f"'{path}': '{key}' matches no node of this launch, whose nodes are in {namespace}: write '{wanted}'"
            )


def parameters_for(path: Path, node: str, namespace: str, view: str = "") -> dict[str, Any]:
    """Return what a parameter file says of a node, by name; of what it says twice, what it says last.

    A name without a slash means the node of that name in this launch, whatever its namespace. What the file says of
    all nodes counts for those that have such a parameter.

    Args:
        path: a file that `check_parameter_file` takes.
        node: the node's name.
        namespace: that the launch is in.
        view: namespace of the node within that; empty: none.

    Raises:
        ParameterFileError: it cannot be read.
    """
    declared, found = parameters_of_node(node), dict[str, Any]()
    for key, section in _sections(_read(path)).items():
        if not _matches(key, node, namespace, view):
            continue
        values = dict(_flat(section))
        if declared is not None:
            values = _by_names_of_today(values, node, declared.former)
            if key.rpartition("/")[2] in _ANY:
                values = {name: value for name, value in values.items() if _is_known(name, declared.names)}
        found |= values
    return found


def _by_names_of_today(values: Mapping[str, Any], node: str, former: Mapping[str, str]) -> dict[str, Any]:
    """Return values by the names of today, with a line for each former name."""
    for name in values.keys() & former.keys():
        deprecated(f"the parameter '{name}' of {node} is called '{former[name]}'")
    return {former.get(name, name): value for name, value in values.items()}


def check_parameter_names(path: Path) -> None:
    """Check that each node in a file has the parameters that the file sets, as far as its package is installed.

    Raises:
        ParameterFileError: one has not; the line says which is meant.
    """
    declared = {name: found for name in node_names() if (found := parameters_of_node(name)) is not None}
    nodes = {name: found.names | found.former.keys() for name, found in declared.items()}
    anywhere = frozenset[str]().union(*nodes.values())
    for key, section in _sections(_read(path)).items():
        node = key.rpartition("/")[2]
        known = anywhere if node in _ANY else nodes.get(node)
        for name, _ in _flat(section):
            if known is not None and not _is_known(name, known):
                says = "no node has a parameter" if node in _ANY else f"{node} has no parameter"
                raise ParameterFileError(f"'{path}': {says} '{name}': {_advice(name, known)}")


def _advice(name: str, known: frozenset[str]) -> str:
    near = get_close_matches(name.lower(), sorted(known), 1)
    return f"did you mean '{near[0]}'?" if near else "`ros2 param list` shows those that there are"


def _is_known(name: str, known: frozenset[str]) -> bool:
    return name in known or name.startswith(_QOS_OF_ROS)


def _can_match(key: str, namespace: str) -> bool:
    """Return whether a node of a launch in that namespace can be meant; a camera has any view's namespace."""
    *inner, name = key.strip("/").split("/")
    views = ("", inner[-1] if inner and inner[-1] not in _ANY else "view")
    nodes = ("arm_controller", _WITH_VIEW) if name in _ANY else (name,)
    return any(_matches(key, node, namespace, view) for node in nodes for view in views)


def _matches(key: str, node: str, namespace: str, view: str) -> bool:
    """Return whether a key of a file names a node; wildcards as in rclpy, which takes /** for any number of names."""
    if "/" not in key:
        return key in (node, *_ANY)
    full = "/".join(("", *filter(None, (namespace.strip("/"), view, node))))
    pattern = re.escape("/" + key.strip("/")).replace(r"/\*\*", r"(/\w+)*").replace(r"/\*", r"/\w+")
    if re.fullmatch(pattern, full):
        return True
    within = "/".join(("", *filter(None, (view, node))))
    return not key.startswith("/") and bool(re.fullmatch(pattern, within))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content = parsed_yaml(read_text(path, _MOST_BYTES))
    except FileNotFoundError:
        raise ParameterFileError(f"parameter file '{path}' does not exist") from None
    except OSError as error:
        raise ParameterFileError(f"parameter file '{path}' cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ParameterFileError(f"parameter file '{path}' {error}") from error
    if not _names_nodes(content):
        raise ParameterFileError(f"'{path}' is no parameter file: it must name nodes, each with its {_PARAMETERS}")
    found: Mapping[str, Any] = content
    return found


def _sections(content: Mapping[str, Any], above: str = "") -> dict[str, Mapping[str, Any]]:
    """Return the parameters below each key; of nested keys the names are joined by slashes."""
    found: dict[str, Mapping[str, Any]] = {}
    for name, inner in content.items():
        key = f"{above}/{name.lstrip('/')}" if above else name
        if inner.keys() == {_PARAMETERS}:
            found[key] = inner[_PARAMETERS] or {}
        else:
            found |= _sections(inner, key)
    return found


def _flat(section: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in section.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _names_nodes(content: Any) -> bool:
    """Return whether all branches end in parameters, below the names of nodes and perhaps of their namespaces."""
    if not isinstance(content, dict) or not content or _PARAMETERS in content:
        return False
    return all(isinstance(name, str) and _is_node(inner) for name, inner in content.items())


def _is_node(content: Any) -> bool:
    if isinstance(content, dict) and content.keys() == {_PARAMETERS}:
        return isinstance(content[_PARAMETERS], dict | None)
    return _names_nodes(content)
