"""What can be chosen by name: `python docs/choices.py` writes it anew into docs/architecture.md.

`tests/setup/test_choices.py` sees that the page is true.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kc_vla.core.choice import Choice
from kc_vla.keyframes.sources import SOURCES
from kc_vla.policy.backends import BACKENDS

PAGE = Path(__file__).parent / "architecture.md"
_BEGIN, _END = "<!-- choices: python docs/choices.py -->\n", "<!-- end of choices -->\n"


def table(argument: str, choices: Mapping[str, Choice[Any, Any]]) -> str:
    """The rows as Markdown."""
    lines = [f"| `{argument}:=` | what it is | launch files | thread of its own |", "| --- | --- | --- | --- |"]
    for name, row in choices.items():
        lines.append(f"| `{name}` | {row.meaning} | {', '.join(row.graphs)} | {'no' if row.at_once else 'yes'} |")
    return "\n".join(lines) + "\n"


def with_choices(page: str) -> str:
    """The page with the tables as they are."""
    before, _, rest = page.partition(_BEGIN)
    tables = table("source", SOURCES) + "\n" + table("policy", BACKENDS)
    return f"{before}{_BEGIN}{tables}{_END}{rest.partition(_END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_choices(PAGE.read_text()))
