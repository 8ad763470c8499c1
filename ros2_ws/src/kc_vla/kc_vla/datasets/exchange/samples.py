"""The measured state of a robot in an episode, from its bag, at the stamps of the frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.alignment import nearest
from kc_vla.core.codec import TOOL_POSE_NAMES
from kc_vla.core.stamps import nanoseconds
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.joint_streams import row_of, whole_states
from kc_vla.episodes.recording import Recording
from kc_vla.keyframes.observation import pose_of

UNEXPLAINED = "data_set/action"
"""Actions of an imported data set that does not say what they mean."""
_NS = 1_000_000_000


@dataclass(frozen=True, eq=False)
class Samples:
    """Numbers over time.

    Attributes:
        name: of what they are, for errors.
        names: of the numbers in a row, (D,); of a pose x, y, z (m), qx, qy, qz, qw.
        stamps: (N,) int64, ns, ascending.
        values: (N, D) float64.
    """

    name: str
    names: tuple[str, ...]
    stamps: NDArray[np.int64]
    values: NDArray[np.float64]

    def at(self, stamps: NDArray[np.int64], within_ns: int) -> NDArray[np.float64]:
        """Return the rows nearest to `stamps`, (T, D).

        Raises:
            ExchangeError: a frame has none within `within_ns`.
        """
        found = nearest(stamps, self.stamps)
        far = np.flatnonzero(np.abs(self.stamps[found] - stamps) > within_ns)
        if len(far):
            gap = f"no {self.name} within {within_ns / _NS:g} s of it"
            raise ExchangeError(f"frame {far[0]}: {gap}: the robot was silent, leave the episode out")
        return self.values[found]


@dataclass(frozen=True, eq=False)
class MeasuredState:
    """The measured state of a robot in an episode; None where the bag does not hold it.

    Attributes:
        positions: positions of the joints, rad and m, by their names.
        velocities: velocities of the joints, rad/s and m/s, by their names.
        tool_pose: poses of the tool in the robot's base frame.
        unexplained: actions of a data set that does not say what they mean.
        notes: a line for each thing that was left out or put together.
    """

    positions: Samples | None
    velocities: Samples | None
    tool_pose: Samples | None
    unexplained: Samples | None = None
    notes: tuple[str, ...] = ()


def read_felt(recording: Recording) -> MeasuredState:
    """Read the whole measured state of the robot in an episode.

    Raises:
        BagError: it cannot be read.
        ExchangeError: no joint state can be used, two publishers contradict each other, or a tool pose or an
            unexplained action is not finite.
    """
    found: dict[str, list[Any]] = {"joint_states": [], "tool_pose": [], UNEXPLAINED: []}
    for name, message in recording.messages(*found):
        found[name].append(message)
    states, tool, told = (sorted(messages, key=_stamp) for messages in found.values())
    positions = velocities = None
    notes: tuple[str, ...] = ()
    whole = whole_states([row_of(_stamp(message), message) for message in states])
    if whole is not None:
        positions = Samples("joint positions", whole.names, whole.stamps, whole.positions)
        if whole.velocities is not None:
            velocities = Samples("joint velocities", whole.names, whole.stamps, whole.velocities)
        notes = tuple(f"joint_states: {note}" for note in whole.notes)
    pose = _samples("tool pose", TOOL_POSE_NAMES, tool, (pose_of(m.pose) for m in tool)) if tool else None
    called = tuple(str(name) for name in told[0].name) if told else ()
    rows = (_by_name(message, called, message.position) for message in told)
    return MeasuredState(positions, velocities, pose, _samples("action", called, told, rows) if told else None, notes)


def _stamp(message: Any) -> int:
    return nanoseconds(message.header.stamp)


def _by_name(message: Any, names: tuple[str, ...], values: Any) -> list[float]:
    """Return the numbers of a joint state in the order of `names`."""
    if tuple(message.name) == names and len(values) == len(names):
        return list(values)
    own = dict(zip(message.name, values, strict=False))
    if set(own) != set(names):
        raise ExchangeError(f"a joint state of {', '.join(message.name)} among those of {', '.join(names)}")
    return [own[name] for name in names]


def _samples(
    name: str, names: tuple[str, ...], messages: list[Any], rows: Iterator[Sequence[float] | NDArray[np.float64]]
) -> Samples:
    stamps = np.array([_stamp(message) for message in messages], np.int64)
    values = np.array(list(rows), np.float64).reshape(len(messages), len(names))
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        raise ExchangeError(f"the {name} at {stamps[bad[0]] / _NS:.3f} s are not finite")
    return Samples(name, names, stamps, values)
