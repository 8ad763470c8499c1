from pathlib import Path

import pytest

from kc_vla.bags.find import bags_below


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
def test_a_folder_is_a_bag_whether_its_recorder_came_to_an_end_or_not(tmp_path: Path, suffix: str) -> None:
    touch(tmp_path / "whole" / f"anything{suffix}", tmp_path / "whole" / "metadata.yaml")
    touch(tmp_path / "torn" / "bag" / f"bag_0{suffix}", tmp_path / "torn" / "bag" / f"bag_1{suffix}")
    assert bags_below(tmp_path) == [tmp_path / "torn" / "bag", tmp_path / "whole"]


def test_other_files_are_a_bag_each(tmp_path: Path) -> None:
    touch(tmp_path / "monday.mcap", tmp_path / "tuesday.mcap", tmp_path / "notes.txt")
    assert bags_below(tmp_path) == [tmp_path / "monday.mcap", tmp_path / "tuesday.mcap"]
    assert bags_below(tmp_path / "monday.mcap") == [tmp_path / "monday.mcap"]


def test_what_is_hidden_or_no_bag_is_left_out(tmp_path: Path) -> None:
    touch(tmp_path / ".trash" / "a.mcap", tmp_path / ".b.mcap", tmp_path / "deep" / "c.txt")
    (tmp_path / "deep" / "round").symlink_to(tmp_path)
    assert bags_below(tmp_path) == []
    assert bags_below(tmp_path / "deep" / "c.txt") == []
    assert bags_below(tmp_path / "nothing") == []
