"""Names of nodes and namespaces."""

from __future__ import annotations

import re

_NODE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_node_name(name: str) -> str:
    """Return a node's name; ValueError if it is not letters, digits and underscores."""
    if not _NODE_NAME.fullmatch(name):
        raise ValueError(
            f"invalid node name '{name}': it consists of letters, digits and underscores and does not begin "
            "with a digit"
        )
    return name


def check_namespace(namespace: str) -> str:
    """Return an absolute namespace; ValueError if a part of it is no valid name."""
    for part in namespace.strip("/").split("/") if namespace != "/" else ():
        if not _NODE_NAME.fullmatch(part):
            raise ValueError(f"invalid namespace '{namespace}': '{part}' is not a valid name")
    return namespace


def joined_namespace(base: str | None, namespace: str | None) -> str | None:
    """Return `namespace` below `base`; an absolute one stands alone, None is nothing."""
    if namespace is None or namespace == "":
        return base
    if base is None or namespace.startswith("/"):
        return namespace
    return f"{base.rstrip('/')}/{namespace}"


def absolute(namespace: str | None) -> str | None:
    """Return the namespace with a slash in front and none at its end; None stays None."""
    if namespace is None:
        return None
    return "/" + namespace.strip("/")
