"""What can be chosen by name, our rows and those of other packages, and which extras of the package are installed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from kc_vla.core.extras import EXTRAS, install, missing_extras
from kc_vla.core.tables import OpenTable
from kc_vla.machine.finding import Finding, Level

TABLES = {
    "arm drivers": "kc_vla.arm.kinds:ARMS",
    "policies": "kc_vla.policy.backends:BACKENDS",
    "selectors": "kc_vla.keyframes.selectors:SELECTORS",
    "detectors": "kc_vla.perception.detectors:DETECTORS",
    "replacement": "kc_vla.memory.replacement.policies:REPLACEMENTS",
    "simulators": "kc_vla_sim.simulators:SIMULATORS",
}
"""The open tables by the name of their line, each as "module:attribute"."""


def look_at_table(name: str) -> Sequence[Finding]:
    """List the rows of an open table, and each that cannot be loaded in a line of its own.

    Args:
        name: name of the table in `TABLES`.
    """
    module, _, attribute = TABLES[name].partition(":")
    package = module.partition(".")[0]
    if find_spec(package) is None:
        return [Finding(name, Level.OK, f"the package {package} is not installed", facts={"rows": {}})]
    table: OpenTable[Any] = getattr(import_module(module), attribute)
    rows = list(table.rows())
    good = {row.name: package if row.package == "kc_vla" else row.package for row in rows if not row.error}
    told = [row if source == package else f"{row} ({source})" for row, source in good.items()]
    broken = [Finding(name, Level.WARN, row.error) for row in rows if row.error]
    what = f"of {package}: {', '.join(told)}" if good else "none can be loaded"
    return [Finding(name, Level.OK, what, facts={"rows": good}), *broken]


def look_at_extras() -> Sequence[Finding]:
    """Return which extras of the package are installed, and the command that installs the others."""
    missing = missing_extras()
    told = ", ".join(name for name in EXTRAS if name not in missing) or "none"
    if not missing:
        return [Finding("extras", Level.OK, told, facts={"missing": {}})]
    lacking = ", ".join(f"{name} (no {', '.join(modules)})" for name, modules in missing.items())
    do = f"only for what you use: {install(','.join(missing))}, or ./setup.sh in a checkout"
    return [Finding("extras", Level.WARN, f"{told}; not {lacking}", do, {"missing": missing})]
