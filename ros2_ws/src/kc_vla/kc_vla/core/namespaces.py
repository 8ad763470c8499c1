"""The ROS namespace of a stack: what it adds to names that two stacks of one machine would share otherwise."""

from __future__ import annotations


def suffix_of(namespace: str) -> str:
    """Return what distinguishes files and ids of a stack in that namespace: empty in the root, else "-name"."""
    inner = namespace.strip("/").replace("/", "-")
    return f"-{inner}" if inner else ""


def name_within(name: str, namespace: str) -> str | None:
    """Return the name of a node as the stack in a namespace calls it, None of a node outside.

    Args:
        name: full name of a node, with or without its first slash; "ns/wrist/camera".
        namespace: of the stack; "/ns". In the root every node is within.
    """
    inner, bare = namespace.strip("/"), name.lstrip("/")
    if not inner:
        return bare
    return bare.removeprefix(f"{inner}/") if bare.startswith(f"{inner}/") else None
