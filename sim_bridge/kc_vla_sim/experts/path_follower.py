"""An expert that follows the paths of a motion planner."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from kc_vla_sim.errors import BadTaskError
from kc_vla_sim.experts.grasping import Step
from kc_vla_sim.experts.stepwise import StepwiseExpert
from kc_vla_sim.experts.tool import Tool, Vector

_SPACING = 0.004
"""Between two points of a path as it is followed, m ..."""
_TURN = 0.1
"""... where a turn of 1 rad counts as so many m."""
_KEPT = 4
"""Paths that are kept: the present one, and those that are imagined after it."""


@dataclass(frozen=True, eq=False)
class Leg:
    """What an expert does now.

    Attributes:
        phase: its name, see `kc_vla_sim.experts.phases`.
        goal: where the tool is to be in the end.
        gripper: meanwhile, 0 closed to 1 open.
        planned: whether the planner finds the way; if not, the tool goes straight to the goal, as where it waits for
            the fingers to close.
    """

    phase: str
    goal: Tool
    gripper: float
    planned: bool = True


class PathExpert(StepwiseExpert):
    """Follows a planned path for each leg of its way; a sub-class has `leg`, and `path` to ask a planner of its own.

    A path is planned once for a leg, kept, and entered at the point nearest to the tool. It is planned again where the
    goal has moved, or the tool is off the path, as after a push. Each leg has a path that does not come back along
    itself: going down to a thing and up again are two legs.
    """

    speed: ClassVar[float] = 0.02
    """Largest move of the tool, m per step."""
    settling: ClassVar[float] = 0.5
    """Largest share of the way left that one step covers."""
    tolerance: ClassVar[float] = 0.03
    """The tool may be so far off a path, m, a turn of 1 rad for 0.1 m, before another is planned."""
    moved: ClassVar[float] = 0.005
    """A goal that is further from the one that was planned for is another one, likewise."""

    def __init__(self, world: Any) -> None:
        """Begin an episode in the environment `world`."""
        super().__init__(world)
        self._paths: OrderedDict[tuple[str, tuple[float, ...]], _Path] = OrderedDict()

    def leg(self, tool: Tool) -> Leg:
        """Return what to do where the tool is at `tool`; all else is read from `self.world`, never remembered."""
        raise NotImplementedError

    def path(self, start: Tool, goal: Tool) -> Sequence[Tool]:
        """Return poses of the tool on the way from `start` to `goal`, one or more: here the goal alone.

        A planner that draws at random has a fixed seed here, so that an episode is the same when it is played again.
        """
        return [goal]

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        """Plan ahead along the path, after dropping a path that the tool has strayed from."""
        leg, tool = self.leg(self.tool), self.tool
        if leg.planned and (path := self._paths.get(self._key(leg))) is not None and path.off(tool) > self.tolerance:
            del self._paths[self._key(leg)]
        return super().plan(horizon)

    def decide(self, tool: Tool) -> Step:
        """Return the step towards the next pose of the path, or straight to the goal of a leg without one."""
        leg = self.leg(tool)
        ahead = self._path(leg, tool).ahead(tool, self.speed / self.settling) if leg.planned else leg.goal
        delta = tool.delta_towards(ahead.position, ahead.rotation, self.speed, self.settling)
        return leg.phase, np.append(delta, leg.gripper)

    def _path(self, leg: Leg, tool: Tool) -> _Path:
        key = self._key(leg)
        if key not in self._paths:
            poses = list(self.path(tool, leg.goal))
            if not poses:
                raise BadTaskError(f"{type(self).__name__} found no path in its phase '{leg.phase}'")
            self._paths[key] = _Path([tool, *poses])
            while len(self._paths) > _KEPT:
                self._paths.popitem(last=False)
        return self._paths[key]

    def _key(self, leg: Leg) -> tuple[str, tuple[float, ...]]:
        """Return the key of a path, the same for a goal that has hardly moved since one was planned for it."""
        numbers = _numbers(leg.goal)
        for phase, planned in self._paths:
            if phase == leg.phase and float(np.linalg.norm(numbers - np.array(planned))) <= self.moved:
                return phase, planned
        return leg.phase, tuple(numbers)


class _Path:
    """Poses of the tool, close together."""

    def __init__(self, poses: Sequence[Tool]) -> None:
        numbers = np.array([_numbers(pose) for pose in poses])
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(numbers, axis=0), axis=1))])
        kept = np.concatenate([[True], np.diff(along) > 0])  # a pose that is there twice is one
        along, turns = along[kept], Rotation.from_quat([pose.rotation.as_quat() for pose in poses])[kept]
        places = np.array([pose.position for pose in poses])[kept]
        self._along = np.linspace(0.0, along[-1], max(2, int(np.ceil(along[-1] / _SPACING)) + 1))
        self._places = np.stack([np.interp(self._along, along, column) for column in places.T], axis=1)
        self._turns = Slerp(along, turns)(self._along) if len(along) > 1 else Rotation.concatenate([turns, turns])

    def ahead(self, tool: Tool, distance: float) -> Tool:
        """Return the pose so far ahead on the path, m, of the one that is nearest to the tool."""
        nearest = self._along[int(self._gaps(tool).argmin())]
        index = min(int(np.searchsorted(self._along, nearest + distance)), len(self._along) - 1)
        return Tool(self._places[index], self._turns[index])

    def off(self, tool: Tool) -> float:
        """Return how far the tool is off the path, m."""
        return float(self._gaps(tool).min())

    def _gaps(self, tool: Tool) -> Vector:
        apart = np.linalg.norm(self._places - tool.position, axis=1)
        gaps: Vector = np.hypot(apart, _TURN * (self._turns * tool.rotation.inv()).magnitude())
        return gaps


def _numbers(tool: Tool) -> Vector:
    """Return a pose as numbers (12,) between which distances are in m, a small turn counted with `_TURN`."""
    return np.concatenate([tool.position, _TURN * tool.rotation.as_matrix().ravel() / np.sqrt(2)])
