"""What a robot file comes to, for a person to look at."""

from __future__ import annotations

from collections.abc import Iterator

from scipy.spatial.transform import Rotation

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import Robot
from kc_vla.core.robot_model import DOWN

_HEADS = ("joint", "lower", "upper", "home", "velocity", "acceleration", "jerk")
_UNITS = ("", "rad", "rad", "rad", "rad/s", "rad/s2", "rad/s3")


def shown(robot: Robot) -> str:
    """Return the joints of a robot with their limits and units, its home pose, and where its tool is there."""
    return "\n".join(_lines(robot))


def _lines(robot: Robot) -> Iterator[str]:
    yield f"{robot.name}: {len(robot.joints)} joints, driver '{robot.driver.type}', {robot.urdf or 'no URDF'}"
    limits = robot.limits
    numbers = (limits.lowest, limits.highest, robot.rest, limits.speed, limits.acceleration, limits.jerk)
    rows = [(name, *(f"{value:.4f}" for value in row)) for name, *row in zip(robot.joints, *numbers, strict=True)]
    table = [_HEADS, _UNITS, *rows]
    widths = [max(len(row[k]) for row in table) for k in range(len(_HEADS))]
    for row in table:
        cells = (row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)))
        yield "  ".join(cells).rstrip()
    yield f"gripper: {', '.join(robot.gripper)}, {robot.opening:g} m wide"
    yield f"cameras: {', '.join(f'{view} ({frame})' for view, frame in robot.cameras.items())}"
    if robot.workspace is not None:
        box = zip("xyz", *robot.workspace, strict=True)
        yield f"workspace: {', '.join(f'{axis} {low:g} to {high:g}' for axis, low, high in box)} m"
    if robot.down != DOWN:
        yield f"down: {robot.down_axis} of {robot.base_frame} points to the ground"
    if robot.links is not None:
        pose = Kinematics(robot.links).flange(robot.rest)
        x, y, z = pose[:3, 3]
        roll, pitch, yaw = Rotation.from_matrix(pose[:3, :3]).as_euler("xyz")
        yield (
            f"{robot.tool_frame} in {robot.base_frame} at home: x {x:.4f}, y {y:.4f}, z {z:.4f} m, "
            f"roll {roll:.4f}, pitch {pitch:.4f}, yaw {yaw:.4f} rad"
        )
