"""The stack's pages in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

LAPTOP = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}


def chromium() -> str | None:
    """The browser, if there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            yield found
        finally:
            found.close()


def enter(page: Page, address: str, author: str) -> None:
    """Open the page as a person who comes for the first time."""
    page.goto(address)
    page.fill("#whoname", author)
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('#where').textContent.startsWith('frame 0 of')")
