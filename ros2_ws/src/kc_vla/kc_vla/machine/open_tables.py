"""Which arm drivers there are: ours, and those that other packages add."""

from __future__ import annotations

from collections.abc import Sequence

from kc_vla.arm.kinds import ARMS
from kc_vla.machine.finding import Finding, Level

_NAME = "arm drivers"


def look_at_arms() -> Sequence[Finding]:
    """List the drivers, and each that cannot be loaded in a line of its own."""
    rows = list(ARMS.rows())
    names = [row.name if row.package == "kc_vla" else f"{row.name} ({row.package})" for row in rows if not row.error]
    facts = {"drivers": [row.name for row in rows if not row.error]}
    broken = [Finding(_NAME, Level.WARN, row.error) for row in rows if row.error]
    return [Finding(_NAME, Level.OK, ", ".join(names), facts=facts), *broken]
