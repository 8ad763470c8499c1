"""Action chunks: what the policy gives and the arm executes, checked at the door."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

TOOL_DELTA_NAMES = ("dx", "dy", "dz", "drx", "dry", "drz", "gripper")
DATA_DELTA_NAMES = ("dx", "dy", "dz", "rx", "ry", "rz", "gripper")
"""The same in data sets."""
TOOL_DELTA_UNITS = ("m", "m", "m", "rad", "rad", "rad", "0..1")


class ActionType(IntEnum):
    """What the numbers of an action mean; the values are those of ActionChunk.msg."""

    JOINT_POSITION = 0
    TOOL_DELTA = 1


class BadChunkError(ValueError):
    """A chunk that must not reach the arm; the text says what is wrong with it."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """A short plan: row i is meant for control step `start + i`.

    Attributes:
        sequence: counts the chunks of an episode.
        start: control step (frame index) of the observation that it was computed from.
        action_type: what the numbers mean.
        names: what each column is.
        actions: (H, D) float32. JOINT_POSITION: rad, m. TOOL_DELTA: m, rotation vector in rad, gripper 0..1.
    """

    sequence: int
    start: int
    action_type: ActionType
    names: tuple[str, ...]
    actions: NDArray[np.float32]

    @property
    def horizon(self) -> int:
        """Return the number of actions."""
        return len(self.actions)

    @property
    def end(self) -> int:
        """Return the first control step that it has no action for."""
        return self.start + self.horizon


@dataclass(frozen=True)
class ChunkLimits:
    """The largest motion of one action in a chunk. A larger one is an error of the policy, and is not clamped.

    Attributes:
        translation: m per action, along each axis.
        rotation: rad per action, about each axis.
        joint: rad (or m), absolute.
    """

    translation: float = 0.1
    rotation: float = 0.1
    joint: float = 7.0


def check_chunk(chunk: Chunk, limits: ChunkLimits) -> Chunk:
    """Return the chunk, its columns called as the stack calls them, if every number in it may reach the arm.

    Raises:
        BadChunkError: wrong shape, not finite, or beyond `limits`.
    """
    actions = chunk.actions
    if actions.ndim != 2 or actions.size == 0:
        raise BadChunkError(f"chunk {chunk.sequence} has shape {actions.shape}: expected (horizon, dimension)")
    if actions.shape[1] != len(chunk.names):
        raise BadChunkError(
            f"chunk {chunk.sequence} has {actions.shape[1]} numbers per action for {len(chunk.names)} names"
        )
    if not np.isfinite(actions).all():
        row = int(np.flatnonzero(~np.isfinite(actions).all(axis=1))[0])
        raise BadChunkError(f"chunk {chunk.sequence} is not finite in action {row}: {actions[row].tolist()}")
    if chunk.action_type is ActionType.TOOL_DELTA:
        if chunk.names == DATA_DELTA_NAMES:
            chunk = replace(chunk, names=TOOL_DELTA_NAMES)
        if chunk.names != TOOL_DELTA_NAMES:
            raise BadChunkError(
                f"chunk {chunk.sequence} names its columns {', '.join(chunk.names)}: "
                f"a tool delta has {', '.join(TOOL_DELTA_NAMES)}"
            )
        _check_size(chunk, actions[:, :3], limits.translation, "m of translation along an axis")
        _check_size(chunk, actions[:, 3:6], limits.rotation, "rad of rotation about an axis")
        if actions[:, 6].min() < 0.0 or actions[:, 6].max() > 1.0:
            raise BadChunkError(f"chunk {chunk.sequence} has a gripper opening outside 0..1")
    elif np.abs(actions).max() > limits.joint:
        raise BadChunkError(
            f"chunk {chunk.sequence} has a joint target of {np.abs(actions).max():.2f}: the limit is {limits.joint:g}"
        )
    return chunk


def _check_size(chunk: Chunk, part: NDArray[np.float32], limit: float, what: str) -> None:
    size = np.abs(part).max(axis=1)
    row = int(size.argmax())
    # float32 rounding of a number that stands exactly on the limit is not a fault
    if size[row] > limit * (1 + 1e-5):
        raise BadChunkError(
            f"chunk {chunk.sequence} asks for {size[row]:.3f} {what} in action {row}: the limit is {limit:g}; are the "
            "policy's units this robot's, as its mapping says them?"
        )
