"""Joint states as they come on a topic, some of a part of the joints, as one stream of whole states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.alignment import nearest
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.publishers import one_publisher

_NS = 1_000_000_000
_BESIDE_NS = 500_000_000
"""The other joints' state may be so much older or newer: beyond that their publisher was silent."""
_MOSTLY = 0.9
_FEW = 0.1
_HALF = 0.5


class JointRow(NamedTuple):
    """A joint state, or a message of targets: as sensor_msgs/JointState, `at` ns."""

    at: int
    names: tuple[str, ...]
    positions: tuple[float, ...]
    velocities: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class WholeStates:
    """States of all joints.

    Attributes:
        names: of the joints, (D,).
        stamps: (N,) ns, ascending.
        positions: (N, D), rad and m.
        velocities: the same, rad/s and m/s; None where not every joint has them.
        of: which of the rows that were given each state is of, (N,).
        as_given: whether each is what that row says, and nothing was put together.
        notes: what was left out and put together, a line each, without the topic.
    """

    names: tuple[str, ...]
    stamps: NDArray[np.int64]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64] | None
    of: NDArray[np.int64]
    as_given: bool
    notes: tuple[str, ...]


def row_of(stamp_ns: int, message: Any, called: Mapping[str, str] | Sequence[str] = ()) -> JointRow:
    """Return a sensor_msgs/JointState with that stamp.

    Args:
        stamp_ns: ns.
        message: decoded.
        called: our name of each of its joints, or the names of all where it has none.
    """
    names = tuple(str(name) for name in message.name)
    if not any(names):
        fits = not isinstance(called, Mapping) and len(called) == len(message.position)
        names = tuple(called) if fits else ()
    elif isinstance(called, Mapping):
        names = tuple(called.get(name, name) for name in names)
    return JointRow(stamp_ns, names, tuple(message.position), tuple(message.velocity))


def whole_states(rows: Sequence[JointRow]) -> WholeStates | None:
    """Put together what one or several publishers report of different joints, and leave out what is impossible.

    Joints whose values come at other times have the value that is nearest in time.

    Args:
        rows: at least one, in any order.

    Returns:
        None where no joint is named at all.

    Raises:
        ExchangeError: no state can be used, or two publishers contradict each other.
    """
    if not any(row.names or row.positions for row in rows):
        return None
    notes: list[str] = []
    order = sorted(range(len(rows)), key=lambda k: rows[k].at)
    begin = rows[order[0]].at
    groups: dict[frozenset[str], list[int]] = {}
    wrong: dict[str, list[int]] = {}
    for k in order:
        if why := _wrong(rows[k]):
            wrong.setdefault(why, []).append(k)
        else:
            groups.setdefault(frozenset(rows[k].names), []).append(k)
    for why, those in wrong.items():
        if not groups:
            raise ExchangeError(f"none of the {len(rows)} joint states can be used: {len(those)} of them {why}")
        notes.append(_left_out([rows[k].at for k in those], why, begin))
    notes += _drop_passing(groups, rows)
    parts = []
    for joints, members in groups.items():
        part, told = _part(rows, joints, members, begin)
        notes += told
        parts.append(part)
    parts, told = _chosen(parts)
    return _together(parts, [*notes, *told], rows)


def _drop_passing(groups: dict[frozenset[str], list[int]], rows: Sequence[JointRow]) -> list[str]:
    """Put messages of more joints to those of fewer, where the more are there for less than half of the time.

    Returns:
        a line for each joint that is lost so.
    """
    notes = []
    for more in sorted(groups, key=len, reverse=True):
        fewer = max((each for each in groups if each < more), key=lambda each: len(groups[each]), default=None)
        if fewer is None:
            continue
        both = sorted([*groups[fewer], *groups[more]], key=lambda k: rows[k].at)
        all_at, at = (np.array([rows[k].at for k in those], np.int64) for those in (both, groups[more]))
        if (np.abs(at[nearest(all_at, at)] - all_at) <= _BESIDE_NS).mean() >= _HALF:
            continue
        lost = ", ".join(sorted(more - fewer))
        notes.append(f"{lost} left out: only {len(at)} of {len(both)} messages tell of that beside the other joints")
        groups[fewer] = both
        del groups[more]
    return notes


def _wrong(row: JointRow) -> str:
    """Say what is wrong with a message; empty for nothing."""
    if not row.names:
        return "name no joint: 'joint_names' in the file of --topics does"
    if len(row.positions) != len(row.names):
        return "do not have a position for each joint"
    if len(set(row.names)) < len(row.names):
        return "name a joint twice"
    return "" if np.isfinite(row.positions).all() else "have positions that are not finite"


@dataclass(frozen=True, eq=False)
class _Part:
    """What one group of publishers says of the same joints; as `WholeStates`."""

    names: tuple[str, ...]
    stamps: NDArray[np.int64]
    positions: NDArray[np.float64]
    velocities: NDArray[np.float64] | None
    of: NDArray[np.int64]
    as_given: bool


