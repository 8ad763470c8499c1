"""Print the version of all packages, or give them another one: python setup/version.py [NEW].

`package.xml` of kc_vla has the version. ROS 2 and pip read it from a file of each package, so this writes all of them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
FIRST = ROOT / "ros2_ws/src/kc_vla/package.xml"
OTHERS = (
    ROOT / "ros2_ws/src/kc_vla_msgs/package.xml",
    ROOT / "sim_bridge/package.xml",
    ROOT / "ros2_ws/standalone/pyproject.toml",
    *sorted(ROOT.glob("ros2_ws/plugins/*/pyproject.toml")),
)
_PLACES = {
    ".xml": re.compile(r"(?<=<version>)[^<]+(?=</version>)"),
    ".toml": re.compile(r'(?<=^version = ")[^"]+|(?<="kc_vla==)[^"]+', re.MULTILINE),
}
"""Where a file of this kind says a version of ours."""
_VERSION = re.compile(r"\d+\.\d+\.\d+")  # what package.xml may have


def version() -> str:
    """Return the version of all packages."""
    return ElementTree.parse(FIRST).findtext("version") or ""


def found(path: Path) -> set[str]:
    """Return the versions of ours that a file says."""
    return {*_PLACES[path.suffix].findall(path.read_text(encoding="utf-8"))}


def change(new: str) -> None:
    """Write the version `new` into all files."""
    for path in (FIRST, *OTHERS):
        path.write_text(_PLACES[path.suffix].sub(new, path.read_text(encoding="utf-8")), encoding="utf-8")


def main(words: list[str]) -> int:
    """Do what the command line says; return the exit status."""
    if len(words) > 1 or not all(_VERSION.fullmatch(word) for word in words):
        print("usage: python setup/version.py [NEW], as 0.2.0", file=sys.stderr)
        return 2
    if words:
        change(words[0])
    print(version())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
