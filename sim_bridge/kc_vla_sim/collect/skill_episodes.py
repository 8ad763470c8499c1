"""Records episodes in which the arm does one skill in a kitchen, for a policy that is to do it, too."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.datasets.planned import PlannedEpisode
from kc_vla.skills.policy_skill import skill_instruction
from kc_vla_sim.collect.planned import HORIZON, write_planned
from kc_vla_sim.collect.record import (
    MOST_ATTEMPTS,
    Recorded,
    RecordingError,
    RecordingSetting,
    kept_views,
    state_of,
)
from kc_vla_sim.collect.shown_motion import ShownMotion, tool_of
from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm
from kc_vla_sim.kitchen.handling.prepared import PreparedLayout
from kc_vla_sim.kitchen.handling.skill_trial import is_done

TASK = "kitchen"
_DRAWN = (1.0, 2.0)
"""Images are drawn so many times as large as they are kept, see `kc_vla_sim.collect.record.DRAWN`."""
_EVERY, _EVERY_WAITING, _FIRST = 4, 12, 3
"""One of so many frames is kept while the tool moves, and while it waits; the first ones of a way all are."""
_STILL = 1e-3
_LOOKS = "look"
"""Stage in which the arm waits for what is seen: nothing is learned from the one at the beginning."""
_ASTRAY = 0.7
"""Share of the episodes that begin with the hand away from its usual place, ..."""
_ASTRAY_M, _ASTRAY_RAD = np.array([[-0.06, -0.12, -0.14], [0.06, 0.12, 0.03]]), 0.25
"""... by up to so much along x, y and z, m, and turned about the vertical by up to this, rad."""
_ASTRAY_STEPS = 24
_KICKS, _KICK_STEPS = 0.035, (3, 9)
"""Probability in a step that the arm is pushed from then on, and for how many steps."""
_KICK_M, _KICK_RAD, _NEAR_SHARE = 0.03, 0.03, 0.4
"""It is pushed by so much in a step, m and rad, and by this share of that near what it handles."""
_FREE_STAGES = ("approach",)


@dataclass(frozen=True)
class SkillJob:
    """One episode to record.

    Attributes:
        setting: of the simulator.
        layout: draws the kitchens, and says which skill it is.
        file: where to write it.
        seed: of the kitchen.
        views: cameras whose images are kept.
    """

    setting: RecordingSetting
    layout: PreparedLayout
    file: Path
    seed: int
    views: tuple[str, ...]


@lru_cache(maxsize=4)
def _arm_for(layout: PreparedLayout, size: int) -> KitchenArm:
    """Return this process's arm with images of that size, px."""
    arm = KitchenArm(0, size, layout=layout)
    arm.seldom = True
    return arm


def record_skill(job: SkillJob) -> Recorded:
    """Record an episode in which the skill is done, as the simulator's truth has it.

    Raises:
        RecordingError: none of `MOST_ATTEMPTS` was.
        DataSetError: it cannot be written; nothing is left of it.
    """
    arm = _arm_for(job.layout, _drawn_size(job))
    failures: list[str] = []
    while len(failures) < MOST_ATTEMPTS:
        arm.begin(job.seed)
        shown = _Shown(arm, job, len(failures))
        if not (reason := shown.play()):
            write_planned(shown.episode(), job.file)
            return Recorded(tuple(failures), frozenset())
        failures.append(reason)
    raise RecordingError(
        f"{job.layout.call}, seed {job.seed}: {MOST_ATTEMPTS} attempts failed ({'; '.join(dict.fromkeys(failures))}): "
        "leave it out with --skip, or report this seed"
    )


def _drawn_size(job: SkillJob) -> int:
    return round(job.setting.image_size * float(np.random.default_rng((job.seed, 2)).choice(_DRAWN)))


