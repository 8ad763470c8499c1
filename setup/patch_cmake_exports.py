"""Point the CMake files that the ROS wheels export at this environment's Python and numpy headers.

The wheels were built elsewhere and name that machine's folders; CMake stops at the first one that does not exist.
Run with the environment's own Python after each installation of the wheels; a second run changes nothing.
"""

import re
import sys
import sysconfig
from pathlib import Path

import numpy as np

_PYTHON_HEADERS = re.compile(r"/opt/python/cp3\d+-cp3\d+/include/python3\.\d+")
_NUMPY_HEADERS = re.compile(r"/opt/python/cp3\d+-cp3\d+/lib/python3\.\d+/site-packages/numpy/_core/include")


def patched(text: str, python_headers: str, numpy_headers: str) -> str:
    """Return `text` with the build machine's header folders replaced."""
    text = _NUMPY_HEADERS.sub(lambda _: numpy_headers, text)
    return _PYTHON_HEADERS.sub(lambda _: python_headers, text)


def patch_folder(folder: Path, python_headers: str, numpy_headers: str) -> int:
    """Patch every `*.cmake` file below `folder` in place and return how many changed."""
    changed = 0
    for file in sorted(folder.rglob("*.cmake")):
        text = file.read_text(encoding="utf-8")
        new_text = patched(text, python_headers, numpy_headers)
        if new_text != text:
            file.write_text(new_text, encoding="utf-8")
            changed += 1
    return changed


def main() -> int:
    """Patch the environment that runs this and print how many files changed."""
    folder = Path(sys.prefix) / "share"
    changed = patch_folder(folder, sysconfig.get_path("include"), np.get_include())
    print(f"patched {changed} CMake files below {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