def _part(rows: Sequence[JointRow], joints: frozenset[str], members: list[int], begin: int) -> tuple[_Part, list[str]]:
    names = Counter(rows[k].names for k in members if joints == set(rows[k].names)).most_common(1)[0][0]
    notes = []
    stamps = np.array([rows[k].at for k in members], np.int64)
    positions = np.array([_in_order(rows[k], rows[k].positions, names) for k in members], np.float64)
    cleaned = one_publisher("joint positions", names, stamps, positions)
    keep = cleaned.keep
    notes += [_told(stamps[mask], why, begin, kept=bool((keep & mask).any())) for why, mask in cleaned.notes]
    velocities: NDArray[np.float64] | None = None
    given = np.array([len(rows[k].velocities) == len(rows[k].names) for k in members])
    if given.any():
        velocities = np.array(
            [
                _in_order(rows[k], rows[k].velocities, names) if has else [np.nan] * len(names)
                for k, has in zip(members, given.tolist(), strict=True)
            ],
            np.float64,
        )
        without = ~np.isfinite(velocities).all(axis=1)
        if without.sum() > _FEW * len(members):
            told = f"{without.sum()} of {len(members)} messages have none, or no numbers"
            notes.append(f"velocities of {', '.join(names)} are left out: {told}")
            velocities = None
        elif without.any():
            notes.append(_left_out(stamps[without].tolist(), "have velocities that are no numbers", begin))
            keep = keep & ~without
    as_given = (velocities is not None or not given.any()) and all(joints == set(rows[k].names) for k in members)
    of = np.array(members, np.int64)[keep]
    kept = None if velocities is None else velocities[keep]
    return _Part(names, stamps[keep], positions[keep], kept, of, as_given), notes


def _in_order(row: JointRow, values: Sequence[float], names: tuple[str, ...]) -> Sequence[float]:
    if row.names == names:
        return values
    return [values[row.names.index(name)] for name in names]


def _chosen(parts: list[_Part]) -> tuple[list[_Part], list[str]]:
    """Return the parts that make a whole state, the one with the most joints first, and a line about the others."""
    first, *others = sorted(parts, key=lambda part: (-len(part.names), -len(part.stamps)))
    notes = []
    if first.names and others and len(first.stamps) < _FEW * max(len(part.stamps) for part in others):
        # A few messages of many joints among many of few joints: these are the robot.
        others = sorted([first, *others], key=lambda part: -len(part.stamps))
        first = others.pop(0)
    found, known = [first], set(first.names)
    for part in others:
        told = ", ".join(part.names)
        if not set(part.names) - known:
            notes.append(f"{len(part.stamps)} messages of {told} alone are left out: others tell these joints, too")
            continue
        near = np.abs(part.stamps[nearest(first.stamps, part.stamps)] - first.stamps) <= _BESIDE_NS
        if near.mean() < _MOSTLY:
            notes.append(
                f"{len(part.stamps)} messages of {told} are left out: they are within {_BESIDE_NS / _NS:g} s of only "
                f"{near.sum()} of the {len(first.stamps)} states of the other joints"
            )
            continue
        found.append(part)
        known |= set(part.names)
    return found, notes


def _together(parts: list[_Part], notes: list[str], rows: Sequence[JointRow]) -> WholeStates:
    first = parts[0]
    names, positions, velocities = first.names, [first.positions], [first.velocities]
    near = np.ones(len(first.stamps), bool)
    for part in parts[1:]:
        at = nearest(first.stamps, part.stamps)
        new = [k for k, name in enumerate(part.names) if name not in names]
        names = (*names, *(part.names[k] for k in new))
        positions.append(part.positions[at][:, new])
        velocities.append(None if part.velocities is None else part.velocities[at][:, new])
        near &= np.abs(part.stamps[at] - first.stamps) <= _BESIDE_NS
    if not near.all():
        begin = min(row.at for row in rows)
        notes.append(_left_out(first.stamps[~near].tolist(), "have no state of the other joints beside them", begin))
    if len(parts) > 1:
        notes.append(f"states of {' and of '.join(str(len(part.names)) for part in parts)} joints are put together")
    both = [part for part in velocities if part is not None]
    if 0 < len(both) < len(velocities):
        notes.append("velocities are left out: not all joints have them")
    return WholeStates(
        names,
        first.stamps[near],
        np.concatenate(positions, axis=1)[near],
        np.concatenate(both, axis=1)[near] if len(both) == len(velocities) else None,
        first.of[near],
        len(parts) == 1 and first.as_given,
        tuple(notes),
    )


def _left_out(stamps: Sequence[int], why: str, begin: int) -> str:
    return _told(np.asarray(stamps), why, begin, kept=False)


def _told(stamps: NDArray[np.int64], why: str, begin: int, *, kept: bool) -> str:
    """Return a line about some messages: how many, from when to when, and what is wrong with them."""
    span = f"{(stamps[0] - begin) / _NS:.2f} s to {(stamps[-1] - begin) / _NS:.2f} s"
    return f"{len(stamps)} joint states{'' if kept else ' left out'}, from {span}: they {why}"


def iter_values(states: WholeStates) -> Iterator[tuple[int, list[float], list[float]]]:
    """Yield which row each state is of, its positions and its velocities, which may be empty."""
    for k, of in enumerate(states.of.tolist()):
        yield of, states.positions[k].tolist(), [] if states.velocities is None else states.velocities[k].tolist()
