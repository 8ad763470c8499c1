"""Crops of what was seen: cut out of images, kept within bounds, found again after a kill."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import at_night, tried

from kc_vla.media.images import file_pixels
from kc_vla.memory.images.crop import CropError, PixelBox, Pixels
from kc_vla.memory.images.files import MARKER, read_crop
from kc_vla.memory.images.store import CropLimits, CropStore
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import Position, Unit

CROP = "a-0123456789abcdef01234567-1.jpg"
ALL = PixelBox(0, 0, 40, 30)
AT_ONCE = CropLimits(every_s=0.0)
IDS = (
    "Tomato|-00.39|+01.14|-00.81",
    "../../etc/passwd",
    "tasse-ä-☕",
    "x" * 200,
    "x" * 199 + "y",
    "\ud800",
    "a/b",
    "a_b",
)


def image(red: int = 200, height: int = 30, width: int = 40) -> Pixels:
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 0] = red
    return pixels


def red_of(data: bytes) -> float:
    return float(file_pixels(data)[..., 0].mean())


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name != MARKER)


@pytest.fixture(params=["folder", "memory"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "crops" if request.param == "folder" else None


def test_every_object_has_a_crop_of_its_own_whatever_its_id_is(where: Path | None) -> None:
    store = CropStore(where)
    references = {each: store.put(each, image(20 * at), ALL, 1.0) for at, each in enumerate(IDS)}
    assert len(set(references.values())) == len(store) == len(IDS)
    for at, each in enumerate(IDS):
        assert red_of(store.read(references[each])) == pytest.approx(20 * at, abs=3)
        assert store.reference(each) == references[each]
    if where is not None:
        assert {path.parent for path in files(where)} == {where}
        assert len(files(where)) == len(IDS)
        assert {Path(each) for each in references.values()} == set(files(where))
        assert file_pixels(Path(references["a/b"]).read_bytes()).shape == (30, 40, 3)


def test_a_new_crop_takes_the_place_of_the_one_before_and_an_older_image_does_not(where: Path | None) -> None:
    store = CropStore(where)
    first = store.put("Mug_1", image(50), ALL, 10.0)
    assert store.put("Mug_1", image(90), ALL, 9.0) == first
    assert store.put("Mug_1", image(90), ALL, 10.5) == first  # it stays in view
    second = store.put("Mug_1", image(90), ALL, 11.0)
    assert second != first
    assert red_of(store.read(second)) == pytest.approx(90, abs=3)
    assert store.stamp("Mug_1") == 11.0
    with pytest.raises(CropError, match="is gone"):
        store.read(first)
    assert where is None or len(files(where)) == 1


def test_crops_are_small_and_keep_their_shape(where: Path | None) -> None:
    store = CropStore(where)
    noise = np.random.default_rng(0).integers(0, 256, (480, 640, 3), np.uint8)
    data = store.read(store.put("Sofa_1", noise, PixelBox(0, 0, 640, 480), 1.0))
    assert file_pixels(data).shape == (96, 128, 3)
    assert store.size == len(data) < 30_000


def test_a_detector_can_give_the_crop_itself() -> None:
    store = CropStore()
    data = cv2.imencode(".png", image(120, 300, 600)[:, :, ::-1])[1].tobytes()
    stored = store.read(store.put_file("Mug_1", data, 1.0))
    assert file_pixels(stored).shape == (64, 128, 3)
    assert red_of(stored) == pytest.approx(120, abs=3)
    for wrong, why in ((b"GIF89a", "damaged"), (data[:50], "damaged"), (b"\xff\xd8\xff" + bytes(2 << 20), "can give")):
        with pytest.raises(CropError, match=why):
            store.put_file("Mug_2", wrong, 1.0)
    assert len(store) == 1


@pytest.mark.parametrize("stamp", [float("nan"), float("inf"), 1e300])
def test_what_has_no_time_is_not_kept(where: Path | None, stamp: float) -> None:
    store = CropStore(where)
    with pytest.raises(CropError, match="which is no time"):
        store.put("Mug_1", image(), ALL, stamp)
    assert len(store) == 0


def test_what_was_taken_first_goes_when_count_or_bytes_are_at_their_limit(where: Path | None) -> None:
    store = CropStore(where, CropLimits(most=3, every_s=0.0))
    references = [store.put(f"Mug_{each}", image(), ALL, float(each)) for each in range(3)]
    store.put("Mug_0", image(), ALL, 10.0)  # it was seen again: Mug_1 is the oldest now
    store.put("Mug_9", image(), ALL, 11.0)
    assert [bool(store.reference(f"Mug_{each}")) for each in (0, 1, 2, 9)] == [True, False, True, True]
    with pytest.raises(CropError, match="is gone"):
        store.read(references[1])
    noise = np.random.default_rng(0).integers(0, 256, (128, 128, 3), np.uint8)
    full = CropStore(None, CropLimits(most_bytes=1 << 16, every_s=0.0))
    for each in range(40):
        full.put(f"Mug_{each}", noise, PixelBox(0, 0, 128, 128), float(each))
    assert 0 < full.size <= 1 << 16
    assert full.reference("Mug_39")
    assert not full.reference("Mug_0")


def test_the_crop_of_a_unit_that_leaves_the_memory_is_removed(where: Path | None) -> None:
    memory, store = ShortTermMemory(5, policy="fifo"), CropStore(where)
    store.follow(memory)
    for each in range(8):
        reference = store.put(f"mug-{each}", image(), ALL, float(each))
        memory.observe(Unit("Mug", f"mug-{each}", Position(0, 0, 0), float(each), image=reference))
    assert len(store) == len(memory) == 5
    for unit in memory:
        assert store.read(unit.image)
    memory.refute("mug-7")
    assert len(store) == 4
    memory.refresh()
    assert len(store) == 0
    assert where is None or files(where) == []


def test_only_what_is_asked_for_is_retained(where: Path | None) -> None:
    store = CropStore(where)
    for each in "abc":
        store.put(each, image(), ALL, 1.0)
    store.retain({"b", "z"})
    assert [bool(store.reference(each)) for each in "abc"] == [False, True, False]


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        ({"longest": 4}, "8 to 512"),
        ({"most": 0}, "give 1 crop and 65536"),
        ({"most_bytes": 10}, "65536 bytes or more"),
        ({"margin": -0.1}, "margin"),
        ({"every_s": float("nan")}, "0 s or more"),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, float], told: str) -> None:
    with pytest.raises(CropError, match=told):
        CropLimits(**limits)  # type: ignore[arg-type]


def test_a_folder_with_other_files_is_refused_and_not_touched(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"mine")
    (tmp_path / f".{CROP}.part").write_bytes(b"mine, too")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(CropError, match="holds files that are no crops"):
        CropStore(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_comes_into_the_folder_later_is_left_alone(tmp_path: Path) -> None:
    folder, outside = tmp_path / "crops", tmp_path / "outside"
    outside.write_bytes(b"mine")
    store = CropStore(folder, AT_ONCE)
    reference = store.put("Mug_1", image(), ALL, 1.0)
    (folder / "notes.txt").write_text("mine")
    (folder / "sub").mkdir()
    Path(reference.replace("-1000000000.", "-2000000000.")).symlink_to(outside)
    store.put("Mug_1", image(), ALL, 2.0)
    store.clear()
    store.close()
    again = CropStore(folder)
    assert len(again) == 0
    assert {path.name for path in files(folder)} == {"notes.txt", "sub"}
    assert outside.read_bytes() == b"mine"


def test_a_folder_is_for_one_process_at_a_time(tmp_path: Path) -> None:
    store = CropStore(tmp_path)
    with pytest.raises(CropError, match="another process keeps its crops"):
        CropStore(tmp_path)
    store.put("Mug_1", image(), ALL, 1.0)
    store.close()
    assert len(CropStore(tmp_path)) == 1


def test_a_disk_that_takes_nothing_is_reported_and_the_crop_before_stays(tmp_path: Path) -> None:
    store = CropStore(tmp_path / "crops", AT_ONCE)
    reference = store.put("Mug_1", image(), ALL, 1.0)
    (tmp_path / "crops").rename(tmp_path / "elsewhere")
    with pytest.raises(CropError, match="cannot be written: No such file or directory") as caught:
        store.put("Mug_1", image(), ALL, 2.0)
    assert "\n" not in str(caught.value)
    (tmp_path / "elsewhere").rename(tmp_path / "crops")
    assert store.reference("Mug_1") == reference
    assert store.read(reference)


@pytest.mark.parametrize("reference", ["", "/etc/passwd", "../secret", f"x/{MARKER}", CROP])
def test_only_whole_crops_are_read(tmp_path: Path, reference: str) -> None:
    CropStore(tmp_path).close()
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / CROP).symlink_to(tmp_path / "secret")
    with pytest.raises(CropError, match=r"names no crop|cannot be read"):
        read_crop(tmp_path, reference)


@pytest.mark.parametrize("content", [b"", b"\xff\xd8\xff", b"\xff\xd8\xff" + bytes(2 << 20) + b"\xff\xd9"])
def test_a_crop_that_a_loss_of_power_cut_off_is_reported(tmp_path: Path, content: bytes) -> None:
    store = CropStore(tmp_path)
    reference = store.put("Mug_1", image(), ALL, 1.0)
    Path(reference).write_bytes(content)
    with pytest.raises(CropError, match="is damaged"):
        store.read(reference)


def test_no_path_object_is_made_for_each_crop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.12.0 to 3.12.5 never frees the names that `pathlib` has interned."""
    interned: list[str] = []
    store = CropStore(tmp_path / "crops", AT_ONCE)
    monkeypatch.setattr(sys, "intern", lambda text: interned.append(text) or text)
    for at in range(20):
        store.read(store.put(f"Mug_{at % 5}", image(), ALL, float(at)))
    store.clear()
    assert interned == []


