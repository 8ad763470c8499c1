"""People annotate on the real page in a real browser; what they did is there again whatever happens in between."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import LAPTOP, chromium, enter
from episode_bag import ORACLE, Script, write_episode
from page_server import PageServer
from playwright.sync_api import Browser, Dialog, Page
from robot_bags import picture, write_panda_bag

from kc_vla.episodes.annotation_log import CONFIRMED, OPEN, AnnotationLog, Track

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    runs = tmp_path_factory.mktemp("recorded")
    for seed in (1, 2, 3):
        write_episode(runs / f"counting-{seed}" / "bag", Script(size=64, steps=80))
    return runs


@pytest.fixture
def bags(recorded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(recorded, tmp_path / "runs")


@pytest.fixture
def server(bags: Path, tmp_path: Path) -> Iterator[PageServer]:
    with PageServer(bags, tmp_path / "cache") as found:
        yield found


@pytest.fixture
def page(chrome: Browser, server: PageServer) -> Iterator[Page]:
    context = chrome.new_context(viewport=LAPTOP)
    found = context.new_page()
    errors: list[str] = []
    found.on("pageerror", lambda error: errors.append(str(error)))
    enter(found, server.address, "anna")
    yield found
    context.close()
    assert errors == []


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def at_frame(page: Page, frame: int) -> None:
    page.wait_for_function(f"document.querySelector('#where').textContent.startsWith('frame {frame} of')")


def saved(page: Page, revision: int) -> None:
    page.wait_for_function(f"document.querySelector('#saved').textContent === 'saved, revision {revision}'")


def said(page: Page, words: str) -> None:
    page.wait_for_function(f"document.querySelector('#said').textContent.includes({words!r})")


def proposals(page: Page) -> None:
    page.wait_for_function("document.querySelector('#episodes li[aria-current] .state').textContent !== 'untouched'")
    page.wait_for_function("document.querySelector('#timeline').ariaLabel.includes('proposals: ')")


def frames(bags: Path, seed: int, author: str = "anna") -> list[int]:
    return [mark.frame for mark in track(bags, seed, author).marks]


def track(bags: Path, seed: int, author: str = "anna") -> Track:
    return AnnotationLog(bags / f"counting-{seed}" / "bag").tracks()[author]


def x_of(page: Page, frame: int) -> float:
    """Where a frame is on the timeline; as the page computes it for the whole episode."""
    box = page.locator("#timeline").bounding_box()
    assert box
    return box["x"] + 152 + frame / 80 * (box["width"] - 160)


def lane(page: Page) -> float:
    box = page.locator("#timeline").bounding_box()
    assert box
    return box["y"] + 24


def test_keys_alone_annotate_an_episode(page: Page, bags: Path) -> None:
    press(page, *["ArrowRight"] * 7)
    at_frame(page, 7)
    press(page, "Shift+ArrowRight", "ArrowLeft")
    at_frame(page, 16)
    press(page, "k")
    saved(page, 1)
    press(page, "ArrowRight", "m")
    saved(page, 2)
    assert frames(bags, 1) == [0, 17]
    press(page, "3")
    saved(page, 3)
    assert [mark.phase for mark in track(bags, 1).marks] == [0, 3]
    press(page, "z")
    saved(page, 4)
    press(page, "y", "x")
    saved(page, 6)
    assert frames(bags, 1) == [0]


def test_proposals_are_taken_over_and_confirmed(page: Page, bags: Path) -> None:
    proposals(page)
    press(page, "n")
    at_frame(page, ORACLE[1])
    press(page, "t")
    saved(page, 1)
    press(page, "c")
    page.wait_for_function("document.querySelector('#name').textContent === 'counting-2'")
    assert frames(bags, 1) == list(ORACLE)
    assert track(bags, 1).state == CONFIRMED
    assert {mark.source for mark in track(bags, 1).marks} == {"committed"}
    assert page.inner_text("#progress") == "1 of 3 confirmed"


@pytest.mark.nightly
def test_a_start_that_was_proposed_late_is_frame_0(chrome: Browser, tmp_path: Path) -> None:
    bags = tmp_path / "runs"
    write_episode(bags / "counting-1" / "bag", Script(size=64, steps=80, oracle=(1, *ORACLE[1:])))
    with PageServer(bags, tmp_path / "cache") as server:
        page = chrome.new_page(viewport=LAPTOP)
        enter(page, server.address, "anna")
        proposals(page)
        press(page, "t")
        saved(page, 1)
        page.close()
    assert [(mark.phase, mark.frame) for mark in track(bags, 1).marks] == list(enumerate(ORACLE))


@pytest.mark.nightly
def test_the_rules_are_asked_by_a_key_and_say_what_they_lack(page: Page) -> None:
    press(page, "q")
    said(page, "rules: the recording has no tool pose and no gripper, which the rules look at")


@pytest.mark.nightly
def test_keys_wait_until_the_next_episode_is_there(page: Page, bags: Path) -> None:
    proposals(page)
    press(page, "t")
    saved(page, 1)
    page.route("**/api/**counting-2**", lambda route: (time.sleep(1.0), route.continue_()))
    press(page, "c", "k", "t")
    page.wait_for_function("document.querySelector('#name').textContent === 'counting-2'")
    assert page.locator("#said").text_content() == ""
    assert frames(bags, 1) == list(ORACLE)
    assert (track(bags, 1).state, track(bags, 1).revision) == (CONFIRMED, 2)
    press(page, "k")
    saved(page, 1)


@pytest.mark.nightly
def test_the_next_episode_may_be_shorter_than_where_one_was_in_this(
    chrome: Browser, bags: Path, tmp_path: Path
) -> None:
    shutil.rmtree(bags / "counting-1")
    write_episode(bags / "counting-1" / "bag", Script(size=64, steps=120))
    with PageServer(bags, tmp_path / "cache") as server:
        page = chrome.new_page(viewport=LAPTOP)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        enter(page, server.address, "anna")
        proposals(page)
        press(page, "t", "End")
        at_frame(page, 120)
        press(page, "c")
        page.wait_for_function("document.querySelector('#name').textContent === 'counting-2'")
        at_frame(page, 0)
        assert page.inner_text("#confirm") == "confirm"
        page.close()
    assert errors == []


@pytest.mark.nightly
def test_a_mark_is_dragged_and_undone(page: Page, bags: Path) -> None:
    proposals(page)
    press(page, "t")
    saved(page, 1)
    page.wait_for_timeout(100)
    page.mouse.move(x_of(page, ORACLE[2]), lane(page))
    page.mouse.down()
    page.mouse.move(x_of(page, 26), lane(page), steps=5)
    at_frame(page, 26)
    page.mouse.up()
    saved(page, 2)
    assert frames(bags, 1) == [0, 12, 26, 32, 40]
    press(page, "z")
    saved(page, 3)
    assert frames(bags, 1) == list(ORACLE)


@pytest.mark.nightly
def test_what_was_marked_is_there_after_a_reload(page: Page, server: PageServer) -> None:
    press(page, "ArrowRight", "ArrowRight", "k")
    saved(page, 1)
    page.reload()
    page.wait_for_function("document.querySelectorAll('#strip li').length === 2")
    assert page.inner_text("#episodes li[aria-current] .state") == "begun"


def test_a_server_killed_in_the_middle_loses_nothing(
    page: Page, server: PageServer, bags: Path, tmp_path: Path
) -> None:
    press(page, "ArrowRight", "k")
    saved(page, 1)
    press(page, *["ArrowRight"] * 4)
    at_frame(page, 5)
    server.kill()
    press(page, "k")
    page.wait_for_function("document.querySelector('#saved').textContent.startsWith('NOT SAVED')")
    assert frames(bags, 1) == [0, 1]
    with PageServer(bags, tmp_path / "cache", port=server.port):
        saved(page, 2)
        assert frames(bags, 1) == [0, 1, 5]


@pytest.mark.nightly
def test_a_page_closed_while_the_server_was_dead_has_not_forgotten(
    page: Page, server: PageServer, bags: Path, tmp_path: Path
) -> None:
    at_frame(page, 0)
    press(page, "ArrowRight")
    at_frame(page, 1)
    server.kill()
    press(page, "k")
    page.wait_for_function("document.querySelector('#saved').textContent.startsWith('NOT SAVED')")
    page.on("dialog", Dialog.accept)
    with PageServer(bags, tmp_path / "cache", port=server.port):
        page.reload()
        saved(page, 1)
        assert frames(bags, 1) == [0, 1]


@pytest.mark.nightly
def test_nobody_marks_a_picture_that_cannot_be_seen(page: Page, server: PageServer, bags: Path, tmp_path: Path) -> None:
    press(page, "ArrowRight", "k")
    saved(page, 1)
    server.kill()
    press(page, "End")
    said(page, "frame 80 cannot be shown")
    press(page, "k")
    said(page, "frame 1 is a keyframe already")


@pytest.mark.nightly
def test_undoing_an_edit_of_a_confirmed_annotation_confirms_it_again(page: Page, bags: Path) -> None:
    proposals(page)
    press(page, "t", "c")
    page.wait_for_function("document.querySelector('#name').textContent === 'counting-2'")
    press(page, "E")
    page.wait_for_function("document.querySelector('#name').textContent === 'counting-1'")
    at_frame(page, 0)
    press(page, "ArrowRight", "k")
    said(page, "no longer confirmed")
    saved(page, 3)
    assert track(bags, 1).state == OPEN
    press(page, "z")
    saved(page, 4)
    assert track(bags, 1).state == CONFIRMED


@pytest.mark.nightly
def test_two_windows_of_one_person_do_not_overwrite_each_other(page: Page, bags: Path) -> None:
    second = page.context.new_page()
    second.goto(page.url)
    at_frame(second, 0)
    press(page, "ArrowRight", "k")
    saved(page, 1)
    press(second, "ArrowRight", "ArrowRight", "k")
    second.wait_for_selector("#conflict[open]")
    second.click("text=keep what is here")
    saved(second, 2)
    assert [[mark.frame for mark in row.marks] for row in AnnotationLog(bags / "counting-1" / "bag").history()] == [
        [0, 1],
        [0, 2],
    ]
    press(page, "ArrowRight", "ArrowRight", "k")
    page.wait_for_selector("#conflict[open]")
    page.click("text=take what is stored")
    page.wait_for_function("document.querySelectorAll('#strip li').length === 2")
    assert frames(bags, 1) == [0, 2]


@pytest.mark.nightly
def test_two_people_annotate_the_same_episode_and_are_compared(
    chrome: Browser, page: Page, server: PageServer, bags: Path
) -> None:
    press(page, "ArrowRight", "k")
    saved(page, 1)
    other = chrome.new_context(viewport=LAPTOP)
    bert = other.new_page()
    enter(bert, server.address, "bert")
    press(bert, *["ArrowRight"] * 4, "k")
    saved(bert, 1)
    assert (frames(bags, 1), frames(bags, 1, "bert")) == ([0, 1], [0, 4])
    press(bert, "i")
    bert.wait_for_selector("#more[open]")
    assert "anna and bert\t100 %" in bert.inner_text("#agreement")
    bert.fill("#within", "2")
    bert.press("#within", "Tab")
    bert.wait_for_function("document.querySelector('#agreement').innerText.includes('0 %')")
    other.close()


@pytest.mark.nightly
def test_what_is_not_possible_is_said(page: Page, bags: Path) -> None:
    press(page, "x")
    said(page, "frame 0 is no keyframe")
    press(page, "c")
    said(page, "there are no keyframes to confirm")
    press(page, "ArrowRight", "k", "c")
    said(page, "missing: 2 flash 1 off")
    saved(page, 1)
    assert track(bags, 1).state == OPEN
    press(page, "c")
    page.wait_for_function("document.querySelector('#name').textContent === 'counting-2'")
    assert track(bags, 1).state == CONFIRMED


@pytest.mark.nightly
def test_the_keys_are_listed_and_the_list_is_filtered(page: Page) -> None:
    press(page, "?")
    page.wait_for_selector("#keys[open]")
    assert "confirm, and on to the next episode" in page.inner_text("#keylist")
    press(page, "Escape", "/")
    page.keyboard.type("-3")
    assert page.inner_text("#episodes .called") == "counting-3"


@pytest.mark.parametrize("views", [("front",), ("overhead", "wrist", "left")], ids=len)
def test_there_is_a_picture_for_each_view(chrome: Browser, tmp_path: Path, views: tuple[str, ...]) -> None:
    write_panda_bag(tmp_path / "runs", "mine", views=views)
    context = chrome.new_context(viewport=LAPTOP)
    with PageServer(tmp_path / "runs", tmp_path / "cache") as server:
        found = context.new_page()
        enter(found, server.address, "anna")
        assert found.locator(".views figcaption").all_inner_texts() == list(views)
        press(found, "ArrowRight", "k")
        at_frame(found, 1)
        corners = "canvas => canvas.map(each => each.getContext('2d').getImageData(2, 2, 1, 1).data[0])"
        shades = found.locator(".views canvas").evaluate_all(corners)
        assert shades == pytest.approx([int(picture(1, view=view)[2, 2, 0]) for view in views], abs=4)
        strip = found.locator("#strip img").first.get_attribute("src")
        assert f"/frames/{views[0]}/0.jpg" in (strip or "")
        boxes = [each.bounding_box() for each in found.locator(".views figure").all()]
        assert all(box and box["width"] > 100 and box["x"] + box["width"] <= LAPTOP["width"] for box in boxes)
    context.close()


@pytest.mark.nightly
def test_nothing_is_cut_off_at_laptop_width(page: Page) -> None:
    for wanted in ("#timeline", "#confirm", "#strip", "#view-third_person", "#view-wrist", "#author"):
        box = page.locator(wanted).bounding_box()
        assert box, wanted
        assert box["x"] >= 0, wanted
        assert box["x"] + box["width"] <= LAPTOP["width"], wanted
        assert box["y"] + box["height"] <= LAPTOP["height"], wanted
