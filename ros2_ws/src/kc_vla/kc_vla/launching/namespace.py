"""A launch file that another one includes in a namespace: what its nodes must not share with those outside.

`PushRosNamespace` moves the nodes, and the relative names of their topics with them. Names that ROS has in the root,
such as /clock, and files of the machine have to follow.
"""

from __future__ import annotations

from launch import LaunchContext, Substitution

from kc_vla.core.namespaces import suffix_of

SHARED_TOPICS = ("clock", "tf", "tf_static")
"""Topics that ROS has in the root: two simulators have two clocks, and two robots frames of the same names."""


def namespace_of(context: LaunchContext) -> str:
    """Return the namespace that nodes are started in now, as "/name"; "/" is the root."""
    return "/" + str(context.launch_configurations.get("ros_namespace") or "").strip("/")


class Suffix(Substitution):
    """The ending of file names for the launch's namespace; empty in the root namespace."""

    def describe(self) -> str:
        """Return a description for people, as launch prints it."""
        return "-<namespace>, if any"

    def perform(self, context: LaunchContext) -> str:
        """Return the ending."""
        return suffix_of(namespace_of(context))


class InStack(Substitution):
    """The full name of a topic of the stack, also for a node that has a namespace of its own within the stack."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def describe(self) -> str:
        """Return a description for people, as launch prints it."""
        return f"<namespace>/{self._name}"

    def perform(self, context: LaunchContext) -> str:
        """Return the name."""
        return f"{namespace_of(context).rstrip('/')}/{self._name}"


def remappings() -> list[tuple[str, InStack]]:
    """Return what keeps `SHARED_TOPICS` within the stack; in the root nothing changes."""
    return [(f"/{name}", InStack(name)) for name in SHARED_TOPICS]
