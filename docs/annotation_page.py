"""Takes docs/images/annotation.png of the real page: `python docs/annotation_page.py FOLDER`, of recorded bags.

    ros2 launch kc_vla maniskill.launch.py task:=temporal seed:=30005 episodes:=3 output:=runs/shown report:=none
    python docs/annotation_page.py runs/shown

It annotates as `anna` and takes that back from the folder at the end. Needs Chromium.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "images" / "annotation.png"
sys.path.insert(0, str(HERE.parent / "tests" / "support"))

from browser import LAPTOP, browser, enter  # noqa: E402
from page_server import PageServer  # noqa: E402

_READY = "['rules', 'learned'].every((id) => document.getElementById(id).textContent === `propose: ${id}`)"


def main() -> None:
    """Open the last episode, take what the live selector committed, ask for all proposals, and look at keyframe 2."""
    folder = Path(sys.argv[1])
    before = set(folder.rglob("annotations.jsonl"))
    with tempfile.TemporaryDirectory() as cache, PageServer(folder, Path(cache)) as server, browser() as chrome:
        page = chrome.new_page(viewport=LAPTOP)
        enter(page, server.address, "anna")
        page.wait_for_timeout(2000)
        for key in ("t", "c"):
            page.keyboard.press(key)
            page.wait_for_timeout(2000)
        for key in ("q", "Q"):
            page.keyboard.press(key)
            page.wait_for_timeout(500)
        page.wait_for_function(_READY)
        for key in ("t", ".", "."):
            page.keyboard.press(key)
            page.wait_for_timeout(1000)
        page.screenshot(path=str(PICTURE))
    for path in set(folder.rglob("annotations.jsonl")) - before:
        path.unlink()
    print(PICTURE)


if __name__ == "__main__":
    main()
