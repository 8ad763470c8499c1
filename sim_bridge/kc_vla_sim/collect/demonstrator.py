"""Lets an expert play the way people do: faster or slower, with pauses, detours and small mishaps.

The experts decide every step from the present state, so their motion may be disturbed from outside: whatever happens,
they go on from there. Without this, the time alone would tell the phase of a task.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla_sim.actions import MOVE_LIMIT, TOOL_DELTA_SIZE, TURN_LIMIT
from kc_vla_sim.experts.hand import LOOSE_GRIPPER, READY_GRIPPER
from kc_vla_sim.experts.phases import INTERRUPTIBLE, UNCHANGED, WAYS
from kc_vla_sim.experts.tool import REACHED_SHARE, Vector
from kc_vla_sim.protocol import Expert

CLEAN_SHARE = 0.2
"""Share of the episodes that are as the expert plays."""
_ADAPTING = 0.15
"""Share by which the speed comes closer to that of the present phase in each step."""
_SPEEDS = (0.45, 1.25)
_LATE_CLOSE_SHARE = 0.2
_FUMBLE_SHARE = 0.5
"""Share of the occasions that are taken for a fumble, as long as there are to be any."""


@dataclass(frozen=True)
class Style:
    """The manner of one episode.

    Attributes:
        speed: share of the expert's speed, on average.
        unevenness: a phase is faster or slower by up to this share.
        bend: the ways of the hand begin turned aside by up to this, rad; as the way left shrinks, so does the detour.
        pauses: probability of a pause in a step.
        fumbles: lifts and pushes that go wrong at most.
    """

    speed: float = 1.0
    unevenness: float = 0.0
    bend: float = 0.0
    pauses: float = 0.0
    fumbles: int = 0

    @classmethod
    def drawn(cls, chance: np.random.Generator) -> Style:
        """Return a style by chance; a clean one, with nothing changed, now and then."""
        clean = chance.random() < CLEAN_SHARE
        speed, unevenness = chance.uniform(0.6, 1.15), chance.uniform(0.0, 0.3)
        bend, pauses, fumbles = chance.uniform(0.0, 0.7), chance.uniform(0.0, 0.02), chance.choice([0, 0, 0, 1, 2, 3])
        return cls() if clean else cls(speed, unevenness, bend, pauses, int(fumbles))


class Demonstrator:
    """Plays an episode with an expert; the same expert, seed and attempt give the same motion."""

    def __init__(self, expert: Expert, seed: int, attempt: int, style: Style | None = None) -> None:
        """Begin an episode.

        Args:
            expert: of the running episode.
            seed: of the episode.
            attempt: 0 for the first recording of that seed.
            style: drawn by default.
        """
        self._expert = expert
        self._chance = np.random.default_rng((seed, attempt))
        self.style = style or Style.drawn(self._chance)
        self._fumbles_left = self.style.fumbles
        self._ahead: deque[Vector] = deque()  # actions that come before the expert is asked again
        self._phase = ""
        self.phases: set[str] = set()
        """Those of the expert until now."""
        self._speed, self._wanted_speed = 1.0, 1.0
        self._turn = 0.0
        self._gripper = 0.0

    def act(self) -> NDArray[np.float32]:
        """Return the next action: tool delta and gripper (7,), within the limits of a step.

        It is to be executed once.
        """
        if not self._ahead:
            self._ahead.extend(self._next())
        action = self._ahead.popleft()
        self._gripper = float(action[6])
        return _within_limits(action).astype(np.float32)

    def _next(self) -> list[Vector]:
        """Return what comes next: one step of the expert, or a pause or mishap of several."""
        plan, phase = self._expert.plan(1)
        self.phases.add(phase)
        action = plan[0].astype(float)
        if self.style == Style():
            return [action]
        if phase != self._phase:
            before, self._phase = self._phase, phase
            self._begin_phase()
            if mishap := self._mishap(action, before):
                return mishap
        if phase in INTERRUPTIBLE and self._chance.random() < self.style.pauses:
            return self._pause(int(self._chance.integers(4, 31)), self._gripper)
        if phase in UNCHANGED:
            return [action]
        self._speed += _ADAPTING * (self._wanted_speed - self._speed)
        action[:6] *= self._speed if phase in WAYS else min(self._speed, 1.0)
        action[:2] = _turned(action[:2], self._turn)
        return [action]

    def _begin_phase(self) -> None:
        """Draw how the phase that begins is played."""
        style, chance = self.style, self._chance
        factor = 1 + chance.uniform(-style.unevenness, style.unevenness)
        self._wanted_speed = float(np.clip(style.speed * factor, *_SPEEDS))
        self._turn = chance.uniform(-style.bend, style.bend) if self._phase in WAYS else 0.0

    def _mishap(self, action: Vector, before: str) -> list[Vector]:
        """Return what goes wrong at the beginning of the present phase, if anything.

        Args:
            action: the expert's.
            before: the phase that has just ended.
        """
        chance, phase = self._chance, self._phase
        if phase == "close" and chance.random() < _LATE_CLOSE_SHARE:
            return self._pause(int(chance.integers(3, 11)), READY_GRIPPER)
        lifts = before == "close" and phase in ("lift", "carry")
        if not (lifts or phase == "push") or not self._fumbles_left or chance.random() >= _FUMBLE_SHARE:
            return []
        self._fumbles_left -= 1
        return self._slip(action) if lifts else self._slide_off(action)

    def _slip(self, action: Vector) -> list[Vector]:
        """Return the actions by which the cube slips out of the fingers just above its place, and the hand rises."""
        rise = np.zeros(TOOL_DELTA_SIZE)
        rise[2] = self._chance.uniform(0.01, 0.02) / REACHED_SHARE
        rise[6] = READY_GRIPPER
        steps = int(self._chance.integers(3, 9))
        return [action, *self._pause(2, LOOSE_GRIPPER), *self._pause(2, READY_GRIPPER), *[rise] * steps]

    def _slide_off(self, action: Vector) -> list[Vector]:
        """Return the actions by which the hand leaves its line of pushing, aside and back."""
        away = action * 1.0
        away[:2] = _turned(action[:2], self._chance.choice([-1, 1]) * self._chance.uniform(1.9, 2.5))
        return [action] * int(self._chance.integers(1, 8)) + [away] * int(self._chance.integers(6, 11))

    def _pause(self, steps: int, gripper: float) -> list[Vector]:
        """Stay in place."""
        return [np.append(np.zeros(6), gripper)] * steps


def _turned(planar: Vector, angle: float) -> Vector:
    """Return a vector in the plane (2,), turned by `angle`, rad."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([cosine * planar[0] - sine * planar[1], sine * planar[0] + cosine * planar[1]])


def _within_limits(action: Vector) -> Vector:
    """Return an action (7,) cut to what the arm does in a step, in the same directions."""
    move, turn = np.abs(action[:3]).max(), float(np.linalg.norm(action[3:6]))
    limited = action.copy()
    limited[:3] *= min(1.0, MOVE_LIMIT / move) if move else 1.0
    limited[3:6] *= min(1.0, TURN_LIMIT / turn) if turn else 1.0
    return limited
