"""The pages of the site that are made from the code: a name in them that is gone ends the build."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_reference_is_made_of_what_is_there(tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "docs/site/reference.py", tmp_path], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    pages = {page.stem for page in tmp_path.glob("*.md")}
    assert {"launch_arguments", "parameters", "topics", "interfaces", "command_line", "file_formats"} <= pages
