"""The page of a run opens from disk in a real browser, without a network, and shows films and pictures."""

from pathlib import Path

import pytest
from browser import LAPTOP, PHONE, chromium
from playwright.sync_api import Browser, Page
from run_folders import summary, write_episode, write_table

from kc_vla.reports.run.run_page import write_run_page

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium: apt-get install chromium")

HOSTILE = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose folder, tasks and episodes have names that an address or a page could take for something else."""
    folder = tmp_path_factory.mktemp("runs #1 & 100%")
    told = [summary(seed=seed) for seed in range(2)]
    told += [summary("spatial", seed=7, success=False, instruction=HOSTILE, reason=HOSTILE)]
    for each in told:
        write_episode(folder, each, films=True)
    return write_run_page(write_table(folder, told, planned=5))


def opened(chrome: Browser, run: Path, size: dict[str, int], scheme: str, asked: list[str], said: list[str]) -> Page:
    page = chrome.new_context(viewport=size, color_scheme=scheme).new_page()  # type: ignore[arg-type]
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text))
    page.goto(run.as_uri())
    return page


def until(page: Page, holds: str) -> None:
    """Wait; by hand, as the page's own rule refuses what `wait_for_function` would put into it."""
    for _ in range(300):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(100)
    pytest.fail(f"never so: {holds}")


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_the_page_opens_from_disk(chrome: Browser, run: Path, size: dict[str, int], scheme: str) -> None:
    asked: list[str] = []
    said: list[str] = []
    page = opened(chrome, run, size, scheme, asked, said)
    assert page.locator("article").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than the screen"
    page.locator("#e3").scroll_into_view_if_needed()
    until(page, "document.querySelector('#e3 img').naturalWidth === 300")
    until(page, "document.querySelector('#e3 video').poster.endsWith('/poster.jpg')")
    page.evaluate("document.querySelector('#e3 video').play()")
    until(page, "document.querySelector('#e3 video').currentTime > 0.1")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == {"dark": "rgb(16, 18, 22)", "light": "rgb(243, 244, 246)"}[scheme]
    assert [url for url in asked if not url.startswith(("file://", "data:"))] == []
    assert page.title() == "run-counting-0: 2 of 3"
    assert page.locator("#e3 .instruction").inner_text() == HOSTILE
    assert said == []
    page.context.close()


def test_those_that_did_not_succeed_are_shown_alone(chrome: Browser, run: Path) -> None:
    page = opened(chrome, run, LAPTOP, "dark", [], [])
    page.check("#troubled")
    assert page.locator("article:visible").count() == 1
    page.click("a.bad")
    assert page.url.endswith("#e3")
    page.context.close()


def test_a_script_that_is_not_the_pages_own_is_not_run(chrome: Browser, run: Path) -> None:
    """Were a text ever to get through, the page's own rule stops it."""
    page = opened(chrome, run, LAPTOP, "dark", [], [])
    page.evaluate("document.body.insertAdjacentHTML('beforeend', `<img src='data:,' onerror='document.title=1'>`)")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'document.title=2'}))")
    page.wait_for_timeout(200)
    assert page.title() == "run-counting-0: 2 of 3"
    page.context.close()