WRITER = """
import sys, numpy as np
from pathlib import Path
from kc_vla.memory.images.crop import PixelBox
from kc_vla.memory.images.store import CropLimits, CropStore
store = CropStore(Path(sys.argv[1]), CropLimits(every_s=0.0))
noise = np.random.default_rng(0).integers(0, 256, (128, 128, 3), np.uint8)
print("writes", flush=True)
for at in range(1_000_000):
    store.put(f"Mug_{at % 7}", noise, PixelBox(0, 0, 128, 128), float(at))
"""


def test_a_killed_process_leaves_whole_crops_and_no_halves(tmp_path: Path) -> None:
    folder = tmp_path / "crops"
    for after in (0.05, 0.08, 0.11):
        process = subprocess.Popen([sys.executable, "-c", WRITER, folder], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "writes\n"
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        process.wait()
        (folder / f".{CROP}.part").write_bytes(b"half")
        store = CropStore(folder)
        assert 1 <= len(store) <= 7
        assert len(files(folder)) == len(store)
        for path in files(folder):
            assert file_pixels(store.read(str(path))).shape == (128, 128, 3)
        store.close()


Action = tuple[str, int, int, int]
ACTIONS: st.SearchStrategy[list[Action]] = st.lists(
    st.tuples(st.sampled_from(["put", "forget", "reopen"]), st.integers(0, 5), st.integers(0, 30), st.integers(0, 255)),
    max_size=30,
)


@given(actions=ACTIONS)
@tried(40, 500)
def test_a_folder_always_holds_what_the_store_says(
    tmp_path_factory: pytest.TempPathFactory, actions: list[Action]
) -> None:
    folder, limits = tmp_path_factory.mktemp("crops") / "crops", CropLimits(most=4, every_s=0.0)
    store, newest = CropStore(folder, limits), dict[str, tuple[float, int]]()
    for what, number, stamp, red in actions:
        name = f"Mug_{number}"
        if what == "put":
            store.put(name, image(red), ALL, float(stamp))
            if name not in newest or stamp >= newest[name][0]:
                newest[name] = stamp, red
        elif what == "forget":
            store.forget(name)
            newest.pop(name, None)
        else:
            store.close()
            store = CropStore(folder, limits)
        newest = {each: known for each, known in newest.items() if store.reference(each)}
        assert len(store) == len(newest) <= 4
        assert {path.name for path in files(folder)} == {Path(store.reference(each)).name for each in newest}
        assert store.size == sum(path.stat().st_size for path in files(folder))
        for each, (seen, shown) in newest.items():
            assert store.stamp(each) == seen
            assert red_of(store.read(store.reference(each))) == pytest.approx(shown, abs=3)
    store.close()


@pytest.mark.parametrize(
    ("kept", "count"),
    [("memory", 20_000), ("folder", 5_000), *at_night(("memory", 100_000), ("folder", 100_000))],
)
def test_however_many_crops_there_were_they_cost_what_the_limits_say(tmp_path: Path, kept: str, count: int) -> None:
    folder = tmp_path / "crops" if kept == "folder" else None
    memory, store = ShortTermMemory(100), CropStore(folder, CropLimits(most=150, most_bytes=1 << 18, every_s=0.0))
    store.follow(memory)
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    grown, before, largest = 0, 0, 0
    for at in range(count):
        name = f"Mug_{at % 1000}" if at % 3 else f"Mug_{at % 20}"
        box = PixelBox(at % 40, at % 40, at % 40 + 16, at % 40 + 16)
        reference = store.put(name, noise, box, float(at))
        memory.observe(Unit("Mug", name, Position(0, 0, 0), float(at), image=reference))
        if (at + 1) % (count // 20) == 0:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            grown, before = grown + (peak - before if at > count // 4 else 0), peak
            largest = max(largest, store.size)
            assert folder is None or sum(path.stat().st_size for path in files(folder)) == store.size
    assert 50 <= len(store) <= 100
    assert largest <= 1 << 18
    assert grown < 4 << 10  # KB
    assert {store.reference(unit.object_id) for unit in memory} - {""} == {
        unit.image for unit in memory if store.reference(unit.object_id)
    }
    if folder is not None:
        assert len(os.listdir(folder)) == len(store) + 1
