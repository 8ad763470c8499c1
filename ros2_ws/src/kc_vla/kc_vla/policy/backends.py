"""The table of policies: `policy:=` of the launch files, `backend` of the node `policy_server`.

Another package adds a policy with an entry point of the group `kc_vla.policies` that names a `PolicyKind`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kc_vla.core.choice import LaunchChoice
from kc_vla.core.deprecation import deprecated
from kc_vla.core.robot import Robot
from kc_vla.core.tables import OpenTable
from kc_vla.policy.interface import Backend, PolicyError

T = TypeVar("T")


@dataclass(frozen=True)
class PolicyContext:
    """What every policy is made with.

    Attributes:
        robot: the robot.
        horizon: actions in a chunk.
        listen: `listen(stream, offer)` has `offer` called with what comes on a stream, on the node's thread: "leader"
            with the positions of the leader's joints and gripper, "joy" with the axes and the buttons.
        measured: takes a stage of an answer and how long it took, s; from any thread.
    """

    robot: Robot
    horizon: int
    listen: Callable[[str, Callable[..., None]], None] = lambda stream, offer: None
    measured: Callable[[str, float], None] = lambda stage, seconds: None

    @property
    def rig(self) -> Robot:
        """Return the robot by its former name, which is read for one more version."""
        deprecated("the attribute rig of a PolicyContext is called robot")
        return self.robot


@dataclass(frozen=True)
class PolicyKind(LaunchChoice, Generic[T]):
    """A row of the table. One that is not `inline` has a worker with a deadline, and the node goes on meanwhile.

    Attributes:
        options: frozen dataclass of the policy's options, its fields made by `kc_vla.core.options.option`. The node
            fills those that have the name of one of its parameters; all can be given in its parameter `options`.
        make: makes the policy, or raises a `PolicyError`. It imports what it needs, the row does not.
        cameras: whether a chunk begins at a frame of the cameras; without, at a state of the arm alone.
    """

    options: type[T]
    make: Callable[[PolicyContext, T], Backend]
    cameras: bool = field(default=True, kw_only=True)


_ROWS = "kc_vla.policy.rows"
BACKENDS: OpenTable[PolicyKind[Any]] = OpenTable(
    "kc_vla.policies",
    "policy",
    PolicyKind,
    {
        "expert": f"{_ROWS}:EXPERT",
        "learned": f"{_ROWS}:LEARNED",
        "groot": f"{_ROWS}:GROOT",
        "openpi": f"{_ROWS}:OPENPI",
        "lerobot": f"{_ROWS}:LEROBOT",
        "replay": f"{_ROWS}:REPLAY",
        "scripted": f"{_ROWS}:SCRIPTED",
        "driven": f"{_ROWS}:DRIVEN",
        "trajectory": f"{_ROWS}:TRAJECTORY",
        "leader": f"{_ROWS}:LEADER",
        "joy": f"{_ROWS}:JOY",
    },
    refusal=PolicyError,
)


def open_backend(name: str, context: PolicyContext, given: Mapping[str, Any] = types.MappingProxyType({})) -> Backend:
    """Return the policy of that name.

    Args:
        name: of its row.
        context: what every policy is made with.
        given: the values of its options by their names.

    Raises:
        PolicyError: There is none, its package cannot be loaded, or it cannot be used with these options.
    """
    options = BACKENDS.options_of(name, given)
    with BACKENDS.making(name):
        return BACKENDS.get(name).make(context, options)
