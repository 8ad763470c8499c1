"""What goes wrong in a running graph around a Piper, and what a person sees of it."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from kc_vla.core.robot import Vector
from kc_vla.launching.graph import emulated_bus
from tests.support.node_process import Peer
from tests.support.piper import KINEMATICS
from tests.support.robot import SAW, Robot

from .bus_watch import FEEDBACK_S, Watch, watching
from .measuring import MeasurementError

REST_S = 0.5
_AFTER_S = 3.0
_STILL = 0.01
"""rad; the emulated encoders' noise is a tenth of it."""


@dataclass(frozen=True)
class Harm:
    """One thing that goes wrong.

    Attributes:
        does: it, to the running graph; may return words that a person reads.
        told: the line that a person reads.
        mends: what makes the arm move again.
        comes_to: what the arm has to be doing before.
        stops: whether the arm comes to rest of it.
        ends: what makes the arm be seen again, some seconds later; it still does not move.
    """

    does: Callable[[Robot], object]
    told: str
    mends: Callable[[Robot], object] = lambda robot: None
    comes_to: Callable[[Robot], object] = Robot.wait_until_it_moves
    stops: bool = True
    ends: Callable[[Robot], object] = lambda robot: None


@dataclass(frozen=True)
class Observed:
    """What was seen of one harm. Times count from it, s.

    Attributes:
        name: of the harm.
        told: the words that a person read.
        told_after: when.
        stands_after: when the arm stood; None if it was not to.
        way: of the joint that went furthest until then, degrees; None likewise.
        fastest: velocity of any joint from then on, degrees/s.
        lowest: height of the flange from then on, m.
    """

    name: str
    told: str
    told_after: float
    stands_after: float | None
    way: float | None
    fastest: float
    lowest: float


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def kill(robot: Robot) -> None:
    """Kill the arm's controller."""
    robot.kill("arm_controller")


def kill_control(robot: Robot) -> None:
    """Kill the control process of the arm's controller."""
    os.kill(children(robot.pid("arm_controller"))[0], signal.SIGKILL)


def release_and_resume(robot: Robot) -> None:
    """After a controller that was killed: nobody pressed a stop, or that is over."""
    robot.call("/arm/release_e_stop")
    robot.call("/arm/resume")


def observe(
    harms: Mapping[str, Harm], work: Path, arguments: Mapping[str, object], peer: Peer
) -> tuple[list[Observed], float]:
    """Start a graph and do one harm after the other to it.

    Args:
        harms: by their names.
        work: folder of the run.
        arguments: of the launch file.
        peer: a node of the person's.

    Returns:
        What was seen, and the largest step from one target of a joint to the next that the arm saw, degrees; NaN where
        it did not come to report it.
    """
    with Robot(work, arguments, peer) as robot:
        robot.wait_for("keyframe 0 'start' confirmed")
        with watching(emulated_bus()) as watch:
            seen = [
                _observe(name, harm, robot, watch) for name, harm in tqdm(harms.items(), desc="graph", unit="fault")
            ]
        if robot.is_running:
            robot.press_ctrl_c()
        robot.finish()
    saw = SAW.search(robot.text)
    return seen, float(saw["step"]) if saw else np.nan


def _observe(name: str, harm: Harm, robot: Robot, watch: Watch) -> Observed:
    harm.comes_to(robot)
    line, begun = robot.position, time.monotonic()
    words = str(harm.does(robot))
    told = harm.told
    if said := re.search(harm.told, words):
        told = said[0]
    else:
        robot.wait_for(harm.told, line)
    told_after = time.monotonic() - begun
    time.sleep(_AFTER_S)
    harm.ends(robot)
    times, angles = watch.since(begun)
    stands_after = way = None
    if harm.stops:
        stands = _stands(angles)
        stands_after = float(times[stands] - begun)
        way = float(np.degrees(np.abs(angles[: stands + 1] - angles[0]).max()))
    else:
        robot.wait_until_it_moves()
    harm.mends(robot)
    time.sleep(REST_S)
    lowest = float(KINEMATICS.flange(angles)[:, 2, 3].min())
    return Observed(name, told, told_after, stands_after, way, np.degrees(_fastest(times, angles)), lowest)


def _stands(angles: Vector) -> int:
    """Number of the sample from which on no joint moves for half a second."""
    rest = round(REST_S / FEEDBACK_S)
    for at in range(len(angles) - rest):
        if np.ptp(angles[at : at + rest], axis=0).max() < _STILL:
            return at
    raise MeasurementError("the arm did not come to rest")


def _fastest(times: Vector, angles: Vector) -> float:
    """rad/s of the fastest joint, over 50 ms: the encoders' noise is as large as the way of 5 ms."""
    apart = 10
    ways, spans = np.abs(angles[apart:] - angles[:-apart]).max(axis=1), times[apart:] - times[:-apart]
    return float((ways / np.maximum(spans, apart * FEEDBACK_S)).max())
