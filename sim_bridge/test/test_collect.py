"""What `kc-vla collect` leaves, and how it goes on."""

from __future__ import annotations

import resource
import shutil
from pathlib import Path

import numpy as np
import pytest

from kc_vla.cli import main
from kc_vla.core.tasks import TASKS
from kc_vla.datasets.lerobot.annotations import read_annotations
from kc_vla.datasets.lerobot.reader import DataSet
from kc_vla_sim.collect.demonstrator import Demonstrator
from kc_vla_sim.simulator import Simulator

WANTED = ["--task", "counting", "--variant", "paper", "--split", "development", "--image-size", "32"]
SET = "development/counting"


def collect(output: Path, episodes: int, *options: str) -> int:
    """Record so many episodes; the exit status."""
    chosen = [] if "--processes" in options else ["--processes", "1"]
    return main(["collect", *WANTED, "--episodes", str(episodes), "--output", str(output), *chosen, *options])


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of all files by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return two episodes of the counting task."""
    output = tmp_path_factory.mktemp("collected")
    assert collect(output, 2) == 0
    return output


def test_an_episode_is_what_happened_in_the_simulator(collected: Path, undrawn: Simulator) -> None:
    data_set = DataSet(collected / SET)
    assert [(e.index, e.task, e.seed, e.variant, e.looks) for e in data_set.episodes] == [
        (0, "counting", 0, "paper", "standard"),
        (1, "counting", 1, "paper", "standard"),
    ]
    for episode in data_set.episodes:
        columns = data_set.columns(episode.index)
        frame = undrawn.reset("counting", episode.seed or 0)
        for row, action in enumerate(columns["action"]):
            assert not frame.done or row == episode.length - 1
            np.testing.assert_array_equal(
                columns["observation.joint_positions"][row], frame.joint_positions.astype(np.float32)
            )
            np.testing.assert_allclose(
                columns["observation.state"][row, :7],
                [*frame.tool_pose.position, *frame.tool_pose.quaternion],
                atol=1e-6,
            )
            if not frame.done:
                frame = undrawn.step(action)
        assert frame.reason == "success"
        keyframes = tuple(keyframe.frame for keyframe in undrawn.keyframes)
        assert data_set.keyframes(episode.index) == keyframes
        assert tuple(np.flatnonzero(columns["annotation.keyframe"])) == keyframes
        for view in ("third_person", "wrist"):
            assert sum(frame.shape == (32, 32, 3) for frame in data_set.frames(episode.index, view)) == episode.length
    rows = read_annotations(collected / SET / "meta/annotations.jsonl")
    assert [row.label for row in rows] == list(TASKS["counting"].keyframes) * 2
    assert {(row.source, row.author, row.score) for row in rows} == {("oracle", "kc_vla_sim", 1.0)}


def test_the_lamp_is_seen_in_the_keyframes(collected: Path) -> None:
    """Check that images and keyframes belong together: the first image with a flash is the brighter one."""
    data_set = DataSet(collected / SET)
    bright = [float(picture.astype(int).max(axis=2).mean()) for picture in data_set.frames(0)]
    for number, frame in enumerate(data_set.keyframes(0)[1:], start=1):
        jump = bright[frame] - bright[frame - 1]
        assert jump * (1 if number % 2 else -1) > 5 * abs(bright[frame - 1] - bright[frame - 2])


@pytest.mark.nightly
def test_an_interrupted_collection_goes_on_and_comes_to_the_same(
    collected: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    act = Demonstrator.act
    asked = 0

    def interrupted(self: Demonstrator) -> np.ndarray:
        nonlocal asked
        asked += 1
        if asked == DataSet(collected / SET).episodes[0].length + 20:
            raise KeyboardInterrupt
        return act(self)

    with monkeypatch.context() as patched:
        patched.setattr(Demonstrator, "act", interrupted)
        assert collect(tmp_path, 2) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "kc-vla collect: interrupted: the same command goes on"
    assert [episode.index for episode in DataSet(tmp_path / SET).episodes] == [0]
    assert collect(tmp_path, 2) == 0
    assert f"{tmp_path / SET}: 2 episodes, 1 of them before" in capsys.readouterr().out
    assert files(tmp_path) == files(collected)


@pytest.mark.nightly  # processes in parallel are tried by test_workers.py
def test_parallel_processes_record_the_same(collected: Path, tmp_path: Path) -> None:
    assert collect(tmp_path, 2, "--processes", "2") == 0
    assert files(tmp_path) == files(collected)


@pytest.mark.nightly
def test_a_full_disk_is_one_line_and_loses_nothing(
    collected: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No file can grow larger than those of `meta`: a video fails in its middle, as on a full disk."""
    output = shutil.copytree(collected, tmp_path / "data")
    largest = max(len(content) for path, content in files(collected).items() if "/meta/" in path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        status = collect(output, 3)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert status == 1
    told = capsys.readouterr().err.splitlines()[-1]
    assert told.startswith("kc-vla collect: episode 2 cannot be written into")
    assert "File too large: free some space and start again, it goes on from there" in told
    assert files(output) == files(collected)


@pytest.mark.nightly
def test_a_seed_that_always_fails_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def shove(self: Demonstrator) -> np.ndarray:
        """Push as soon as the hand is behind the cube."""
        plan, phase = self._expert.plan(1)
        self._phase = phase if self._phase != "wait" else "wait"
        return np.array([0.05, 0, 0, 0, 0, 0, 0]) if self._phase == "wait" else plan[0]

    monkeypatch.setattr(Demonstrator, "act", shove)
    assert collect(tmp_path, 1) == 1
    told = capsys.readouterr().err.splitlines()[-1]
    assert "kc-vla collect: counting, seed 0: 5 attempts failed (cube moved before the second flash ended)" in told
    assert not list((tmp_path / SET / ".incoming").iterdir())


@pytest.mark.parametrize(
    ("options", "status", "told"),
    [
        (["--image-size", "64"], 1, "was begun with image_size '32', not '64'"),
        (["--variant", "hard"], 1, "was begun with variant 'paper', not 'hard'"),
        (["--image-size", "33"], 2, "bad image size 33: for videos give an even number"),
        (["--variant", "odd"], 2, "unknown variant 'odd'"),
        (["--visual-randomization", "odd"], 2, "unknown visual randomization 'odd'"),
        (["--split", "validation", "--episodes", "1001"], 2, "the split 'validation' has 1000 seeds"),
        (["--episodes", "0"], 2, "'0' is not a whole number from 1"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    collected: Path, tmp_path: Path, options: list[str], status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = shutil.copytree(collected, tmp_path / "data")
    before = files(output)
    try:
        ended = collect(output, 2, *options)
    except SystemExit as refused:
        ended = int(refused.code or 0)
    printed = capsys.readouterr()
    assert (ended, printed.out) == (status, "")
    assert told in printed.err
    assert printed.err.startswith("kc-vla collect: ")
    assert printed.err.count("\n") == 1
    assert files(output) == before


@pytest.mark.nightly
def test_every_frame_of_an_episode_that_a_policy_drives_is_recorded(tmp_path: Path) -> None:
    drive = ["--from-policy", "--whole", "--policy-share", "0.3"]
    assert collect(tmp_path, 1, *drive) == 0
    data_set = DataSet(tmp_path / SET)
    (episode,) = data_set.episodes
    actions = data_set.columns(episode.index)["action"]
    assert len(actions) == episode.length > 100
    assert len(data_set.keyframes(episode.index)) == len(TASKS["counting"].keyframes)
    assert next(iter(data_set.frames(episode.index, "wrist"))).shape == (32, 32, 3)  # drawn larger, kept like others
    assert collect(tmp_path, 1) == 1  # a folder of the expert's own episodes is another one


def test_whole_episodes_are_what_an_expert_leaves_anyway(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collect(tmp_path, 1, "--whole") == 1
    assert "--whole goes with --from-policy" in capsys.readouterr().err
