"""What can be chosen by name: `python docs/choices.py` writes it anew into docs/architecture.md.

`tests/setup/test_choices.py` sees that the page is true.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kc_vla.arm.kinds import ARMS
from kc_vla.core.options import OptionRule, rules_of
from kc_vla.core.tables import OpenTable
from kc_vla.keyframes.selectors import SELECTORS
from kc_vla.perception.detectors import DETECTORS
from kc_vla.policy.backends import BACKENDS
from kc_vla_sim.simulators import SIMULATORS

PAGE = Path(__file__).parent / "architecture.md"
_BEGIN, _END = "<!-- choices: python docs/choices.py -->\n", "<!-- end of choices -->\n"


def table(argument: str, choices: OpenTable[Any]) -> str:
    """The rows that come with the stack, as Markdown, and the options of all of them."""
    lines = [f"| `{argument}:=` | what it is | launch files | thread of its own |", "| --- | --- | --- | --- |"]
    options: dict[OptionRule, list[str]] = {}
    for each in choices.rows():
        if each.package == "kc_vla" and (row := each.row) is not None:
            own = "no" if row.inline else "yes"
            lines.append(f"| `{each.name}` | {row.meaning} | {', '.join(row.graphs)} | {own} |")
            for rule in rules_of(row.options):
                options.setdefault(rule, []).append(f"`{each.name}`")
    lines += ["", f"| option | of `{argument}:=` | what it is | default |", "| --- | --- | --- | --- |"]
    for rule, names in options.items():
        given = ", ".join(rule.default) if isinstance(rule.default, tuple) else rule.default
        default = {"": "-", None: "mandatory"}.get(given, f"`{given}`")
        lines.append(f"| `{rule.name}` | {', '.join(names)} | {_meaning(rule)} | {default} |")
    return "\n".join(lines) + "\n"


def _meaning(rule: OptionRule) -> str:
    return f"{rule.meaning} ({rule.allowed})" if rule.allowed else rule.meaning


def _described(rule: OptionRule) -> str:
    if rule.default is None:
        default = "mandatory"
    elif type(rule.default) in (bool, int, float, str) and rule.default != "":
        default = f"default `{rule.default}`"
    else:
        default = "no default"
    return f"`{rule.name}`: {rule.meaning} ({'; '.join(filter(None, (rule.allowed, default)))})"


def brief_table(heads: str, rows: OpenTable[Any]) -> str:
    """The rows that come with the stack, each with its options, as Markdown."""
    lines = [heads, "| --- | --- | --- |"]
    for each in rows.rows():
        if each.package == "kc_vla" and (row := each.row) is not None:
            options = [_described(rule) for rule in rules_of(row.options)]
            lines.append(f"| `{each.name}` | {row.meaning} | {'; '.join(options) or 'none'} |")
    return "\n".join(lines) + "\n"


def with_choices(page: str) -> str:
    """The page with the tables as they are."""
    before, _, rest = page.partition(_BEGIN)
    tables = (
        table("selector", SELECTORS),
        table("policy", BACKENDS),
        table("detector", DETECTORS),
        brief_table("| `arm:=` | what it moves | options of `driver` |", ARMS),
        brief_table("| `simulator:=` | what it simulates | options |", SIMULATORS),
    )
    text = "\n".join(tables)
    return f"{before}{_BEGIN}{text}{_END}{rest.partition(_END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_choices(PAGE.read_text()))
