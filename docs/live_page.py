"""Takes docs/images/live_page*.png of the real page of a running stack: `python docs/live_page.py ADDRESS [planner]`.

    ros2 launch kc_vla maniskill.launch.py task:=counting seed:=3 viewer_control:=true
    python docs/live_page.py 'http://localhost:8767/#token=...'

It waits until all keyframes are kept, and presses nothing. With `planner` it waits until a thing is in the hand, of

    ros2 launch kc_vla maniskill.launch.py task:=kitchen seed:=1 planner:=true instruction:="put the milk onto the tray"

Needs Chromium.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Browser

HERE = Path(__file__).resolve().parent
IMAGES = HERE / "images"
sys.path.insert(0, str(HERE.parent / "tests" / "support"))

from browser import LAPTOP, PHONE, browser  # noqa: E402

_PATIENCE_MS = 600_000


def take(chrome: Browser, address: str) -> None:
    """Look at the page as on a laptop and as on a telephone."""
    laptop = chrome.new_page(viewport=LAPTOP)
    phone = chrome.new_page(viewport=PHONE, device_scale_factor=2)
    for page in (laptop, phone):
        page.goto(address)
    for page, name, kept in ((phone, "live_page_phone.png", 4), (laptop, "live_page.png", 5)):
        page.locator("#strip li.committed img").nth(kept - 1).wait_for(timeout=_PATIENCE_MS)
        page.screenshot(path=str(IMAGES / name), full_page=True)
        print(IMAGES / name)


def take_planner(chrome: Browser, address: str) -> None:
    """Look at the page of a planner as on a laptop, while a thing is in the hand."""
    page = chrome.new_page(viewport=LAPTOP)
    page.goto(address)
    page.locator("#hand", has_text="in the hand").wait_for(timeout=_PATIENCE_MS)
    page.wait_for_timeout(3000)
    path = IMAGES / "live_page_planner.png"
    page.screenshot(path=str(path), full_page=True)
    print(path)


if __name__ == "__main__":
    with browser() as found:
        (take_planner if "planner" in sys.argv[2:] else take)(found, sys.argv[1])