class _Shown:
    """One episode while it is played."""

    def __init__(self, arm: KitchenArm, job: SkillJob, attempt: int) -> None:
        self._arm, self._job, self._attempt = arm, job, attempt
        self._chance = np.random.default_rng((job.seed, attempt, 5))
        self._rows: list[dict[str, Any]] = []
        self._kick, self._left = np.zeros(6), 0
        self._moved = self._waited = 0

    def play(self) -> str:
        """Play it to its end; return why it failed, empty where it did not."""
        arm, call = self._arm, self._job.layout.call
        self._go_astray()
        self._instruction = skill_instruction(call, arm.station.context.scene)
        motion = self._motion = ShownMotion(arm, call)
        while True:
            motion.advance()
            if motion.outcome is not None:
                break
            plan = motion.plan(tool_of(arm), motion.at, 1)[0]
            if motion.steps[-1].number > 1:  # the arm waits for what is seen first
                self._keep_if_due(plan)
                plan[:6] += self._kicked(motion.steps[-1].stage)
            arm.step_tool(plan)
        if not motion.outcome.done:
            return motion.outcome.reason
        arm.look()
        return "" if is_done(call, arm.frame) else "it was not done, and reported so"

    def _go_astray(self) -> None:
        """Move the hand away from its usual place, unseen."""
        chance, arm = self._chance, self._arm
        if chance.random() >= _ASTRAY:
            return
        way = np.append(chance.uniform(*_ASTRAY_M), [0.0, 0.0, chance.uniform(-_ASTRAY_RAD, _ASTRAY_RAD)])
        for _ in range(_ASTRAY_STEPS):
            arm.step_tool(np.append(way * 2.6 / _ASTRAY_STEPS, 0.0).astype(np.float32))

    def _kicked(self, stage: str) -> np.ndarray:
        """Return by how much the arm is pushed off its way in this step (6,), m and rad."""
        chance = self._chance
        if self._left == 0 and stage != _LOOKS and chance.random() < _KICKS:
            self._left = int(chance.integers(*_KICK_STEPS))
            share = 1.0 if stage in _FREE_STAGES else _NEAR_SHARE
            self._kick = np.concatenate([chance.normal(0.0, _KICK_M, 3), chance.normal(0.0, _KICK_RAD, 3)]) * share
        if self._left == 0:
            return np.zeros(6)
        self._left -= 1
        return self._kick

    def _keep_if_due(self, action: np.ndarray) -> None:
        """Keep the present frame if it is due."""
        waits = bool(np.abs(action[:6]).max() < _STILL)
        self._waited, self._moved = (self._waited + 1, 0) if waits else (0, self._moved + 1)
        due = (self._waited - 1) % _EVERY_WAITING == 0 if waits else self._moved <= _FIRST or self._moved % _EVERY == 0
        if not due:
            return
        frame, arm = self._arm.frame, self._arm
        views = {view: arm.simulator.picture(view) for view in self._job.views}
        self._rows.append(
            {
                "frames": frame.index,
                "states": state_of(frame),
                "tool": tool_of(arm),
                "at": self._motion.at,
                **kept_views(views, self._job.setting.image_size),
            }
        )

    def episode(self) -> PlannedEpisode:
        """Return the whole episode, with what is to be done from each frame on."""
        motion, rows, setting = self._motion, self._rows, self._job.setting
        first = rows[0]["frames"]
        about = {
            "task": TASK,
            "skill": str(self._job.layout.call),
            "instruction": self._instruction,
            "seed": self._job.seed,
            "variant": setting.variant,
            "looks": setting.looks,
            "attempt": self._attempt,
            "driver": "motion",
            "success": True,
        }
        ends = [motion.next_place(row["at"]) for row in rows]
        places = [[*end.pose.position, *end.pose.rotation.as_quat(), end.gripper] for end, _ in ends]
        return PlannedEpisode(
            about=about,
            frames=np.array([row["frames"] - first for row in rows], np.int64),
            states=np.array([row["states"] for row in rows], np.float32),
            plans=np.array([motion.plan(row["tool"], row["at"], HORIZON) for row in rows], np.float32),
            phases=np.array([motion.steps[row["at"]].stage for row in rows]),
            places=np.array(places, np.float32),
            ahead=np.array([ahead for _, ahead in ends], np.int64),
            keyframes=np.empty(0, np.int64),
            pictures={view: np.array([row[view] for row in rows]) for view in self._job.views},
        )
