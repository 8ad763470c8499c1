"""The verdicts on many skills as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kc_vla.core.shares import Share
from kc_vla_sim.kitchen.handling.skill_trial import SkillVerdict

_MOST_REASONS = 12


def table(verdicts: Sequence[SkillVerdict]) -> str:
    """Return how often each skill succeeded by the simulator's truth, and why others failed, as Markdown."""
    kitchens = len({each.seed for each in verdicts})
    lines = [
        f"{len(verdicts)} skills in {kitchens} kitchens, judged by the simulator's truth.",
        "",
        "| skill | done of what is possible, % (95 %) | possible | impossible | reported as done, and were not | "
        "median s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for skill in dict.fromkeys(each.skill for each in verdicts):
        rows = [each for each in verdicts if each.skill == skill]
        wrong = sum(each.said and not each.true for each in rows)
        middle = sorted(each.seconds for each in rows)[len(rows) // 2]
        possible = [each for each in rows if each.possible]
        share = Share(sum(each.true for each in possible), len(possible)) if possible else ""
        left = len(rows) - len(possible)
        lines.append(f"| {skill} | {share} | {len(possible)} | {left} | {wrong} | {middle:.0f} |")
    reasons = Counter((each.skill, _without_ids(each)) for each in verdicts if not each.said)
    if reasons:
        lines += ["", "| skill | reason of a failure | times |", "| --- | --- | --- |"]
        lines += [f"| {skill} | {reason} | {count} |" for (skill, reason), count in reasons.most_common(_MOST_REASONS)]
    return "\n".join(lines) + "\n"


def _without_ids(verdict: SkillVerdict) -> str:
    """Return a reason with "it" for the thing that it is about, so that equal ones count together."""
    text = verdict.reason
    for number, name in enumerate(verdict.arguments):
        text = text.replace(name, ("THING", "HOLDER")[min(number, 1)])
    return text.replace("|", "/")
