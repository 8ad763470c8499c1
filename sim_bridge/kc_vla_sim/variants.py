"""The variants of a task: the same rules, other ranges of chance."""

from __future__ import annotations

from kc_vla_sim.errors import BadVariantError

STANDARD = "standard"
VARIANTS = {
    STANDARD: "waits so long and so different that no clock tells what comes next",
    "hard": "shorter events, faster motion, more distractors, longer waits",
    "paper": "the short waits of the paper's public benchmark, which a clock can follow",
}
"""Name and character of each variant; every task has all of them."""


def check_variant(name: str) -> str:
    """Return `name`, or raise `BadVariantError` if there is no such variant."""
    if name not in VARIANTS:
        raise BadVariantError(f"unknown variant '{name}': choose one of {', '.join(VARIANTS)}")
    return name
