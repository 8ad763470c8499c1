"""Files that take the place of others: links are followed, and what another name holds stays."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from links import LAYOUTS, Layout, lay_out, read_only
from nightly import tried

from kc_vla.bags.metadata import write_metadata
from kc_vla.core.files import by_number, copy_whole, keep_as, replacing, resolved, write_fresh, write_whole
from kc_vla.media.mp4 import Mp4Writer


def copied(path: Path) -> None:
    source = path.with_name("source")
    source.write_text("new")
    copy_whole(source, path)


def filmed(path: Path) -> None:
    with Mp4Writer(path, 16, 16, 0.05) as video:
        video.add(np.zeros((16, 16, 3), np.uint8), 0)


WRITERS: dict[str, Callable[[Path], None]] = {
    "metadata.yaml": lambda path: write_metadata(path.parent, {"version": 9}),
    "text": lambda path: write_whole(path, "new"),
    "copy": copied,
    "film.mp4": filmed,
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("links") / "here"


@pytest.mark.parametrize("name", WRITERS)
@tried(15, 100)
@given(layout=LAYOUTS)
def test_what_takes_the_place_of_a_file_follows_links_and_leaves_other_names_alone(
    name: str, layout: Layout, place: Path
) -> None:
    laid = lay_out(place, name, b"old", layout)
    WRITERS[name](laid.name)
    assert laid.name.is_symlink() == bool(layout.links)
    assert laid.name.samefile(laid.real)
    assert laid.real.read_bytes() not in (b"old", b"")
    if laid.hard is not None:
        assert laid.hard.read_bytes() == b"old"
    assert not list(place.rglob("*.part"))


@pytest.mark.parametrize("relative", [True, False])
def test_a_link_to_what_is_still_to_be_made_is_followed(tmp_path: Path, relative: bool) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "file"
    link = tmp_path / "link"
    link.symlink_to("far/file" if relative else target)
    write_whole(link, "new")
    assert target.read_text() == "new"
    assert link.is_symlink()


def test_links_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="leads in a circle"), replacing(tmp_path / "a"):
        pass
    assert (tmp_path / "a").is_symlink()


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_link_in_the_place_of_an_unfinished_file_is_not_written_through(
    tmp_path: Path, link: Callable[[Path, Path], None]
) -> None:
    (tmp_path / "precious").write_text("precious")
    link(tmp_path / "precious", tmp_path / ".file.part")
    write_whole(tmp_path / "file", "new")
    assert (tmp_path / "precious").read_text() == "precious"
    assert (tmp_path / "file").read_text() == "new"


def test_a_file_in_a_folder_to_read_stays_as_it_is() -> None:
    with read_only("file", b"old") as path:
        with pytest.raises(PermissionError):
            write_whole(path, "new")
        with pytest.raises(PermissionError):
            keep_as(path, path.with_name("kept"))
        assert path.read_bytes() == b"old"
        assert list(path.parent.iterdir()) == [path]


def test_what_is_kept_is_never_a_link_nor_in_the_place_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(OSError, match="is a symbolic link"):
        keep_as(tmp_path / "link", tmp_path / "kept")
    (tmp_path / "kept").write_text("of before")
    with pytest.raises(FileExistsError):
        keep_as(tmp_path / "file", tmp_path / "kept")
    assert (tmp_path / "kept").read_text() == "of before"
    assert resolved(tmp_path / "link") == tmp_path / "file"


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6)), min_size=1, unique_by=lambda pair: pair[0]))
def test_names_are_in_the_order_of_their_numbers_however_they_are_padded(numbers: list[tuple[int, int]]) -> None:
    paths = [Path(f"frame_{number:0{width}}.png") for number, width in numbers]
    expected = [path for _, path in sorted(zip([number for number, _ in numbers], paths, strict=True))]
    assert sorted(paths, key=by_number) == expected


def test_every_name_has_a_place_in_the_order() -> None:
    names = ["10", "9b", "9a", "b1", "a10", "a2", "a02", "²", "", "a2.5"]
    ordered = sorted(map(Path, names), key=by_number)
    assert sorted(reversed([*map(Path, names)]), key=by_number) == ordered
    assert [str(path) for path in ordered if str(path).startswith("a")] == ["a02", "a2", "a2.5", "a10"]


def test_a_fresh_file_replaces_a_link_and_a_failure_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "new").symlink_to(tmp_path / "mine")
    write_fresh(str(tmp_path / "new"), b"new")
    assert (tmp_path / "new").read_bytes() == b"new"
    assert not (tmp_path / "new").is_symlink()
    assert (tmp_path / "mine").read_bytes() == b"mine"
    (tmp_path / "folder").mkdir()
    for name in ("folder", "missing/new"):
        with pytest.raises(OSError, match="directory"):
            write_fresh(str(tmp_path / name), b"new")
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "new", "folder"}
