"""The keys of a robot file: `python docs/robot_keys.py` writes them anew into docs/robot_file.md.

`tests/setup/test_robot_keys.py` sees that the page is true.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kc_vla.core.robot_file import JOINT_KEYS, KEYS, Key

PAGE = Path(__file__).parent / "robot_file.md"
_BEGIN, _END = "<!-- {}: python docs/robot_keys.py -->\n", "<!-- end of {} -->\n"


def table(keys: Mapping[str, Key]) -> str:
    """Return the keys as Markdown."""
    lines = ["| key | unit | default | what it says |", "| --- | --- | --- | --- |"]
    rows = ((f"`{name}`", key.unit or "-", key.default or "must be there", key.text) for name, key in keys.items())
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def with_keys(page: str) -> str:
    """Return the page with the tables as they are."""
    for name, keys in (("keys", KEYS), ("keys of a joint", JOINT_KEYS)):
        begin, end = _BEGIN.format(name), _END.format(name)
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}{table(keys)}{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_keys(PAGE.read_text()))
