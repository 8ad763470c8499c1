"""What of an episode becomes a curve in Rerun, and where on its timelines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from episode_bag import ORACLE, PERIOD_NS, START_NS, Script, action, write_episode

from kc_vla.cli import main
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.reports.rerun.rows import TimedColumns, columns


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TimedColumns]:
    bag = write_episode(tmp_path_factory.mktemp("episode") / "bag", Script(size=32, steps=60, hold_steps=(9,)))
    return {each.path: each for each in columns(RecordedEpisode(bag))}


def test_rows_have_the_stamp_and_the_frame_of_what_they_tell(found: dict[str, TimedColumns]) -> None:
    joints = found["joints/position"]
    assert joints.names == tuple(f"joint{number}" for number in range(1, 8))
    assert joints.frames.tolist() == list(range(61))
    assert joints.stamps.tolist() == [START_NS + frame * PERIOD_NS for frame in range(61)]
    assert joints.values[40] == pytest.approx([0.4] * 7)
    scores = found["selector/score"]
    assert scores.values[ORACLE[1]] == pytest.approx([0.98, 0.5])
    assert scores.stamps[ORACLE[1]] == START_NS + ORACLE[1] * PERIOD_NS


def test_what_was_executed_stands_beside_the_chunks_it_came_from(found: dict[str, TimedColumns]) -> None:
    executed = found["actions/dx/executed"]
    assert 9 not in executed.frames  # the arm held
    assert executed.values[:, 0] == pytest.approx([action(frame)[0] for frame in executed.frames])
    lanes = [each for path, each in found.items() if path.startswith("actions/dx/chunks/")]
    assert len(lanes) == 3  # chunks of 16 steps, one every 8
    for lane in lanes:
        assert len(set(lane.frames.tolist())) == len(lane.frames), "chunks of a lane overlap"
        known = np.isfinite(lane.values[:, 0])
        assert lane.values[known, 0] == pytest.approx([action(frame)[0] for frame in lane.frames[known]])
    assert sum(np.isfinite(lane.values).sum() for lane in lanes) == 8 * 16


def test_rows_of_another_length_are_left_out() -> None:
    rows = [(2, 1, (1.0, 2.0)), (1, 0, (3.0, 4.0)), (3, 2, (5.0,))]
    kept = TimedColumns.of("x", ("a", "b"), rows)
    assert kept is not None
    assert kept.stamps.tolist() == [1, 2]
    assert TimedColumns.of("x", ("a",), []) is None


def test_without_the_package_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rerun", None)
    bag = write_episode(tmp_path / "bag", Script(size=32, steps=10))
    assert main(["rerun", "export", str(bag)]) == 1
    assert capsys.readouterr().err == (
        "kc-vla rerun: the package rerun-sdk is not installed: pip install rerun-sdk==0.41.0\n"
    )
