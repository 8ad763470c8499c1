"""What an arm must not touch while it moves: a surface, boxes, and what it holds. In the base frame, m."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Vector
from kc_vla.motion.poses import checked_pose, checked_vector
from kc_vla.motion.problem import MotionError, MotionProblem

SURFACE = "surface"
"""Name of the support surface among what may be touched. Only what is held may touch it, never the arm."""
LARGEST = 4.0
"""Longest side of a box, m: no thing and no piece of furniture within reach of an arm is larger."""
MOST_BOXES = 500
_LEAST = 1e-4
_LOWEST, _HIGHEST = -2.0, 2.0
"""Bounds of the surface's height, m."""
_WIDEST_CLEARANCE = 0.2


def _checked_size(size: ArrayLike, what: str) -> Vector:
    sides = checked_vector(size, f"the size of {what}", np.inf)
    if sides.min() < _LEAST or sides.max() > LARGEST:
        raise MotionError(
            MotionProblem.INPUT,
            f"the size of {what} is {' x '.join(f'{side:.4g}' for side in sides)} m: "
            f"each side must be {_LEAST:g} to {LARGEST:g} m",
        )
    return sides


@dataclass(frozen=True, eq=False)
class SceneBox:
    """A box that the arm keeps clear of: a thing, a wall of a cupboard, the front of a drawer.

    Attributes:
        name: of it, by which a motion may be allowed to touch it. Several boxes of one piece may share a name.
        pose: of its middle (4, 4), base frame, m.
        size: along its own x, y and z axis (3,), m.
    """

    name: str
    pose: Pose
    size: Vector

    def __post_init__(self) -> None:
        """Check the numbers. Raises: MotionError: the pose or the size cannot be; the text says which."""
        if self.name == SURFACE:
            raise MotionError(MotionProblem.INPUT, f"a box cannot be called '{SURFACE}': that is what it stands on")
        object.__setattr__(self, "pose", checked_pose(self.pose, f"'{self.name}'"))
        object.__setattr__(self, "size", _checked_size(self.size, f"'{self.name}'"))

    @property
    def corners(self) -> Vector:
        """Return its corners (8, 3) in the base frame, m."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return np.asarray(self.pose[:3, 3] + (signs * self.size / 2) @ self.pose[:3, :3].T)


@dataclass(frozen=True, eq=False)
class HeldBox:
    """A thing in the hand, which moves with the tool.

    Attributes:
        name: of it.
        in_tool: pose of its middle in the tool frame (4, 4), m.
        size: along its own axes (3,), m.
    """

    name: str
    in_tool: Pose
    size: Vector

    def __post_init__(self) -> None:
        """Check the numbers. Raises: MotionError: the pose or the size cannot be; the text says which."""
        object.__setattr__(self, "in_tool", checked_pose(self.in_tool, f"'{self.name}' in the hand"))
        object.__setattr__(self, "size", _checked_size(self.size, f"'{self.name}' in the hand"))


@dataclass(frozen=True, eq=False)
class MotionScene:
    """All that a motion keeps clear of, beside the arm itself and the walls of its workspace.

    A scene never changes: its methods return another one.

    Attributes:
        surface: height of the support surface, m. The arm stays above it everywhere.
        boxes: to keep clear of, at most `MOST_BOXES`.
        held: what is in the hand; None for nothing.
        width: of the gripper meanwhile, m; None for wide open.
        clearance: least distance of the arm from boxes, m.
        surface_clearance: least distance of the arm from the surface, m.
        held_clearance: least distance of what is held from boxes and the surface, m.
    """

    surface: float = 0.0
    boxes: tuple[SceneBox, ...] = ()
    held: HeldBox | None = None
    width: float | None = None
    clearance: float = field(default=0.008, kw_only=True)
    surface_clearance: float = field(default=0.003, kw_only=True)
    held_clearance: float = field(default=0.002, kw_only=True)

    def __post_init__(self) -> None:
        """Check the numbers. Raises: MotionError: one of them cannot be; the text says which."""
        object.__setattr__(self, "boxes", tuple(self.boxes))
        if not _LOWEST <= self.surface <= _HIGHEST:
            raise MotionError(
                MotionProblem.INPUT,
                f"the height of the surface is {self.surface} m: it must be {_LOWEST:g} to {_HIGHEST:g}",
            )
        for name in ("clearance", "surface_clearance", "held_clearance"):
            if not 0.0 <= getattr(self, name) <= _WIDEST_CLEARANCE:
                raise MotionError(
                    MotionProblem.INPUT, f"{name} is {getattr(self, name)} m: it must be 0 to {_WIDEST_CLEARANCE}"
                )
        if self.width is not None and not 0.0 <= self.width <= 1.0:
            raise MotionError(MotionProblem.INPUT, f"the gripper is {self.width} m wide: it must be 0 to 1")
        if len(self.boxes) > MOST_BOXES:
            raise MotionError(
                MotionProblem.INPUT, f"the scene has {len(self.boxes)} boxes: at most {MOST_BOXES} can be kept clear of"
            )

    def box(self, name: str) -> SceneBox:
        """Return the first box of that name. Raises: MotionError: there is none."""
        for each in self.boxes:
            if each.name == name:
                return each
        known = ", ".join(sorted({each.name for each in self.boxes})) or "none"
        raise MotionError(MotionProblem.INPUT, f"the scene has no '{name}': it has {known}")

    def with_boxes(self, boxes: Iterable[SceneBox]) -> MotionScene:
        """Return the scene with these boxes in place of all of the same names."""
        new = tuple(boxes)
        names = {each.name for each in new}
        return replace(self, boxes=(*(each for each in self.boxes if each.name not in names), *new))

    def without(self, *names: str) -> MotionScene:
        """Return the scene without the boxes of these names."""
        return replace(self, boxes=tuple(each for each in self.boxes if each.name not in names))

    def grasped(self, name: str, tool: Pose, width: float | None = None) -> MotionScene:
        """Return the scene in which a box is in the hand.

        Args:
            name: of the box.
            tool: pose of the tool (4, 4), base frame, m, as the fingers have closed.
            width: of the gripper then, m; None: as before.

        Raises:
            MotionError: there is no such box.
        """
        box = self.box(name)
        held = HeldBox(name, np.linalg.inv(tool) @ box.pose, box.size)
        return replace(self.without(name), held=held, width=self.width if width is None else width)

    def released(self, tool: Pose, width: float | None = None) -> MotionScene:
        """Return the scene in which what was held stands where the tool has brought it.

        Args:
            tool: pose of the tool (4, 4), base frame, m, as the fingers open.
            width: of the gripper from then on, m; None: wide open.
        """
        if self.held is None:
            return replace(self, width=width)
        box = SceneBox(self.held.name, tool @ self.held.in_tool, self.held.size)
        return replace(self.with_boxes([box]), held=None, width=width)
