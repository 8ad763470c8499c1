"""The real LeRobot 0.4.4, in an environment of its own: it opens our data sets, acts as our rebuilt ACT does, and its
commands drive the stack's robot. Nightly: the environment takes minutes to make.
"""

import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from act_files import VARIANTS, seen, write_act
from data_sets import FPS, SIZE, numbers, write_data_set
from stack import Stack

from kc_vla.core.tasks import TASKS
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.datasets.lerobot.layout import video_key
from kc_vla.datasets.lerobot.source import open_source
from kc_vla.datasets.lerobot.v3_writer import V3Writer
from kc_vla.learning.act.export import export_act

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(2400)]
HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "ros2_ws/src/kc_vla/test/data/act_chunks.npz"
LENGTHS, KEYFRAMES = (30, 24), (0, 6, 9, 15, 20)
STEPS = 40


@pytest.fixture(scope="session")
def lerobot() -> Path:
    """The folder of the commands of LeRobot's environment."""
    made = subprocess.run([HERE / "environment"], check=True, stdout=subprocess.PIPE, text=True)
    return Path(made.stdout.strip()).parent


@pytest.fixture
def inside(lerobot: Path, tmp_path: Path) -> Callable[..., str]:
    """Runs a command of LeRobot's environment, without ours and without a network; returns what it says."""

    def run(command: str, *words: object) -> str:
        program = [lerobot / "python", HERE / "inside" / command] if command.endswith(".py") else [lerobot / command]
        own = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [*program, *map(str, words)], env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert done.returncode == 0, done.stdout[-3000:]
        return done.stdout

    return run


def answers(inside: Callable[..., str], folder: Path, given: list[dict[str, np.ndarray]]) -> np.ndarray:
    """LeRobot's chunks (N, H, A) for what is seen."""
    entries = {f"{number}/{key}": values for number, each in enumerate(given) for key, values in each.items()}
    np.savez(folder / "given.npz", **entries)
    inside("act.py", "answer", folder, folder / "given.npz", folder / "chunks.npz")
    chunks: np.ndarray = np.load(folder / "chunks.npz")["chunks"]
    return chunks


@pytest.mark.parametrize("name", VARIANTS)
def test_what_the_quick_tests_hold_our_policy_to_is_what_lerobot_does(
    inside: Callable[..., str], tmp_path: Path, name: str
) -> None:
    folder = write_act(tmp_path / name, VARIANTS[name])
    chunks = answers(inside, folder, [seen(VARIANTS[name], number) for number in range(2)])
    np.testing.assert_allclose(np.load(GOLDEN)[name], chunks, atol=1e-6)


def test_a_policy_that_lerobot_has_saved_acts_here_as_there(inside: Callable[..., str], tmp_path: Path) -> None:
    inside("act.py", "make", tmp_path / "act")
    path, about = export_act(tmp_path / "act")
    assert dict(about.cameras) == {video_key("wrist"): (64, 64), video_key("third_person"): (64, 96)}
    as_seen = {
        "inputs": {
            **{key: ("VISUAL", [3, *size]) for key, size in about.cameras.items()},
            "observation.state": ("STATE", [7]),
        }
    }
    given = [seen(as_seen, number) for number in range(3)]
    chunks = answers(inside, tmp_path / "act", given)
    session = onnxruntime.InferenceSession(str(path))
    for each, chunk in zip(given, chunks, strict=True):
        feed = {f"picture{place}": each[key] for place, key in enumerate(about.cameras)}
        found = session.run(None, {**feed, "state": each["observation.state"]})[0]
        np.testing.assert_allclose(found, chunk, atol=1e-4)


