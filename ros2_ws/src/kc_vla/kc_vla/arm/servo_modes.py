"""The modes of a servo, its limits, and its report of a control period."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kc_vla.arm.interface import ArmState
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import Vector
from kc_vla.core.robot_model import ACCELERATION, JERK


class Mode(StrEnum):
    """What the servo does."""

    HOLD = "hold"
    FOLLOW = "follow"
    PARK = "park"
    BLOCKED = "blocked"
    POWERING = "getting power"
    RETURN = "leading back"
    GUIDE = "led by hand"
    OFF = "off"


NOT_ENABLED = "not enabled yet"
"""Why an arm is blocked that nobody has resumed."""
SWITCHED_OFF = "compliance was switched off"
"""Why an arm holds that a person has made stiff again."""


@dataclass(frozen=True)
class ServoSettings:
    """Bounds of the motion, and of what is put up with.

    Attributes:
        period: of control, s.
        command_every: the arm is sent its set-point in every so many-th control period.
        speed, acceleration, jerk: of any joint, rad/s, rad/s2, rad/s3; the arm's own limits count where they are
            narrower.
        park_speed: on the way to the home pose, rad/s.
        return_speed: on the way back inside the joint limits, rad/s.
        stale_after: age of the arm's state beyond which it counts as lost, s; older targets are passed over.
        stalled_after: time between two control periods beyond which the loop itself was stopped, s.
        astray: distance of a joint from where it was sent that is too far, rad.
        astray_after: for so long, s.
        grace: how long the arm keeps to an old target's end before this is called a hold, s.
        lowest, highest: corners of the workspace, see `Workspace`.
        margin: by which set-points stay inside them, m: a real arm is not quite where it was sent.
    """

    period: float = 0.005
    command_every: int = 1
    speed: float = 1.0
    acceleration: float = ACCELERATION
    jerk: float = JERK
    park_speed: float = 0.3
    return_speed: float = 0.15
    stale_after: float = 0.2
    stalled_after: float = 0.5
    astray: float = 0.3
    astray_after: float = 0.3
    grace: float = 0.05
    lowest: tuple[float, float, float] = Workspace.lowest
    highest: tuple[float, float, float] = Workspace.highest
    margin: float = 0.005


@dataclass(frozen=True, eq=False)
class Report:
    """What was done in one control period.

    Attributes:
        mode: what the servo does.
        reason: why it holds or is blocked, in words.
        state: state that the arm reported.
        set_point: angles of this period (N,), rad; None if the arm must not be sent any.
        held_back: what the way to the target would cross, in words; empty while it is free.
        outside: which joints are outside of their limits, in words; empty if none is. Only `resume` moves them then.
        compliant: whether the joints are springs and dampers, see `kc_vla.arm.compliance`.
    """

    mode: Mode
    reason: str
    state: ArmState
    set_point: Vector | None
    held_back: str = ""
    outside: str = ""
    compliant: bool = False
