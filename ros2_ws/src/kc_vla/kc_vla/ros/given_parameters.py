"""How a node was given its parameters: by its own name, or among those that are for many nodes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kc_vla.core.untrusted import parsed_yaml, read_text

_PARAMETERS = "ros__parameters"


def for_many(words: Sequence[str], node: str, by_launch: bool) -> frozenset[str]:
    """Return the names of parameters that a command line gives this node only among others.

    A launch file gives them with `SetParameter` to every node that follows, and a file of parameters below `/**`. Who
    types a parameter for one node, or names the node in a file, means that node.

    Args:
        words: the command line.
        node: name of the node, without its namespace.
        by_launch: a launch file has made the command line.
    """
    many: set[str] = set()
    own: set[str] = set()
    for flag, value in _ros_arguments(words):
        if flag == "--params-file":
            for key, names in _in_file(Path(value)):
                (own if key == node else many).update(names)
        elif flag in ("-p", "--param"):
            name = value.partition(":=")[0]
            mine = name.startswith(f"{node}:")
            (many if by_launch and not mine else own).add(name.rpartition(":")[2])
    return frozenset(many - own)


def started_by_launch(words: Sequence[str]) -> bool:
    """Return whether a launch file has started this process: it gives nodes their names, and is called `launch`."""
    if any(value.startswith("__node:=") for flag, value in _ros_arguments(words) if flag in ("-r", "--remap")):
        return True
    try:
        parent = Path(f"/proc/{os.getppid()}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"launch" in parent


def _ros_arguments(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the flags of ROS with their values; the other words of the command line are left out."""
    ours = False
    waiting = ""
    for word in words:
        if waiting:
            yield waiting, word
            waiting = ""
        elif word == "--ros-args":
            ours = True
        elif word == "--":
            ours = False
        elif ours and word in ("-p", "--param", "--params-file", "-r", "--remap"):
            waiting = word


def _in_file(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield the last name of each key of a file of parameters, and the names of the parameters below it."""
    try:
        content = parsed_yaml(read_text(path))
    except (OSError, ValueError):
        return  # rclpy has read it before, and would have said so
    yield from _below("", content)


def _below(key: str, content: Any) -> Iterator[tuple[str, set[str]]]:
    if isinstance(content, Mapping):
        for name, inner in content.items():
            if name == _PARAMETERS:
                yield key, set(_flat(inner.items() if isinstance(inner, Mapping) else ()))
            else:
                yield from _below(str(name).rpartition("/")[2], inner)


def _flat(items: Iterable[tuple[Any, Any]], above: str = "") -> Iterator[str]:
    for name, value in items:
        if isinstance(value, Mapping):
            yield from _flat(value.items(), f"{above}{name}.")
        else:
            yield f"{above}{name}"
