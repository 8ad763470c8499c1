"""Whole motions of a hand: picking a thing up, and putting down what is held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Vector
from kc_vla.motion.grasps import RIM, SIDE, STANDOFF, TOP, Grasp, grasps_of
from kc_vla.motion.path import JointPath
from kc_vla.motion.planner import MotionPlanner
from kc_vla.motion.poses import about, checked_pose, moved_by
from kc_vla.motion.problem import MotionError, MotionProblem
from kc_vla.motion.scene import SURFACE, MotionScene

LIFT = 0.08
"""A thing is lifted so far, m."""
_YAWS = (0.0, np.pi / 2, -np.pi / 2, np.pi, np.pi / 4, -np.pi / 4, 3 * np.pi / 4, -3 * np.pi / 4)
_SEARCHES = 3
"""Grasps to which no free way is found before the thing is given up: the search takes long where there is none."""


@dataclass(frozen=True, eq=False)
class PickMotion:
    """How a thing is picked up: go along `reach`, then `approach`, close the fingers, then `lift`.

    Attributes:
        grasp: how it is grasped.
        reach: with the gripper open, to before the thing.
        approach: straight to the grasp.
        lift: straight up, the thing in the hand.
    """

    grasp: Grasp
    reach: JointPath
    approach: JointPath
    lift: JointPath

    @property
    def scene(self) -> MotionScene:
        """Return the scene afterwards, with the thing in the hand."""
        return self.lift.scene


@dataclass(frozen=True, eq=False)
class PlaceMotion:
    """How a thing is put down: go along `reach`, then `lower`, open the fingers, then `retreat`.

    Attributes:
        reach: to above the place.
        lower: straight down.
        retreat: straight back, the thing standing there.
    """

    reach: JointPath
    lower: JointPath
    retreat: JointPath

    @property
    def scene(self) -> MotionScene:
        """Return the scene afterwards, with the thing at its new place."""
        return self.retreat.scene


def reachable(
    planner: MotionPlanner, grasps: Iterable[Grasp], near: Sequence[float] | Vector, touch: Collection[str]
) -> Iterator[tuple[Grasp, Vector]]:
    """Yield those grasps that the arm reaches without a collision, each with the angles (D,), rad, before it.

    Args:
        planner: with the scene.
        grasps: the best first.
        near: angles (D,) that those are near to where there is a choice, rad.
        touch: names of the boxes that the hand may touch: of the thing itself, or of what the handle opens.
    """
    for grasp in grasps:
        opened = planner.in_scene(replace(planner.scene, width=grasp.width))
        try:
            opened.joints_for(grasp.pose, near, touch)
            before = opened.joints_for(grasp.before(), near, touch)
        except MotionError:
            continue
        yield grasp, before


def plan_pick(
    planner: MotionPlanner,
    start: Sequence[float] | Vector,
    name: str,
    object_type: str = "",
    kinds: Iterable[str] = (TOP, RIM, SIDE),
    lift: float = LIFT,
) -> PickMotion:
    """Return how the arm picks up a thing of the planner's scene, by the first of its grasps that works as a whole.

    Args:
        planner: with the scene, which has a box of that name.
        start: angles (D,), rad, where the arm stands.
        name: of the thing.
        object_type: of it, such as "mug"; round things can be grasped from more sides.
        kinds: of grasps, the preferred one first.
        lift: how far it is lifted, m.

    Raises:
        MotionError: no grasp works; the text counts why not.
    """
    box = planner.scene.box(name)
    low, high = planner.arm.workspace_low, planner.arm.workspace_high
    if (box.pose[:3, 3] < low - 0.02).any() or (box.pose[:3, 3] > high).any():
        where = ", ".join(f"{value:.3f}" for value in box.pose[:3, 3])
        raise MotionError(MotionProblem.WORKSPACE, f"'{name}' at ({where}) m is outside of the workspace: look again")
    planner.check_start(start)
    grasps = grasps_of(box, object_type, planner.hand, planner.scene.surface, kinds)
    failures: list[MotionError] = []
    opened: dict[float, MotionPlanner] = {}
    for grasp in grasps:
        if grasp.width not in opened:
            opened[grasp.width] = planner.in_scene(replace(planner.scene, width=grasp.width))
        try:
            return _picked(opened[grasp.width], start, name, grasp, lift)
        except MotionError as error:
            if error.problem is MotionProblem.INPUT:
                raise
            failures.append(error)
            if sum(each.problem is MotionProblem.SEARCH for each in failures) >= _SEARCHES:
                break
    raise _summed_up(name, failures)


def _picked(opened: MotionPlanner, start: Sequence[float] | Vector, name: str, grasp: Grasp, lift: float) -> PickMotion:
    opened.joints_for(grasp.pose, start, {name})  # what is not reached at all is known soonest so
    holding = opened.in_scene(opened.scene.grasped(name, grasp.pose, grasp.closed))
    ways: list[tuple[JointPath, JointPath]] = []
    problem: MotionError | None = None
    for joints in opened.solutions(grasp.before(), start, {name}):
        try:
            approach = opened.line(joints, grasp.pose, touch={name})
            ways.append((approach, holding.line(approach.end, moved_by(grasp.pose, (0.0, 0.0, lift)))))
        except MotionError as error:
            problem = error
    if not ways and problem is not None:
        raise problem
    reach = opened.to_any(start, [approach.start for approach, _ in ways])
    approach, lifted = next(way for way in ways if np.array_equal(way[0].start, reach.end))
    return PickMotion(grasp, reach, approach, lifted)


def plan_place(
    planner: MotionPlanner,
    start: Sequence[float] | Vector,
    pose: ArrayLike,
    touch: Collection[str] = (SURFACE,),
    above: float = LIFT,
    any_yaw: bool = True,
) -> PlaceMotion:
    """Return how the arm puts down what the planner's scene has in the hand.

    Args:
        planner: with the scene.
        start: angles (D,), rad, where the arm stands.
        pose: that the box of the thing is to have (4, 4), base frame, m.
        touch: names of what it may touch there.
        above: so far above the place it is lowered from, m.
        any_yaw: it may stand there turned about the vertical, if it cannot stand as `pose` has it.

    Raises:
        MotionError: nothing is held, or the place cannot be reached so.
    """
    scene = planner.scene
    if scene.held is None:
        raise MotionError(MotionProblem.INPUT, "nothing is in the hand that could be put down")
    target = checked_pose(pose, f"the place of '{scene.held.name}'")
    problem: MotionError | None = None
    for angle in _YAWS if any_yaw else _YAWS[:1]:
        turned = about(target, target[:3, 3], np.array([0.0, 0.0, 1.0]), angle)
        try:
            return _placed(planner, start, turned @ np.linalg.inv(scene.held.in_tool), touch, above)
        except MotionError as error:
            problem = problem or error
            if error.problem is MotionProblem.SEARCH:
                break
    assert problem is not None  # there is at least one yaw
    raise problem


def _placed(
    planner: MotionPlanner, start: Sequence[float] | Vector, tool: Pose, touch: Collection[str], above: float
) -> PlaceMotion:
    scene = planner.scene
    assert scene.held is not None
    ways: list[tuple[JointPath, JointPath]] = []
    problem: MotionError | None = None
    for joints in planner.solutions(moved_by(tool, (0.0, 0.0, above)), start):
        try:
            lower = planner.line(joints, tool, touch=touch)
            back = planner.tool_pose(lower.end)
            after = planner.in_scene(scene.released(back))
            back[:3, 3] -= STANDOFF * back[:3, 2]
            ways.append((lower, after.line(lower.end, back, touch={scene.held.name})))
        except MotionError as error:
            problem = error
    if not ways and problem is not None:
        raise problem
    reach = planner.to_any(start, [lower.start for lower, _ in ways])
    lower, retreat = next(way for way in ways if np.array_equal(way[0].start, reach.end))
    return PlaceMotion(reach, lower, retreat)


def _summed_up(name: str, failures: Sequence[MotionError]) -> MotionError:
    counts = Counter(error.problem for error in failures)
    most = counts.most_common(1)[0][0]
    example = next(str(error) for error in failures if error.problem is most)
    said = ", ".join(f"{count} {problem.value}" for problem, count in counts.most_common())
    return MotionError(most, f"no grasp of '{name}' works ({said}), such as: {example}")
