"""The live map: what it shows, to whom, and who may control by it."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import browser, chromium
from fastapi.testclient import TestClient

from kc_vla.memory.images.crop import PixelBox
from kc_vla.memory.images.files import read_crop
from kc_vla.memory.images.store import CropStore
from kc_vla.planning.skills import Call
from kc_vla.web.serving import PageThread, listening
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.live.board import BELIEF, TRUTH, HomeBoard
from kc_vla_sim.household.live.server import create_app
from kc_vla_sim.household.overview import overview
from kc_vla_sim.household.scenes import build_home
from kc_vla_sim.household.simulator import Household

HERE = "http://127.0.0.1:8766"


def page(token: str = "") -> tuple[TestClient, HomeBoard, list[str]]:
    board, wanted = HomeBoard(), list[str]()
    return TestClient(create_app(board, token, wanted.append, lambda: wanted.append("stop")), HERE), board, wanted


def test_only_what_is_new_is_told_and_the_way_goes_through_doors() -> None:
    client, board, _ = page()
    assert client.get("/api/home").json()["steps"] == []
    home = Household(build_home(1))
    start = home.world.at
    board.tell(TRUTH, json.dumps(overview(home.world)))
    board.step(json.dumps({"kind": "begin", "text": "go", "now_s": 1.0}))
    first = client.get("/api/home").json()
    assert first["truth"]["robot"] == start
    assert first["steps"][0]["text"] == "go"
    far = max(home.world.plan.areas, key=lambda area: home.world.plan.distance(start, area))
    assert home.do(Call("GoToPlace", (far,))).done
    board.tell(TRUTH, json.dumps(overview(home.world)))
    asked = {"truth": first["numbers"]["truth"], "belief": 0, "since": first["last"]}
    second = client.get("/api/home", params=asked).json()
    assert second["way"] == home.world.plan.way(start, far)
    assert "belief" not in second
    assert second["steps"] == []
    assert "truth" not in client.get("/api/home", params={**asked, **second["numbers"]}).json()


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium: apt-get install chromium")
@pytest.mark.parametrize("token", ["", "secret"])
def test_who_may_not_control_is_shown_no_form(token: str) -> None:
    board = HomeBoard()
    board.tell(TRUTH, json.dumps(overview(Household(build_home(1)).world)))
    server = PageThread(create_app(board, token, list[str]().append, lambda: None), listening("127.0.0.1", 0, ""))
    try:
        with browser() as found:
            shown = found.new_page()
            shown.goto(f"http://localhost:{server.port}")
            shown.wait_for_function("document.querySelector('#numbers').textContent.includes('it knows')")
            assert shown.is_visible("#instruction") == bool(token)
            assert "Sofa" in shown.text_content("#map")
    finally:
        server.close()


def crop_row(name: str, image: str, state: str, source: str = "", age: float = 5.0) -> dict[str, Any]:
    return {"id": name, "type": name.split("_")[0], "state": state, "source": source, "age": age, "image": image}


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium: apt-get install chromium")
def test_crops_are_shown_with_name_state_and_age_where_there_are_any(tmp_path: Path) -> None:
    board, store = HomeBoard(), CropStore(tmp_path / "crops")
    board.tell(TRUTH, json.dumps(overview(Household(build_home(1)).world)))
    seen = np.full((30, 40, 3), (200, 30, 30), np.uint8)
    names = {each: Path(store.put(each, seen, PixelBox(0, 0, 40, 30), 1.0)).name for each in ("Mug_1", "Apple_1")}
    read = partial(read_crop, tmp_path / "crops")
    app = create_app(board, "", list[str]().append, lambda: None, read)
    server = PageThread(app, listening("127.0.0.1", 0, ""))
    try:
        with browser() as found:
            shown = found.new_page()
            shown.goto(f"http://localhost:{server.port}")
            shown.wait_for_function("document.querySelector('#numbers').textContent.includes('it knows')")
            assert not shown.is_visible("#seen")  # a home without cameras shows nothing
            rows = [
                crop_row("Mug_1", names["Mug_1"], "dirty", "image: a-model"),
                crop_row("Apple_1", names["Apple_1"], "<b>sliced</b>", age=200.0),
                crop_row("Plate_1", "gone-0123456789abcdef01234567-1.jpg", ""),
            ]
            board.show_crops({"at": time.monotonic(), "units": rows})
            shown.wait_for_function("document.querySelectorAll('#crops li:not([hidden])').length === 2")
            loaded = "[...document.querySelectorAll('#crops li:not([hidden]) img')].every((i) => i.naturalWidth === 40)"
            shown.wait_for_function(loaded)
            mug, apple = (shown.text_content(f"#crops li[title^='{each}']") for each in ("Mug_1", "Apple_1"))
            assert "Mugdirty (image: a-model)" in str(mug)
            assert " s ago" in str(mug)
            assert "Apple<b>sliced</b>3 min ago" in str(apple)
            board.show_crops({"at": time.monotonic(), "units": []})
            shown.wait_for_selector("#seen", state="hidden")
    finally:
        server.close()


@pytest.mark.parametrize(
    "text", ["", "[1]", "{", "nan", "[" * 100_000, '{"a":' * 3000 + "1" + "}" * 3000, "x" * 5_000_000]
)
def test_what_is_no_state_is_refused(text: str) -> None:
    with pytest.raises(HouseholdError):
        HomeBoard().tell(BELIEF, text)


def test_a_state_without_ways_is_shown_as_it_is() -> None:
    board = HomeBoard()
    for odd in ({"robot": "a"}, {"robot": "b", "areas": {"a": 3}}, {"robot": [], "areas": None}):
        board.tell(TRUTH, json.dumps(odd))
    assert board.shown()["way"] == ["b"]


def test_nobody_controls_without_the_token() -> None:
    client, _, wanted = page()
    assert client.post("/api/stop").status_code == 403  # none was set
    client, _, wanted = page("secret")
    refused: list[dict[str, str]] = [{}, {"X-Token": "guess"}, {"X-Token": "secret", "Origin": "http://evil.example"}]
    for headers in refused:
        assert client.post("/api/instruction", json={"instruction": "x"}, headers=headers).status_code == 403
        assert client.post("/api/stop", headers=headers).status_code == 403
    assert wanted == []
    own = {"X-Token": "secret", "Origin": HERE}
    assert client.post("/api/instruction", json={"instruction": "wash an apple"}, headers=own).status_code == 200
    assert client.post("/api/stop", headers=own).status_code == 200
    assert wanted == ["wash an apple", "stop"]


@pytest.mark.parametrize(
    "sent", [{}, {"instruction": 3}, {"instruction": ""}, {"instruction": "x" * 3000}, {"more": "x"}]
)
def test_what_is_no_instruction_is_refused_in_a_line(sent: dict[str, Any]) -> None:
    client, _, wanted = page("secret")
    answer = client.post("/api/instruction", json=sent, headers={"X-Token": "secret"})
    assert answer.status_code in (400, 422)
    assert "\n" not in answer.json()["error"]
    assert client.post("/api/instruction", content=b"x" * 2_000_000, headers={"X-Token": "secret"}).status_code == 413
    assert wanted == []


def test_a_page_of_another_name_is_not_served() -> None:
    client, _, _ = page()
    assert client.get("/api/home", headers={"Host": "evil.example"}).status_code == 400
    assert client.get("/").status_code == 200
    assert "innerHTML" not in client.get("/main.js").text + client.get("/map.js").text  # what is told is no markup
