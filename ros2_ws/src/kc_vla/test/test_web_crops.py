"""Crops on pages: which units are shown, and that nothing but crops is served."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from kc_vla.memory.images.crop import PixelBox
from kc_vla.memory.images.files import MARKER, read_crop
from kc_vla.memory.images.store import CropStore
from kc_vla.ros.convert import time_message
from kc_vla.web.crops import MOST_SHOWN, add_crops, crops_part
from kc_vla_msgs.msg import MemoryUnit, MemoryUnits

BOX = PixelBox(0, 0, 40, 30)


def image(red: int = 200) -> np.ndarray:
    return np.full((30, 40, 3), (red, 0, 0), np.uint8)


def unit(name: str, at_s: int, image: str) -> MemoryUnit:
    message = MemoryUnit(object_id=name, object_type="Mug", state="dirty", image=image)
    message.header.stamp.sec = at_s
    return message


def held_at(stamp_s: float, units: list[MemoryUnit]) -> MemoryUnits:
    message = MemoryUnits(units=units)
    message.header.stamp = time_message(round(stamp_s * 1e9))
    return message


def page(folder: Path | None) -> TestClient:
    app = FastAPI()
    add_crops(app, None if folder is None else partial(read_crop, folder))
    return TestClient(app)


def test_units_with_an_image_are_shown_newest_first_with_their_age() -> None:
    seen = [unit("mug-1", 10, "/a/b/one.jpg"), unit("mug-2", 30, "two.jpg"), unit("mug-3", 20, "")]
    part = crops_part(held_at(40.5, seen), at_s=7.0)
    assert part["at"] == 7.0
    first = {"id": "mug-2", "type": "Mug", "state": "dirty", "source": "", "age": 10.5, "image": "two.jpg"}
    assert part["units"][0] == first
    assert [each["image"] for each in part["units"]] == ["two.jpg", "one.jpg"]
    many = [unit(f"mug-{at}" + "x" * 5000, at, "i" * 5000) for at in range(500)]
    part = crops_part(held_at(1.0, many), 0.0)
    assert len(part["units"]) == MOST_SHOWN
    assert part["units"][0]["age"] == 0.0
    assert len(json.dumps(part)) < 40_000


def test_a_crop_is_served_as_it_is_kept_and_for_good(tmp_path: Path) -> None:
    store = CropStore(tmp_path)
    reference = store.put("Mug_1", image(), BOX, 1.0)
    answer = page(tmp_path).get(f"/api/crop/{Path(reference).name}")
    assert answer.status_code == 200
    assert answer.content == store.read(reference)
    assert answer.headers["content-type"] == "image/jpeg"
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize(
    "name", ["a.jpg", MARKER, "..%2Fsecret", "%2Fetc%2Fpasswd", "a-0123456789abcdef01234567-1.jpg", "x" * 5000]
)
def test_nothing_but_crops_is_served(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "crops"
    CropStore(folder).close()
    (tmp_path / "secret").write_bytes(b"secret")
    (folder / "a.jpg").write_bytes(b"\xff\xd8\xff\xd9")
    answer = page(folder).get(f"/api/crop/{name}")
    assert answer.status_code == 404
    assert b"secret" not in answer.content


def test_a_page_without_a_folder_serves_no_crop_and_the_script_takes_nothing_for_markup() -> None:
    assert page(None).get("/api/crop/a-0123456789abcdef01234567-1.jpg").status_code == 404
    script = page(None).get("/crops.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "innerHTML" not in script.text
