"""The path that is commanded while a slow policy gives chunk after chunk: ours, open-loop chunks, plain averaging.

Everything runs in simulated time with a seed; only the figure's looks depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.core.chunk import ActionType, Chunk, ChunkLimits
from kc_vla.core.robot import load_robot
from kc_vla.execution.scheduler import ChunkScheduler, ScheduledAction, SchedulerSettings
from tests.support.piper import KINEMATICS
from tests.support.stepped_arm import SteppedArm, power

from .measuring import Table

mpl.use("Agg")
from matplotlib import pyplot as plt

STEP_S, HORIZON, SECONDS = 0.05, 20, 20.0
SETTINGS = ServoSettings(speed=1.0)
_PERIODS = round(STEP_S / SETTINGS.period)
MIDDLE = np.radians([0.0, 60.0, -50.0, 0.0, 30.0, 0.0])
SWING = np.radians([25.0, 12.0, 10.0, 10.0, 10.0, 20.0])
_SETTLES_S = 0.3
"""The policy plans to make up for where the arm is off within about this time."""
_SCATTER = np.radians(2.0)
"""Of the plans: two looks at the same scene do not give the same one."""
_EVERYWHERE = Workspace(KINEMATICS, (-2.0, -2.0, -2.0), (2.0, 2.0, 2.0))

Way = NDArray[np.float64]
Latency = Callable[[np.random.Generator], float]
LATENCIES: dict[str, Latency] = {
    "50 ms": lambda chance: 0.05,
    "200 ms": lambda chance: 0.2,
    "400 ms": lambda chance: 0.4,
    "50 to 400 ms": lambda chance: chance.uniform(0.05, 0.4),
}


def goal(seconds: float) -> Way:
    """Where the joints (6,) should be, rad."""
    return np.asarray(MIDDLE + SWING * np.sin(1.2 * seconds + np.arange(6)))


@dataclass
class Policy:
    """Answers each request after its latency; one at a time."""

    latency: Latency
    chance: np.random.Generator

    def answer(self, step: int, angles: Way) -> tuple[float, NDArray[np.float32]]:
        """When the plan for `step` is there, s, and its rows (horizon, 7)."""
        now = step * STEP_S
        off, scatter = angles - goal(now), self.chance.normal(0.0, _SCATTER, 6)
        ahead = STEP_S * np.arange(HORIZON)[:, None]
        fades = np.exp(-ahead / _SETTLES_S)
        rows = np.array([goal(now + seconds) for seconds in ahead[:, 0]]) + off * fades + scatter * (1 - fades)
        return now + self.latency(self.chance), np.pad(rows, ((0, 0), (0, 1))).astype(np.float32)


def ours(policy: Policy) -> tuple[Way, float]:
    """Steps already executed are skipped, plans fade, the limiter has the last word."""
    arm = SteppedArm()
    arm.body.angles = goal(0.0)
    servo = Servo(arm, SETTINGS, _EVERYWHERE)
    power(servo, 0.0, SETTINGS.period)
    scheduler = ChunkScheduler(SchedulerSettings(execute_steps=8, blend_steps=4), ChunkLimits())
    waits: tuple[float, Chunk] | None = None
    held = 0
    for step in range(round(SECONDS / STEP_S)):
        now = step * STEP_S
        if waits is not None and waits[0] <= now:
            scheduler.offer(waits[1], step)
            waits = None
        if (request := scheduler.request(step)) is not None:
            due, rows = policy.answer(request.step, arm.body.angles)
            waits = (
                due,
                Chunk(request.sequence, request.step, ActionType.JOINT_POSITION, load_robot("piper").names, rows),
            )
        action = scheduler.action(step)
        if isinstance(action, ScheduledAction):
            servo.set_target(action.values[:6].astype(float), 0.0, now, STEP_S)
        else:
            held += 1
        for k in range(_PERIODS):
            servo.step(now + k * SETTINGS.period)
            arm.pass_time(SETTINGS.period)
    return np.array(arm.sent), held * STEP_S / SECONDS


def open_loop(policy: Policy) -> tuple[Way, float]:
    """A chunk is played from its first row to its last, then the next one is asked for."""
    targets, held = [goal(0.0)], 0
    while len(targets) * STEP_S < SECONDS:
        step = len(targets) - 1
        due, rows = policy.answer(step, targets[-1])
        pause = int(np.ceil((due - step * STEP_S) / STEP_S - 1e-9))
        held += pause
        targets += [targets[-1]] * pause + list(rows[:, :6].astype(float))
    return _interpolated(np.array(targets)), held / len(targets)


def averaged(policy: Policy) -> tuple[Way, float]:
    """Asked again as soon as it has answered; all plans for a step count alike."""
    targets, held = [goal(0.0)], 0
    plans: list[tuple[int, NDArray[np.float32]]] = []
    waits: tuple[float, int, NDArray[np.float32]] | None = None
    for step in range(round(SECONDS / STEP_S)):
        if waits is not None and waits[0] <= step * STEP_S:
            plans.append(waits[1:])
            waits = None
        if waits is None:
            due, rows = policy.answer(step, targets[-1])
            waits = due, step, rows
        now = [rows[step - begin, :6] for begin, rows in plans if step - begin < HORIZON]
        held += not now
        targets.append(np.mean(now, axis=0).astype(float) if now else targets[-1])
    return _interpolated(np.array(targets)), held * STEP_S / SECONDS


WAYS = {"fade and limit (ours)": ours, "open-loop chunks": open_loop, "plain average": averaged}


def measure(quick: bool, work: Path) -> Table:
    """Command 20 s with each way and each latency; the figure shows the random latency."""
    rows, paths = [], {}
    for latency_name, latency in LATENCIES.items():
        for name, way in WAYS.items():
            path, held = way(Policy(latency, np.random.default_rng(7)))
            steps = np.degrees(np.diff(path, axis=0))
            wanted = np.array([goal(k * SETTINGS.period) for k in range(len(path))])
            jerks = np.abs(np.diff(steps, axis=0)).max() / SETTINGS.period
            rows.append(
                {
                    "latency": latency_name,
                    "way": name,
                    "largest step, degrees": f"{np.abs(steps).max():.3f}",
                    "limit, degrees": f"{np.degrees(SETTINGS.speed * SETTINGS.period):.3f}",
                    "largest change of speed in a period, degrees/s": f"{jerks:.0f}",
                    "stands still": f"{held:.0%}",
                    "from the goal, rms, degrees": f"{np.degrees(np.sqrt(np.mean((path - wanted) ** 2))):.2f}",
                }
            )
            paths[latency_name, name] = path
    figure = Path("docs/images/handover.png")
    _draw({name: paths["50 to 400 ms", name] for name in WAYS}, figure)
    return Table("Hand-over from chunk to chunk", rows, (f"Simulated time, seed 7; figure: {figure}",))


def _interpolated(targets: Way) -> Way:
    """Targets (T, 6) by control step as set-points by control period, on straight lines."""
    fine = np.arange((len(targets) - 1) * _PERIODS + 1) / _PERIODS
    return np.stack([np.interp(fine, np.arange(len(targets)), column) for column in targets.T], axis=1)[
        : round(SECONDS / SETTINGS.period)
    ]


def _draw(paths: dict[str, Way], file: Path) -> None:
    figure, axes = plt.subplots(2, len(paths), figsize=(13, 5.2), sharex=True, sharey="row", layout="constrained")
    limit = np.degrees(SETTINGS.speed)
    for column, (name, path) in enumerate(paths.items()):
        time = np.arange(len(path)) * SETTINGS.period
        place, pace = axes[0, column], axes[1, column]
        place.plot(time, [np.degrees(goal(t)[0]) for t in time], color="0.7", lw=3, label="goal")
        place.plot(time, np.degrees(path[:, 0]), color="tab:blue", lw=1.2, label="commanded")
        place.set_title(name)
        pace.plot(time[1:], np.degrees(np.diff(path, axis=0)) / SETTINGS.period, lw=0.7)
        pace.axhline(limit, color="tab:red", ls="--", lw=1)
        pace.axhline(-limit, color="tab:red", ls="--", lw=1)
        pace.set_xlabel("s")
    axes[0, 0].set_ylabel("joint 1, degrees")
    axes[1, 0].set_ylabel("speed of all joints, degrees/s")
    axes[1, 0].set_ylim(-2 * limit, 2 * limit)
    axes[0, 0].legend(loc="lower right")
    figure.suptitle("A policy that takes 50 to 400 ms for each chunk; dashed: limit of the speed")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=110)
    plt.close(figure)
