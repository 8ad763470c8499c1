"""Demonstrations as episodes with plans: what was done from each frame on stands for what there is to do.

Recordings of a robot tell no more than that. The next place, which a simulator's expert knows, is read off them: where
a command opens or closes the gripper next, or where the arm comes to rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.planned import PlannedEpisode
from kc_vla.policy.numbers import Numbers, Space

HORIZON = 16
"""Actions of a plan."""
RESTS = 8
"""The arm waits where so many actions move nothing."""
_EVERY, _EVERY_WAITING, _FIRST_MOVING = 4, 12, 8
"""One of so many frames is kept while the arm moves, and while it waits; the first ones after a wait all are."""
_GRIPPER_CHANGE = 0.25


def kept_frames(waits: NDArray[np.bool_], keyframes: Sequence[int]) -> NDArray[np.int64]:
    """Return which of the frames (T,) of an episode are kept: few, and every keyframe."""
    kept, run = set(keyframes), 0
    for frame, still in enumerate(waits.tolist()):
        run = run + 1 if frame and still == waits[frame - 1] else 1
        if (run - 1) % (_EVERY_WAITING if still else _EVERY) == 0 or (not still and run <= _FIRST_MOVING):
            kept.add(frame)
    return np.array(sorted(kept), np.int64)


def plans_of(actions: Numbers, space: Space) -> Numbers:
    """Return the actions (T, A) of an episode from each frame on, (T, H, A).

    After the last one the robot stays as it is.
    """
    last = actions[-1:]
    if space.turns:  # deltas: the same again would move it further
        last = last.copy()
        last[:, : space.moves] = 0.0
    padded = np.concatenate([actions, np.repeat(last, HORIZON, axis=0)])
    return np.asarray(padded[np.arange(len(actions))[:, None] + np.arange(HORIZON)])


def next_places(gripper: NDArray[np.float32], waits: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each frame (T,) the next frame in which the gripper's command changes or the arm comes to rest.

    Args:
        gripper: commands of the gripper (T,), 0..1.
        waits: whether the arm waits in each frame (T,).
    """
    following = np.zeros(len(gripper), np.int64)
    for frame in range(len(gripper)):
        changes = np.abs(gripper[frame:] - gripper[max(frame - 1, 0)]) > _GRIPPER_CHANGE
        rests = waits[frame:] & ~waits[frame]
        ends = np.flatnonzero(changes | rests)
        following[frame] = frame + (int(ends[0]) if len(ends) else len(gripper) - frame - 1)
    return following


def driven_frames(person: NDArray[np.bool_], waits: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which frames (T,) show a person moving the robot after taking over: from the first motion to the last.

    Args:
        person: (T,), whether a person is in control; before and after that motion the person looks, and shows nothing.
        waits: (T,), whether the arm does.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], person, [False]])))
    shown = np.zeros(len(person), bool)
    for begin, end in edges.reshape(-1, 2):
        moves = begin + np.flatnonzero(~waits[begin:end])
        if len(moves):
            shown[moves[0] : moves[-1] + 1] = True
    return shown


def demonstrated(
    about: Mapping[str, Any],
    states: Numbers,
    actions: Numbers,
    keyframes: Sequence[int],
    space: Space,
    person: NDArray[np.bool_] | None = None,
) -> PlannedEpisode:
    """Return an episode without its images.

    Args:
        about: see `PlannedEpisode`.
        states: (T, S), see `kc_vla.core.codec`.
        actions: (T, A), each executed from its frame to the next.
        keyframes: frames of them, ascending.
        space: of the robot.
        person: (T,), whether a person drove who had taken over: then it is learned from those frames alone, and of the
            others the keyframes are kept. None: from all.
    """
    states, actions = np.asarray(states, np.float32), np.asarray(actions, np.float32)
    plans = plans_of(actions, space)
    waits = space.motion(plans)[:, :RESTS].max(axis=1) < space.still
    gripper = space.learnt(plans[:, :1], states)[:, 0, -1]
    places = next_places(gripper, waits)
    frames, learnt = kept_frames(waits, keyframes), None
    if person is not None:
        shown = driven_frames(person, waits)
        frames = frames[shown[frames] | np.isin(frames, keyframes)]
        learnt = shown[frames]
    return PlannedEpisode(
        about=about,
        frames=frames,
        states=states[frames],
        plans=plans[frames],
        phases=np.where(waits, "wait", "move")[frames],
        places=states[places][frames],
        ahead=(places - np.arange(len(states)))[frames],
        keyframes=np.array(sorted(keyframes), np.int64),
        pictures={},
        learnt=learnt,
    )
