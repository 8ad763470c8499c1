"""Targets of joints as other stacks record them, by the names of the joints in the robot's joint states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.alignment import nearest
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.joint_streams import JointRow, WholeStates
from kc_vla.datasets.exchange.publishers import one_publisher

_WAY_OUT = "'joint_names' in the file of --topics says which is which, as {joint7: gripper}, or leave arm/command out"


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets of all joints.

    Attributes:
        names: names of the joints, (D,).
        values: targets (N, D), rad and m.
        of: index of the given row from which each target comes, (N,).
        notes: what was left out and how names were understood, a line each, without the topic.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    of: NDArray[np.int64]
    notes: tuple[str, ...]


def joint_targets_of(rows: Sequence[JointRow], states: WholeStates | None) -> Targets:
    """Bring targets into the order of the robot's joints.

    Numbers without names are the robot's joints in their order, where there are as many. One joint that only the
    targets name is the one that only the robot names. Joints that are not named keep the target before, or, as long as
    there is none, are where they were measured.

    Args:
        rows: of the topic, by their stamps, at least one.
        states: of the robot; None where it tells nothing, and then the targets must name the same joints throughout.

    Raises:
        ExchangeError: none can be used, their joints are not the robot's, or two publishers speak in turn.
    """
    notes: dict[str, int] = {}
    kept: list[int] = []
    found: list[dict[str, float]] = []
    for k, row in enumerate(rows):
        told = _by_name(row, states, notes)
        if told is not None:
            kept.append(k)
            found.append(told)
    if not kept:
        raise ExchangeError(f"none of the {len(rows)} messages can be used: {_first(notes)}")
    names = states.names if states is not None else tuple(found[0])
    values = _filled(found, names, np.array([rows[k].at for k in kept], np.int64), states, notes)
    stamps = np.array([rows[k].at for k in kept], np.int64)
    cleaned = one_publisher("targets", names, stamps, values, targets=True)
    lines = [f"{count} of {len(rows)} messages: {why}" for why, count in notes.items()]
    for why, mask in cleaned.notes:
        gone = "" if (cleaned.keep & mask).any() else " left out"
        lines.append(f"{int(mask.sum())} of {len(rows)} messages{gone}: they {why}")
    return Targets(names, values[cleaned.keep], np.array(kept, np.int64)[cleaned.keep], tuple(lines))


def _by_name(row: JointRow, states: WholeStates | None, notes: dict[str, int]) -> dict[str, float] | None:
    """Return the numbers of a message by the robot's names; None for one that says nothing, which is noted.

    Raises:
        ExchangeError: its joints are not the robot's.
    """

    def note(text: str) -> None:
        notes[text] = notes.get(text, 0) + 1

    names = row.names
    joints = states.names if states is not None else names
    if not names and states is not None and len(row.positions) == len(joints):
        names = joints
        note(f"they name no joints and are taken as {', '.join(joints)}")
    if not row.positions or (names and len(row.positions) != len(names)) or not np.isfinite(row.positions).all():
        note("left out: not a finite position for each joint")
        return None
    if not names:
        raise ExchangeError(
            f"a message names none of its {len(row.positions)} joints, and the robot reports {len(joints)}: {_WAY_OUT}"
        )
    if len(set(names)) < len(names):
        note("left out: a joint is named twice")
        return None
    theirs, ours = [name for name in names if name not in joints], [name for name in joints if name not in names]
    if len(theirs) == len(ours) == 1 and len(names) > 1:
        note(f"{theirs[0]} is taken as {ours[0]}, the one joint that only the robot names")
        names = tuple(ours[0] if name == theirs[0] else name for name in names)
    elif len(theirs) == len(names) or (theirs and ours):
        raise ExchangeError(f"targets of {', '.join(names)}, but the joints are {', '.join(joints)}: {_WAY_OUT}")
    elif theirs:
        note(f"{', '.join(theirs)} left out: the robot does not report that")
    return {name: value for name, value in zip(names, row.positions, strict=True) if name in joints}


def _filled(
    found: Sequence[dict[str, float]],
    names: tuple[str, ...],
    stamps: NDArray[np.int64],
    states: WholeStates | None,
    notes: dict[str, int],
) -> NDArray[np.float64]:
    """Return the rows (N, D); what a message does not have is as before it, or as it was measured."""
    values = np.array([[told.get(name, np.nan) for name in names] for told in found], np.float64)
    missing = np.isnan(values)
    if not missing.any():
        return values
    if states is None:
        raise ExchangeError(f"one message names other joints than the first, {', '.join(names)}: {_WAY_OUT}")
    told = ", ".join(names[k] for k in np.flatnonzero(missing.any(axis=0)).tolist())
    text = f"they do not name {told}: the target before counts, or the measured position"
    notes[text] = int(missing.any(axis=1).sum())
    last = np.maximum.accumulate(np.where(missing, -1, np.arange(len(values))[:, None]), axis=0)
    measured = states.positions[nearest(stamps, states.stamps)]
    before = np.take_along_axis(values, np.maximum(last, 0), axis=0)
    return np.where(last >= 0, before, measured)


def _first(notes: dict[str, int]) -> str:
    return next(iter(notes), "they are empty").removeprefix("left out: ")
