"""Which Piper it is, and whether what it reports of its joints can be true.

The firmware does not tell the model, all models share it, but the limits of their wrists differ. A robot file may have
any name and narrower limits: it is known by its links.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kc_vla.arm.interface import UnfitArmError
from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import JointLimits, Robot, Vector, load_robot

JOINTS = 6
"""How many joints every Piper has."""
MODELS = ("piper", "piper_h", "piper_l", "piper_x")
_ALIKE = np.radians(0.6)
"""The arm tells its limits in tenths of a degree, and the vendor's own documents differ by half a degree."""
SAME_PLACE = 0.02
"""m between two places of the flange that are the same but for calibration."""
_LEAST = np.radians(1.0)
"""rad of a joint's range, below which it cannot be used."""
_MOST = 2 * np.pi
"""rad: no joint of a Piper turns further from its zero."""
_LEAST_SPEED = 1e-3
"""rad/s."""


def require_piper(robot: Robot) -> None:
    """Do nothing if a robot file can be that of a Piper.

    Raises:
        UnfitArmError: it has other joints, or no links.
    """
    has = ""
    if len(robot.joints) != JOINTS:
        has = f"has {len(robot.joints)} joints, but the driver 'piper' has {JOINTS}"
    elif len(robot.gripper) != 1:
        has = f"has a gripper of {len(robot.gripper)} joints, but that of the driver 'piper' has 1"
    elif robot.links is None:
        has = "has no links, which the driver 'piper' needs"
    if has:
        raise UnfitArmError(f"robot '{robot.name}' {has}: choose a robot for this driver (robots/piper*.yaml)")


def require_limits(reported: JointLimits, robot: Robot) -> None:
    """Do nothing if an arm may have these limits, and the narrower of them and of those of `robot` leave it a range.

    Raises:
        UnfitArmError: they are broken; the text names the joints and the reported values.
    """
    wrong: dict[str, list[str]] = {}
    for joint in range(len(robot.joints)):
        if why := _broken(reported, robot, joint):
            wrong.setdefault(why, []).append(str(joint + 1))
    if wrong:
        told = "; ".join(f"joint {', '.join(joints)}: {why}" for why, joints in wrong.items())
        raise UnfitArmError(
            f"the arm reports joint limits that cannot be used: {told}. It is not enabled: run 'kc-vla setup piper CAN "
            "--factory-limits --do' with its CAN interface, or correct the robot file, and start again"
        )


def _broken(reported: JointLimits, robot: Robot, joint: int) -> str:
    low, high, speed = reported.lowest[joint], reported.highest[joint], reported.speed[joint]
    if not np.isfinite([low, high, speed]).all():
        return f"{low} to {high} at {speed}"
    told = f"{np.degrees(low):.1f} to {np.degrees(high):.1f} degrees"
    if low >= high:
        return f"{told}, of which the lower is not below the upper"
    if max(abs(low), abs(high)) > _MOST:
        return f"{told}, which is more than a turn"
    if speed < _LEAST_SPEED:
        return f"a velocity limit of {speed:.3f} rad/s"
    both = robot.limits.narrowed(reported)
    if both.highest[joint] - both.lowest[joint] < _LEAST:
        says = np.degrees([robot.limits.lowest[joint], robot.limits.highest[joint]])
        return f"{told}, and the robot file has {says[0]:.1f} to {says[1]:.1f}, which leaves no range"
    return ""


def limits_differ(reported: JointLimits, robot: Robot) -> str:
    """Return how the limits that an arm reports differ from those of a robot file, in words; empty where they do not.

    The narrower ones count for the controller, so that wider ones of the arm do no harm.
    """
    words = []
    for joint in range(len(robot.joints)):
        if why := _broken(reported, robot, joint):
            words.append(f"joint {joint + 1}: {why}")
            continue
        pairs = ((reported.lowest, robot.limits.lowest), (reported.highest, robot.limits.highest))
        if max(abs(float(arm[joint] - file[joint])) for arm, file in pairs) > _ALIKE:
            arm, file = (
                f"{np.degrees(limits.lowest[joint]):.0f} to {np.degrees(limits.highest[joint]):.0f}"
                for limits in (reported, robot.limits)
            )
            words.append(f"joint {joint + 1}: {arm} degrees, and {file} in the robot file")
    return "; ".join(words)


def require_model(told: JointLimits, robot: Robot, models: Iterable[str] = MODELS) -> None:
    """Check that an arm that reports these limits may be the one of `robot`, whatever that is called.

    Raises:
        UnfitArmError: it is another model, whose flange is elsewhere.
    """
    known = [load_robot(name) for name in models]
    named = [model.name for model in known if _alike(told, model.limits)]
    if not named or _alike(told, robot.limits):
        return
    apart, nearest = min((_apart(model, robot), model.name) for model in known)
    if nearest not in named and apart < SAME_PLACE:
        raise UnfitArmError(
            f"the arm reports the joint limits of a {named[0]}, and the robot is {robot.name}: say robot:={named[0]}, "
            f"or give your own robot file the urdf of robots/{named[0]}.yaml"
        )


def _alike(some: JointLimits, others: JointLimits) -> bool:
    apart = np.abs([some.lowest - others.lowest, some.highest - others.highest])
    return bool(apart.max() < _ALIKE)


def _apart(model: Robot, robot: Robot) -> float:
    """Return how far the flange of a robot is from that of a model at most, m.

    The nearest links of either firmware count.
    """
    return min(
        float(np.linalg.norm(one[:, :3, 3] - other[:, :3, 3], axis=-1).max())
        for one in _flanges(model, model.limits)
        for other in _flanges(robot, model.limits)
    )


def _flanges(robot: Robot, limits: JointLimits) -> Iterator[Vector]:
    """Yield poses of the flange (n, 4, 4) all over a range of angles, by the links of each firmware."""
    assert robot.links is not None
    shares = np.linspace(0.2, 0.8, 3)[:, None]
    angles = limits.lowest + shares * (limits.highest - limits.lowest)
    for links in (robot.links, *((robot.older[1],) if robot.older is not None else ())):
        yield Kinematics(links).flange(angles)
