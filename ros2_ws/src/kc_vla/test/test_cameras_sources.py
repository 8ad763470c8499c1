import os
import pty
from pathlib import Path

import cv2
import numpy as np
import pytest
from camera_files import TURNS, corner, shown, write_pictures, write_turned_video, write_video

from kc_vla.cameras.errors import (
    SourceBusyError,
    SourceEmptyError,
    SourceLostError,
    SourceMissingError,
    SourceUndecodableError,
)
from kc_vla.cameras.sources import FrameSource, SourceSpec, open_source


def read_all(source: FrameSource, limit: int = 100) -> list[np.ndarray]:
    frames = []
    while len(frames) < limit and (frame := source.read()) is not None:
        frames.append(frame.pixels)
    source.close()
    return frames


def test_a_video_gives_its_frames_in_order_and_ends(tmp_path: Path) -> None:
    source = open_source(SourceSpec(str(write_video(tmp_path / "v.mp4", [20, 90, 200]))))
    assert source.fps == pytest.approx(10)
    frames = read_all(source)
    assert [round(float(frame.mean())) for frame in frames] == pytest.approx([20, 90, 200], abs=4)
    assert frames[0].shape == (48, 64, 3)
    assert frames[0].dtype == np.uint8


def test_a_looping_video_begins_again(tmp_path: Path) -> None:
    source = open_source(SourceSpec(str(write_video(tmp_path / "v.mp4", [20, 200])), loop=True))
    shades = [round(float(frame.mean())) for frame in read_all(source, limit=5)]
    assert shades == pytest.approx([20, 200, 20, 200, 20], abs=4)


def test_a_folder_gives_its_pictures_by_name_as_rgb(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "pictures", [(255, 0, 0), (0, 0, 255)])
    (folder / "notes.txt").write_text("no picture")
    source = open_source(SourceSpec(str(folder), fps=30.0))
    assert source.fps == 30.0
    assert [frame[0, 0].tolist() for frame in read_all(source)] == [[255, 0, 0], [0, 0, 255]]


def test_a_looping_folder_begins_again(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "pictures", [(1, 1, 1), (2, 2, 2)])
    frames = read_all(open_source(SourceSpec(str(folder), loop=True)), limit=5)
    assert [int(frame[0, 0, 0]) for frame in frames] == [1, 2, 1, 2, 1]


def test_pictures_are_scaled_to_the_size_that_is_asked_for(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "pictures", [(9, 9, 9)])
    (frame,) = read_all(open_source(SourceSpec(str(folder), width=16, height=12)))
    assert frame.shape == (12, 16, 3)


@pytest.mark.parametrize("name", ["nowhere.mp4", "/dev/video_nowhere", "987654", ""])
def test_a_missing_source_says_what_can_be_given(name: str) -> None:
    with pytest.raises(SourceMissingError, match="give a device") as caught:
        open_source(SourceSpec(name))
    assert "\n" not in str(caught.value)


def test_an_empty_folder_and_a_file_that_is_no_video(tmp_path: Path) -> None:
    with pytest.raises(SourceEmptyError, match="no images in"):
        open_source(SourceSpec(str(tmp_path)))
    (tmp_path / "v.mp4").write_bytes(b"this is no video" * 100)
    with pytest.raises(SourceUndecodableError, match="no video that can be read"):
        open_source(SourceSpec(str(tmp_path / "v.mp4")))


def test_a_picture_that_is_none_and_one_that_vanishes(tmp_path: Path) -> None:
    folder = write_pictures(tmp_path / "pictures", [(1, 1, 1), (2, 2, 2)])
    source = open_source(SourceSpec(str(folder)))
    (folder / "000.png").write_bytes(b"")
    with pytest.raises(SourceUndecodableError, match=r"000\.png"):
        source.read()
    (folder / "000.png").unlink()
    with pytest.raises(SourceLostError, match="No such file"):
        source.read()


def test_a_device_that_is_no_camera_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    controller, terminal = pty.openpty()
    try:
        with pytest.raises(SourceBusyError, match="gives no images"):
            open_source(SourceSpec(os.ttyname(terminal)))
    finally:
        os.close(controller)
        os.close(terminal)


@pytest.mark.parametrize("turn", TURNS)
def test_a_video_is_shown_as_its_file_says_that_it_lies(tmp_path: Path, turn: str) -> None:
    source = open_source(SourceSpec(str(write_turned_video(tmp_path / "v.mp4", turn)), loop=True))
    frames = read_all(source, limit=6)
    wanted = shown(corner(), turn)
    for frame in frames:
        assert frame.shape == wanted.shape
        assert np.abs(frame.astype(int) - wanted).mean() < 12


@pytest.mark.parametrize(
    "names",
    [
        ["frame_1", "frame_2", "frame_10", "frame_11"],
        ["frame_0001", "frame_2", "frame_03", "frame_10"],
        ["1", "02", "3", "0010"],
        ["cam1_9", "cam1_10", "cam2_1", "cam10_1"],
    ],
)
def test_a_folder_gives_its_pictures_in_the_order_of_their_numbers(tmp_path: Path, names: list[str]) -> None:
    for shade, name in reversed([*enumerate(names)]):
        cv2.imwrite(str(tmp_path / f"{name}.png"), np.full((8, 8, 3), 20 * shade, np.uint8))
    frames = read_all(open_source(SourceSpec(str(tmp_path))))
    assert [int(frame[0, 0, 0]) for frame in frames] == [20 * shade for shade in range(len(names))]


@pytest.mark.parametrize("suffix", [".png", ".tif"])
@pytest.mark.parametrize("kind", [np.uint16, np.float32])
def test_a_folder_of_depth_is_no_folder_of_pictures(tmp_path: Path, suffix: str, kind: type) -> None:
    if suffix == ".png" and kind is np.float32:
        pytest.skip("PNG holds none")
    cv2.imwrite(str(tmp_path / f"1{suffix}"), np.arange(64, dtype=kind).reshape(8, 8))
    with pytest.raises(SourceUndecodableError, match="as depth"):
        open_source(SourceSpec(str(tmp_path))).read()


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".bmp", ".webp", ".tif"])
def test_a_folder_takes_pictures_of_all_forms(tmp_path: Path, suffix: str) -> None:
    cv2.imwrite(str(tmp_path / f"1{suffix}"), np.full((8, 8, 3), 77, np.uint8))
    cv2.imwrite(str(tmp_path / f"2{suffix}"), np.full((8, 8), 99, np.uint8))
    frames = read_all(open_source(SourceSpec(str(tmp_path))))
    assert [int(frame[4, 4, 0]) for frame in frames] == pytest.approx([77, 99], abs=2)


def test_a_picture_of_a_folder_that_is_cut_off_is_told(tmp_path: Path) -> None:
    (folder := write_pictures(tmp_path / "pictures", [(9, 200, 9)]))
    path = folder / "000.png"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SourceUndecodableError, match="cut off or damaged"):
        open_source(SourceSpec(str(folder))).read()