def checked(found: np.lib.npyio.NpzFile, second: Path) -> None:
    """Whether LeRobot has found in a data set of version 3.0 what is in ours."""
    ours = open_source(second)
    assert (int(found["fps"]), str(found["robot"])) == (FPS, "panda")
    assert set(found["task"]) == {TASKS["counting"].instruction}
    begin = 0
    for episode, length in zip(ours.episodes, LENGTHS, strict=True):
        rows = slice(begin, begin + length)
        for key, values in ours.columns(episode).items():
            if key == "action":  # two of each, and at the end of an episode the last one twice
                following = np.concatenate([values[1:], values[-1:]])
                np.testing.assert_array_equal(found[key][rows], np.stack([values, following], 1))
            elif key != "index":
                np.testing.assert_array_equal(np.squeeze(found[key][rows]), values, err_msg=key)
        for view in DEFAULT_VIEWS:
            pictures = np.stack(list(ours.frames(episode, video_key(view)))).transpose(0, 3, 1, 2) / 255
            assert found[video_key(view)].shape[1:] == (3, SIZE, SIZE)
            np.testing.assert_allclose(found[video_key(view)][rows], pictures, atol=0.02)
        begin += length
    assert len(found["action"]) == begin
    assert found["stats/action"].shape == numbers(0, 0)["action"].shape


@pytest.mark.parametrize("most_mb", [100, 0.0001])
def test_it_opens_and_goes_through_what_we_export(inside: Callable[..., str], tmp_path: Path, most_mb: float) -> None:
    second = write_data_set(tmp_path / "second", LENGTHS, KEYFRAMES)
    writer_of = partial(V3Writer, data_file_mb=most_mb, video_file_mb=most_mb)
    write_data_set(tmp_path / "third", LENGTHS, KEYFRAMES, writer_of=writer_of)
    inside("data_set.py", tmp_path / "third", tmp_path / "found.npz")
    checked(np.load(tmp_path / "found.npz"), second)


def test_it_makes_3_0_of_our_2_1_itself(inside: Callable[..., str], tmp_path: Path) -> None:
    second = write_data_set(tmp_path / "second", LENGTHS, KEYFRAMES)
    write_data_set(tmp_path / "converted", LENGTHS, KEYFRAMES)
    inside("data_set.py", "convert", tmp_path / "converted")
    inside("data_set.py", tmp_path / "converted", tmp_path / "found.npz")
    checked(np.load(tmp_path / "found.npz"), second)


def test_lerobot_record_drives_the_robot_with_our_policy(
    lerobot: Path, launch: Callable[..., Stack], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In lock-step the robot waits for each action: what is recorded is each control step, once and in order."""
    socket = tmp_path_factory.mktemp("d") / "socket"
    record = subprocess.Popen(
        [
            lerobot / "lerobot-record",
            "--robot.type=kc_vla",
            f"--robot.socket={socket}",
            "--robot.wait=900",
            "--policy.type=kc_vla",
            "--dataset.repo_id=local/eval_toy",
            f"--dataset.root={tmp_path / 'recorded'}",
            f"--dataset.single_task={TASKS['counting'].instruction}",
            f"--dataset.fps={FPS}",
            f"--dataset.episode_time_s={STEPS / FPS}",
            "--dataset.num_episodes=1",
            "--dataset.vcodec=h264",
            "--dataset.push_to_hub=false",
            "--play_sounds=false",
        ],
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert record.stdout is not None
    try:
        said = ""
        while "single_task" not in said:  # it has told its settings, and waits for the robot: a simulator does not
            line = record.stdout.readline()
            assert line, said
            said += line
        launch(policy="driven", socket=socket, image_size=128, report="none")
        said += record.stdout.read()
        assert record.wait() == 0, said[-3000:]
    finally:
        record.kill()
    recorded = open_source(tmp_path / "recorded")
    (episode,) = recorded.episodes
    assert 2 <= episode.length <= STEPS
    columns = recorded.columns(episode)
    states, actions = columns["observation.state"], columns["action"]
    moved = np.diff(states[:, :3], axis=0)
    np.testing.assert_allclose(moved, np.clip(actions[:-1, :3], -0.1, 0.1), atol=1e-4)
    assert np.abs(actions[:, :3]).max() > 1e-3
    assert {camera.rpartition(".")[2] for camera in recorded.cameras} == set(DEFAULT_VIEWS)
