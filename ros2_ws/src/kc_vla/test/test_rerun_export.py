"""A file of Rerun's as its own package reads it: what is in it, on which timelines."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from episode_bag import Script, write_episode

from kc_vla.cli import main

pytestmark = pytest.mark.nightly  # it takes the package 500 MB, and seconds to be loaded
pytest.importorskip("rerun", reason="rerun-sdk is optional: pip install rerun-sdk==0.41.0")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bag = write_episode(tmp_path_factory.mktemp("run") / "counting-3" / "bag", Script(size=32, steps=60))
    assert main(["rerun", "export", str(bag)]) == 0
    return bag.parent / "counting-3.rrd"


def rrd(action: str, *words: str) -> str:
    command = [sys.executable, "-m", "rerun", "rrd", action, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_package_takes_its_file_for_whole(file: Path) -> None:
    rrd("verify", str(file))


def test_pictures_curves_and_texts_are_there_on_both_timelines(file: Path) -> None:
    rows: dict[str, int] = {}
    for count, entity in re.findall(r"with (\d+) rows .* - (/\S+) - data columns", rrd("print", "-v", str(file))):
        rows[entity] = rows.get(entity, 0) + int(count)
    moments = 61
    for entity in ("views/third_person", "views/wrist"):
        assert rows[f"/{entity}"] == moments
    for entity in ("joints/position", "selector/score", "selector/phase", "actions/dx/executed"):
        assert rows[f"/{entity}"] == moments + 1  # and its names
    assert rows["/log/keyframes"] == 13  # a candidate, another one and the last word of each of four; the first frame
    assert rows["/log/episode"] == 2
    assert rows["/keyframes/third_person"] == 5
    assert {"stamp", "frame"} <= set(re.findall(r"\b(stamp|frame)\b", rrd("print", "-vv", str(file))))


def test_a_file_that_is_there_is_replaced(file: Path) -> None:
    file.write_text("no file of Rerun's")
    assert main(["rerun", "export", str(file.parent / "bag"), "-o", str(file)]) == 0
    rrd("verify", str(file))
