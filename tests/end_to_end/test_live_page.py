"""The live page in a real browser, on a running stack: what a person sees, and what comes of the button."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from browser import LAPTOP, PHONE, chromium
from foxglove_client import client
from playwright.sync_api import Browser, Page, expect
from served_live import serving
from stack import Stack

from kc_vla.memory.images.crop import PixelBox
from kc_vla.memory.images.store import CropStore

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium: apt-get install chromium")
SOON_MS = 120_000
SOME = re.compile(r"^([3-9]|\d\d+)$")


@pytest.fixture(scope="module")
def chrome(chrome: Browser) -> Browser:
    expect.set_options(timeout=SOON_MS)
    return chrome


@pytest.fixture
def look(chrome: Browser) -> Iterator[Callable[[str], Page]]:
    """Opens an address; sees that no page has errors, nor asks another host for anything."""
    context = chrome.new_context(viewport=LAPTOP)
    troubles: list[str] = []

    def open_it(address: str) -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        own = address.split("#")[0].rstrip("/")
        page.on("request", lambda asked: None if asked.url.startswith((own, "data:")) else troubles.append(asked.url))
        page.goto(address)
        return page

    yield open_it
    context.close()
    assert troubles == []


def address(stack: Stack) -> str:
    return stack.wait_for(r"live page: open (http://localhost:\d+\S*)")[1]


def test_a_person_sees_the_stack_at_work_and_stops_the_arm(
    launch: Callable[..., Stack], look: Callable[[str], Page]
) -> None:
    stack = launch(viewer="true", viewer_port=0, viewer_control="true", episodes=100, report="none")
    where = address(stack)
    page = look(where)
    assert "token" not in page.url
    for view in ("third_person", "wrist"):
        expect(page.locator(f"canvas[aria-label='camera {view}']")).to_have_attribute("data-pictures", SOME)
    expect(page.locator("#instruction")).to_contain_text("signal light")
    expect(page.locator("#strip li.committed img").nth(1)).to_be_visible()
    expect(page.locator("body")).to_have_attribute("data-flashes", SOME)
    expect(page.locator("#score")).to_contain_text("threshold")
    expect(page.locator("#joints .value").first).to_have_text(re.compile(r"\d (mm|°)|\d°"))
    expect(page.locator("#nodes")).to_contain_text("keyframe_selector")
    expect(page.locator("#nodes dt", has_text="score").first).to_be_visible()
    expect(page.locator("#state")).to_have_text("succeeded")

    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for selector in ("#stop", "#views", "#strip", "#scores", "#actions", "#nodes"):
        expect(page.locator(selector)).to_be_visible()

    page.locator("#stop").click()
    expect(page.locator("#answer")).to_have_text("The arm's controller answered: stopped")
    expect(page.locator("#stopped")).to_be_visible()
    expect(page.locator("#arm")).to_contain_text("holds: emergency stop")

    stack.pause("arm_controller")
    page.locator("#stop").click()
    expect(page.locator("#answer")).to_contain_text("NO ANSWER")
    expect(page.locator("#answer")).to_contain_text("THE ARM MAY STILL MOVE")
    stack.resume("arm_controller")

    stack.press_ctrl_c()
    stack.finish()
    expect(page.locator("#state")).to_contain_text("not connected")
    page.locator("#stop").click()
    expect(page.locator("#answer")).to_contain_text("THE ARM MAY STILL MOVE")


@pytest.mark.nightly
def test_without_control_there_is_no_button_and_foxglove_sees_all_topics(
    launch: Callable[..., Stack], look: Callable[[str], Page]
) -> None:
    stack = launch(viewer="true", viewer_port=0, foxglove="true", foxglove_port=0, episodes=100, report="none")
    where = address(stack)
    assert "token" not in where
    page = look(f"{where}/#token=guessed")
    expect(page.locator("#strip li").first).to_be_visible()
    expect(page.locator("#stop")).to_be_hidden()
    with client(stack.wait_for(r"foxglove: open a connection to (ws://localhost:\d+)")[1]) as viewer:
        viewer.find(
            "/third_person/image_raw", "/keyframes/index", "/policy/chunk", "/joint_states", "/tf", "/diagnostics"
        )
        viewer.ask(1, "/third_person/image_raw")
        viewer.ask(2, "/keyframes/index")
        heard: set[int] = set()
        until = time.monotonic() + 60
        while heard != {1, 2} and time.monotonic() < until:
            heard |= {number for number, _ in viewer.hear()}
    assert heard == {1, 2}


def test_what_is_no_longer_true_or_that_nobody_knows_is_not_said(look: Callable[[str], Page]) -> None:
    result = {"id": "one", "success": False, "reason": "nobody judged it (Ctrl-C)", "completed": 0, "steps": 9}
    with serving(token="word") as live:
        live.board.begin("one")
        live.board.tell("episode", {"id": "one", "task": "mine", "state": "finished", "instruction": "do it"})
        live.board.tell("result", result | {"stages": [], "seconds": 0.4})
        page = look(f"http://localhost:{live.port}/#token=word")
        expect(page.locator("#state")).to_have_text("not judged")
        expect(page.locator("#result")).to_have_text("Not judged: nobody judged it (Ctrl-C) (9 steps, 0.4 s)")
        live.board.tell("result", result | {"stages": ["put away"], "reason": "dropped", "seconds": 0.4})
        expect(page.locator("#state")).to_have_text("failed")
        page.on("dialog", lambda dialog: dialog.accept())
        page.click("#stop")
        expect(page.locator("#answer")).to_contain_text("answered: stopped")
        live.board.tell("stopped", True)
        expect(page.locator("#stopped")).to_be_visible()
        expect(page.locator("#answer")).to_be_visible()
        live.board.tell("stopped", False)  # somebody has released it: the arm may move
        expect(page.locator("#stopped")).to_be_hidden()
        expect(page.locator("#answer")).to_be_hidden()


def test_what_was_seen_is_shown_with_its_crop_and_only_where_there_is_one(look: Callable[[str], Page]) -> None:
    store = CropStore()
    seen = np.full((30, 40, 3), (200, 30, 30), np.uint8)
    image = store.put("mug-1", seen, PixelBox(0, 0, 40, 30), 1.0)
    row = {"id": "mug-1", "type": "Mug", "state": "dirty", "source": "image: a-model", "age": 4.0, "image": image}
    with serving(crop=store.read) as live:
        page = look(f"http://localhost:{live.port}/")
        live.board.tell("episode", {"id": "one", "task": "mine", "state": "running", "instruction": "do it"})
        expect(page.locator("#instruction")).to_have_text("do it")
        expect(page.locator("#seen")).to_be_hidden()
        live.board.tell("crops", {"at": time.monotonic(), "units": [row]})
        expect(page.locator("#crops li")).to_contain_text(re.compile(r"Mugdirty \(image: a-model\)\d+ s ago"))
        expect(page.locator("#crops img")).to_have_js_property("naturalWidth", 40)
        live.board.tell("crops", {"at": time.monotonic(), "units": []})
        expect(page.locator("#seen")).to_be_hidden()
