"""Plays episodes of the expert without images, and draws only the frames that a probe is to see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.tasks import find_task
from kc_vla_sim.errors import SimulationError
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.simulator import Simulator

Views = NDArray[np.uint8]
"""Both images of one frame: (2, height, width, 3), third-person and wrist, RGB."""


class ProbeError(SimulationError):
    """A task reports its moments of decision or its keyframes in a way that no policy could use."""


@dataclass(frozen=True)
class ProbeDecision:
    """What a policy has at one moment of decision, and what would be right.

    Attributes:
        frame: index of the present frame.
        choice: index into the task's `choices`.
        views: images of the present frame.
        feeling: (25,): joint positions and velocities, tool pose (rad, m, seconds, unit quaternion), to three digits
            after the point, velocities to two.
        keyframes: images of the oracle keyframes known by now, by their label.
    """

    frame: int
    choice: int
    views: Views
    feeling: NDArray[np.float64]
    keyframes: dict[str, Views]


@dataclass(frozen=True)
class ProbeEpisode:
    """The decisions of one episode, in order."""

    seed: int
    decisions: tuple[ProbeDecision, ...]


def play_for_probes(simulator: Simulator, task: str, seed: int) -> ProbeEpisode:
    """Let the expert play one episode, up to its last decision, in `simulator`, which need not draw.

    A keyframe that is the highest point so far is drawn anew while it moves: the newest image counts.

    Raises:
        ProbeError: a decision or a keyframe became known only after its frame had passed.
    """
    found = find_task(task)
    choices = found.choices
    frame = simulator.reset(task, seed)
    known: dict[str, tuple[int, Views]] = {}
    decisions: list[ProbeDecision] = []
    while True:
        views: Views | None = None
        newest = {keyframe.label: keyframe.frame for keyframe in simulator.keyframes}
        for label, at in newest.items():
            if label not in known or known[label][0] != at:
                _require_present(at, frame, f"keyframe '{label}' of {task}, seed {seed}")
                views = np.stack(simulator.look()) if views is None else views
                known[label] = (at, views)
        for at, choice in simulator.decisions[len(decisions) :]:
            _require_present(at, frame, f"decision {len(decisions)} of {task}, seed {seed}")
            views = np.stack(simulator.look()) if views is None else views
            keyframes = {label: known[label][1] for label in newest}
            decisions.append(ProbeDecision(at, choices.index(choice), views, _feeling(frame), keyframes))
        if frame.done or len(decisions) == found.decisions:
            return ProbeEpisode(seed, tuple(decisions))
        frame = simulator.step(simulator.expert.plan(1)[0][0])


def _require_present(at: int, frame: SimulatedFrame, what: str) -> None:
    if at != frame.index:
        raise ProbeError(f"{what} is frame {at} but was reported at frame {frame.index}: report it at its own frame")


def _feeling(frame: SimulatedFrame) -> NDArray[np.float64]:
    """Return the measured state in `frame`, as `Observation.msg` has it for a policy, as finely as an arm measures it.

    In a simulator's last digits everything has left a trace, such as 1e-5 rad/s of an arm that has come to rest.
    """
    pose = frame.tool_pose
    parts = (
        (frame.joint_positions, 1e-3),
        (frame.joint_velocities, 1e-2),
        (pose.position, 1e-3),
        (pose.quaternion, 1e-3),
    )
    return np.concatenate([np.round(np.asarray(part) / finest) * finest for part, finest in parts])
