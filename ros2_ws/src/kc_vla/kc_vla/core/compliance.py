"""How soft an arm is in the mode `compliance`: the section of that name of a robot file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kc_vla.core.robot_numbers import Vector, number, positive, speed_of

_STIFFEST, _DAMPED, _STRONGEST = 500.0, 50.0, 500.0
"""N m/rad, N m s/rad and N m of a joint."""
_HEAVIEST, _REACH = 20.0, 1.0
"""kg of a payload, and m from the tool frame to its center."""
_WIDEST = 0.2
"""rad by which a joint may be pushed before it gives way; further, an arm that is released would spring back."""
_KEYS = ("stiffness", "damping", "hold", "torque", "speed", "payload")


class Payload(NamedTuple):
    """What the arm carries behind its own links.

    Attributes:
        mass: kg.
        center: its center of mass in the tool frame, x, y, z, m.
    """

    mass: float = 0.0
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)


NO_PAYLOAD = Payload()


@dataclass(frozen=True, eq=False)
class ComplianceGains:
    """How soft N joints are.

    Attributes:
        stiffness: of the spring that holds a joint where it was left (N,), N m/rad.
        damping: (N,), N m s/rad.
        hold: torque of the spring at which a joint gives way (N,), N m. By so much the inertias and the payload may
            be wrong before the arm sinks.
        torque: largest torque that is sent to a joint, gravity included (N,), N m.
        speed: at which a joint may be led (N,), rad/s.
        payload: that is carried beside the links.
    """

    stiffness: Vector
    damping: Vector
    hold: Vector
    torque: Vector
    speed: Vector
    payload: Payload = NO_PAYLOAD

    @property
    def give(self) -> Vector:
        """Return how far a joint is pushed until it gives way (N,), rad."""
        return np.asarray(self.hold / self.stiffness)


def read_compliance(content: Any, joints: int) -> ComplianceGains:
    """Return the gains of the section `compliance` of a robot file.

    Args:
        content: of the section.
        joints: how many the arm has.

    Raises:
        ValueError: a key is missing or not known, or a value can only be in another unit.
    """
    if not isinstance(content, Mapping):
        raise ValueError(f"compliance must be a mapping of {', '.join(_KEYS)}")
    if unknown := sorted(map(str, content.keys() - set(_KEYS))):
        raise ValueError(f"compliance: {', '.join(unknown)} is not known: it may have {', '.join(_KEYS)}")
    if missing := [key for key in _KEYS[:-1] if key not in content]:
        raise ValueError(f"compliance: {', '.join(missing)} is missing")
    gains = ComplianceGains(
        stiffness=_row(content, "stiffness", joints, _STIFFEST, ": it is in N m/rad"),
        damping=_row(content, "damping", joints, _DAMPED, ": it is in N m s/rad"),
        hold=_row(content, "hold", joints, _STRONGEST, ": it is in N m: did you give N mm?"),
        torque=_row(content, "torque", joints, _STRONGEST, ": it is in N m: did you give N mm?"),
        speed=np.array([speed_of(value, "speed of compliance") for value in _values(content, "speed", joints)]),
        payload=_payload(content.get("payload", {})),
    )
    if (give := float(gains.give.max())) > _WIDEST:
        joint = int(gains.give.argmax()) + 1
        raise ValueError(
            f"compliance: hold / stiffness of joint {joint} is {give:.2f} rad, above {_WIDEST}: the arm would spring "
            "back that far when it is released; give it more stiffness or less hold"
        )
    return gains


def _values(content: Mapping[str, Any], key: str, joints: int) -> list[Any]:
    value = content[key]
    values = list(value) if isinstance(value, list | tuple) else [value] * joints
    if len(values) != joints:
        raise ValueError(f"compliance: {key} must be one number, or {joints}, one for each joint")
    return values


def _row(content: Mapping[str, Any], key: str, joints: int, most: float, advice: str) -> Vector:
    return np.array([positive(value, f"{key} of compliance", most, advice) for value in _values(content, key, joints)])


def _payload(content: Any) -> Payload:
    if not isinstance(content, Mapping) or content.keys() - {"mass", "center"}:
        raise ValueError("compliance: payload must be a mapping of mass, kg, and center, [x, y, z] in m")
    mass = number(content.get("mass", 0.0), "mass of the payload")
    if not 0.0 <= mass <= _HEAVIEST:
        raise ValueError(f"mass of the payload is {mass:g}, which cannot be: it is in kg: did you give g?")
    center = content.get("center", (0.0, 0.0, 0.0))
    if not isinstance(center, list | tuple) or len(center) != 3:
        raise ValueError("center of the payload must be [x, y, z], m")
    x, y, z = (number(value, "center of the payload") for value in center)
    if max(abs(x), abs(y), abs(z)) > _REACH:
        raise ValueError(f"center of the payload is {max(abs(x), abs(y), abs(z)):g} m away: did you give mm?")
    return Payload(mass, (x, y, z))
