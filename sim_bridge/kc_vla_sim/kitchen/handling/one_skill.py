"""One skill in many kitchens that are prepared for it, by its motion and by a policy: how often each does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kc_vla.core.shares import Share
from kc_vla.planning.skills import Call
from kc_vla.skills.skill_table import SkillWay
from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm
from kc_vla_sim.kitchen.handling.perceived_names import perceived_name
from kc_vla_sim.kitchen.handling.prepared import PreparedLayout
from kc_vla_sim.kitchen.handling.skill_policy import SkillPolicy
from kc_vla_sim.kitchen.handling.skill_trial import SkillVerdict, is_done
from kc_vla_sim.kitchen.kinds import KINDS

_REST = 10
"""Control steps after a skill until it is judged: what was released comes to rest."""
_DISTURBED_M = 0.05
"""What has moved further than this, and is not in the furniture that the skill is of, was disturbed, m."""


def play_one(
    layout: PreparedLayout,
    seeds: Sequence[int],
    ways: Sequence[SkillWay],
    policy: SkillPolicy | None = None,
    **arm_options: Any,
) -> Iterator[SkillVerdict]:
    """Yield the verdict of the simulator's truth on a skill in each kitchen, from the usual posture of the arm.

    Args:
        layout: draws the kitchens, and says which skill it is.
        seeds: of the kitchens.
        ways: by which it is done, one after the other in each kitchen.
        policy: that does it where that is one of the ways.
        arm_options: of `KitchenArm`: the detector, and what belongs to it.
    """
    arm = KitchenArm(seeds[0], layout=layout, policy=policy, **arm_options)
    arm.seldom = True
    try:
        for seed in seeds:
            for way in ways:
                yield _played(arm, layout.call, seed, way)
    finally:
        arm.close()


def _played(arm: KitchenArm, call: Call, seed: int, way: SkillWay) -> SkillVerdict:
    arm.ways = {call.skill: way}
    arm.begin(seed)
    before = _free_things(arm, call.arguments[0])
    result = arm.do(Call(call.skill, tuple(perceived_name(arm, each) for each in call.arguments)))
    for _ in range(_REST):
        arm.stay()
    arm.look()
    after = _free_things(arm, call.arguments[0])
    moved = tuple(sorted(name for name in before if _away(before, after, name) > _DISTURBED_M))
    return SkillVerdict(
        seed,
        call.skill,
        call.arguments,
        result.done,
        is_done(call, arm.frame),
        result.reason,
        result.seconds,
        by=way.value,
        disturbed=moved,
    )


def one_skill_table(verdicts: Sequence[SkillVerdict]) -> str:
    """Return how often each way did the skill by the simulator's truth, and why it failed, as Markdown."""
    first = verdicts[0]
    kitchens = len({each.seed for each in verdicts})
    lines = [
        f"{first.skill}({', '.join(first.arguments)}) in {kitchens} kitchens, judged by the simulator's truth.",
        "",
        "| by | done, % (95 %) | done | reported as done, and were not | kitchens with a thing disturbed | median s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for way in dict.fromkeys(each.by for each in verdicts):
        rows = [each for each in verdicts if each.by == way]
        done, wrong = sum(each.true for each in rows), sum(each.said and not each.true for each in rows)
        middle = float(np.median([each.seconds for each in rows]))
        disturbed = sum(bool(each.disturbed) for each in rows)
        share = Share(done, len(rows))
        lines.append(f"| {way} | {share} | {done} of {len(rows)} | {wrong} | {disturbed} | {middle:.1f} |")
    failed = [each for each in verdicts if not each.true or not each.said]
    if failed:
        lines += ["", "| by | kitchen | done | reason reported |", "| --- | --- | --- | --- |"]
        lines += [f"| {each.by} | {each.seed} | {'yes' if each.true else 'no'} | {each.reason} |" for each in failed]
    return "\n".join(lines) + "\n"


def _free_things(arm: KitchenArm, name: str) -> dict[str, np.ndarray]:
    """Return where the things are that stand free or in other furniture."""
    return {
        each.object_id: np.array(each.pose.position)
        for each in arm.frame.detections
        if each.object_type in KINDS and not each.attributes.get("place", "").endswith(f" {name}")
    }


def _away(before: dict[str, np.ndarray], after: dict[str, np.ndarray], name: str) -> float:
    return float(np.linalg.norm(after[name] - before[name])) if name in after else np.inf
