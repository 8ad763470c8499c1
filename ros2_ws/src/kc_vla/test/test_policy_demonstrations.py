"""A policy learns from recordings of a robot, in the space in which that is moved."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from drawn_plans import write_episodes
from hypothesis import given
from hypothesis import strategies as st
from robot_bags import KEYFRAMES, PIPER_NAMES, picture, write_panda_bag, write_piper_bag

from kc_vla.cli import main
from kc_vla.core.chunk import ActionType
from kc_vla.core.episode import Episode
from kc_vla.core.robot import load_robot
from kc_vla.core.tasks import TASKS
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.keyframes.cameras import Camera
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.policy.demonstrated import HORIZON, demonstrated, driven_frames, next_places, plans_of
from kc_vla.learning.policy.material import find_material
from kc_vla.learning.policy.run import PolicyRun
from kc_vla.policy.backends import PolicyContext
from kc_vla.policy.interface import PolicyInput, RememberedFrame
from kc_vla.policy.learned import open_learned
from kc_vla.policy.numbers import JointSpace, ToolSpace, space_of
from kc_vla.policy.options import LearnedOptions

PIPER = load_robot("piper")
SMALL = ["image_size=32", "init=scratch", "channels=8", "steps=8", "every=8", "batch=8"]


def way(length: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Joint states and targets: 20 frames of waiting, 20 on the way, gripping at 40, the way back."""
    lift = np.concatenate([np.zeros(20), np.linspace(0.0, 0.6, 20), np.linspace(0.6, 0.2, length - 40)])
    grip = np.where(np.arange(length) < 40, 0.07, 0.0)
    targets = np.column_stack([np.tile(lift[:, None], (1, 6)), grip]).astype(np.float32)
    states = np.vstack([targets[:1], targets[:-1]])
    states[:, :6] -= 0.004  # it hangs a little below what it is told
    return states, targets


def test_the_next_place_is_where_the_gripper_changes_or_the_arm_rests() -> None:
    gripper = np.array([1, 1, 1, 1, 0, 0, 0, 0], np.float32)
    waits = np.array([0, 0, 0, 0, 0, 0, 1, 1], bool)
    assert next_places(gripper, waits).tolist() == [4, 4, 4, 4, 4, 6, 7, 7]


def test_few_frames_of_a_demonstration_are_kept_with_what_was_done_from_there_on() -> None:
    states, targets = way()
    episode = demonstrated({}, states, targets, (0, 30), JointSpace(PIPER))
    assert {0, 30} <= set(episode.frames.tolist())
    assert len(episode.frames) < 40
    assert episode.frames[episode.frames < 12].tolist() == [0]  # of the wait there is little
    moving = int(np.searchsorted(episode.frames, 24))
    frame = int(episode.frames[moving])
    np.testing.assert_allclose(episode.plans[moving], targets[frame : frame + HORIZON])
    assert episode.ahead[moving] == 40 - frame
    np.testing.assert_allclose(episode.places[moving], states[40])
    assert set(episode.phases[episode.frames < 10]) == {"wait"}


def test_after_the_end_the_robot_stays_as_it_is() -> None:
    _, targets = way()
    assert (plans_of(targets, JointSpace(PIPER))[-1] == targets[-1]).all()
    deltas = np.full((3, 7), 0.01, np.float32)
    last = plans_of(deltas, ToolSpace())[-1]
    assert (last[1:, :6] == 0).all()
    assert (last[:, 6] == deltas[0, 6]).all()


numbers = st.floats(-2.0, 2.0, width=32)


@given(st.lists(numbers, min_size=7, max_size=7), st.lists(numbers, min_size=7, max_size=7))
def test_joint_positions_are_learnt_relative_to_where_the_joints_are(state: list[float], target: list[float]) -> None:
    space = JointSpace(PIPER)
    states, actions = np.array([state], np.float32), np.array([[target]], np.float32)
    learnt = space.learnt(actions, states)
    np.testing.assert_allclose(learnt[0, 0, :6], actions[0, 0, :6] - states[0, :6], atol=1e-6)
    assert learnt[0, 0, 6] == pytest.approx(target[6] / 0.07, rel=1e-5, abs=1e-6)
    np.testing.assert_allclose(space.actions(learnt, states), actions, atol=1e-5)


def test_an_arm_that_rests_is_told_the_same_again_and_does_not_sink() -> None:
    chunk = np.random.default_rng(1).normal(0, 0.1, (16, 7)).astype(np.float32)
    joints, tool = JointSpace(PIPER).rested(chunk, 3), ToolSpace().rested(chunk, 3)
    assert (joints[3:, :6] == chunk[2, :6]).all()
    assert (tool[3:, :6] == 0).all()
    for rested in (joints, tool):
        assert (rested[:3] == chunk[:3]).all()
        assert (rested[:, 6] == chunk[:, 6]).all()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("piper")
    for number in range(2):
        write_piper_bag(folder / "bags", f"e{number}", 40)
    assert main(["bag", "export", str(folder / "bags"), "--output", str(folder / "data")]) == 0
    return folder / "data"


def test_a_piper_s_recordings_make_a_policy_that_moves_its_joints(data: Path, tmp_path: Path) -> None:
    material = find_material([data])
    assert (material.robot.name, material.action) == ("piper", ActionType.JOINT_POSITION)
    assert material.views == ("third_person", "wrist")
    run, models = str(tmp_path / "run"), tmp_path / "models"
    settings = [word for setting in SMALL for word in ("--set", setting)]
    assert main(["train", "policy", "--data", str(data), "--output", run, *settings]) == 0
    assert main(["export", "policy", run, "--models", str(models)]) == 0

    backend = open_learned(PolicyContext(PIPER, 20), LearnedOptions(models_folder=str(models), device="cpu"))
    assert backend.action_type is ActionType.JOINT_POSITION
    assert backend.names == PIPER_NAMES
    instruction = TASKS["counting"].instruction
    backend.reset(Episode("e", "counting", instruction, 0, 50_000_000, True))
    state = np.array([0.1, 1.0, -0.8, 0.0, 0.3, 0.0, 0.03])
    views = {view: picture(12, view=view) for view in material.views}
    frozen = np.tile([*state[:6] + 0.01, 0.05], (3, 1)).astype(np.float32)
    kept = [RememberedFrame(frame, views, state) for frame in KEYFRAMES[:3]]
    chunk = backend.infer(PolicyInput(12, views, kept, state, instruction, frozen))
    assert chunk.shape == (HORIZON, 7)
    np.testing.assert_allclose(chunk[:3], frozen, atol=1e-5)
    assert np.abs(chunk[:, :6] - state[:6]).max() < 1.5  # near where the joints are, as in what was learnt
    assert chunk[:, 6].min() >= 0.0
    assert chunk[:, 6].max() <= PIPER.opening + 1e-6


@pytest.mark.nightly
def test_a_policy_looks_at_the_cameras_that_somebody_chose(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [str(data), "--set", "image_size=32", "--set", "init=scratch", "--set", "channels=8", "--set", "steps=2"]
    run, models = str(tmp_path / "run"), tmp_path / "models"
    usual = "observation.images.third_person"  # of the data set's cameras this one shall stand for the hand's
    assert main(["train", "policy", "--output", run, "--camera", f"wrist={usual}", "--data", *asked]) == 0
    assert PolicyRun(Path(run)).views == ("wrist",)
    seen, other = (
        next(iter(find_material([data], cameras=(Camera("wrist", key),)).episodes)).read(32).pictures["wrist"]
        for key in (usual, "")
    )
    assert (seen != other).any()
    np.testing.assert_array_equal(seen, find_material([data]).episodes[0].read(32).pictures["third_person"])
    assert main(["train", "policy", "--output", run + "_more", "--init", run, "--data", *asked]) == 1
    told = capsys.readouterr().err
    assert f"looks at wrist, and is to learn on with third_person, wrist: take --camera wrist={usual}, with" in told
    assert main(["export", "policy", run, "--models", str(models)]) == 0
    backend = open_learned(PolicyContext(PIPER, 20), LearnedOptions(models_folder=str(models), device="cpu"))
    instruction = TASKS["counting"].instruction
    backend.reset(Episode("e", "counting", instruction, 0, 50_000_000, True))
    state = np.array([0.1, 1.0, -0.8, 0.0, 0.3, 0.0, 0.03])
    views = {"wrist": picture(12, view="wrist")}
    given = PolicyInput(12, views, [RememberedFrame(0, views, state)], state, instruction, np.zeros((0, 7), np.float32))
    assert backend.infer(given).shape == (HORIZON, 7)


def test_a_camera_that_is_not_there_is_told(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a 'piper' has no camera 'side': it has third_person, wrist"):
        find_material([data], cameras=(Camera("side"),))
    with pytest.raises(DataSetError, match=r"observation\.images\.cam_7"):
        find_material([data], cameras=(Camera("wrist", "observation.images.cam_7"),))
    write_episodes(tmp_path / "light", 2)
    with pytest.raises(DataError, match="has no camera side: it has third_person, wrist"):
        find_material([tmp_path / "light"], cameras=(Camera("side"),))


def test_of_a_take_over_it_is_learnt_what_the_person_did_from_the_first_motion_to_the_last() -> None:
    person = np.zeros(20, bool)
    person[3:12] = person[15:] = True
    waits = np.ones(20, bool)
    waits[5:7] = waits[9] = waits[13] = False
    assert np.flatnonzero(driven_frames(person, waits)).tolist() == [5, 6, 7, 8, 9]
    states, targets = way()
    person = np.zeros(60, bool)
    person[30:50] = True
    episode = demonstrated({}, states, targets, (0, 35, 55), JointSpace(PIPER), person)
    assert episode.learnt is not None
    learnt = episode.frames[episode.learnt]
    assert learnt.min() >= 30
    assert learnt.max() < 50
    assert {0, 55} <= set(episode.frames[~episode.learnt].tolist())  # remembered, and nothing learnt from them


@pytest.mark.nightly
def test_a_policy_goes_on_from_what_a_person_mended(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    for number in range(2):
        write_piper_bag(tmp_path / "bags", f"t{number}", 40, changes=(10, 29), by_gamepad=True)
    taken = tmp_path / "taken"
    assert main(["bag", "export", str(tmp_path / "bags"), "--output", str(taken)]) == 0
    settings = [word for setting in SMALL for word in ("--set", setting)]
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    train = ["train", "policy", *settings, "--data", str(data)]
    assert main([*train, "--output", first]) == 0
    capsys.readouterr()
    assert main([*train, "--output", second, "--from-takeovers"]) == 1
    assert f"nobody has taken over in {data}" in capsys.readouterr().err
    more = ["--data", str(taken), "--from-takeovers", "--init", first]
    assert main([*train, "--output", second, *more]) == 0
    assert "A person drove in 38 frames of 2 episodes" in capsys.readouterr().out
    assert PolicyRun(Path(second)).data["takeovers"] == {"frames": 38, "episodes": 2}
    material = find_material([taken], from_takeovers=True)
    for source in material.episodes:
        episode = source.read(32)
        assert set(episode.frames[~episode.learnt].tolist()) <= set(KEYFRAMES)
        assert episode.learnt.sum() > 4


def test_both_versions_of_data_sets_are_learned_from_alike(data: Path, tmp_path: Path) -> None:
    words = ["bag", "export", str(data.parent / "bags"), "--output", str(tmp_path / "second"), "--format"]
    assert main([*words, "lerobot-v2.1"]) == 0
    third, second = find_material([data]), find_material([tmp_path / "second"])
    assert (third.robot.name, third.action, third.views) == (second.robot.name, second.action, second.views)
    for one, other in zip(third.episodes, second.episodes, strict=True):
        ours, theirs = asdict(one.read(32)), asdict(other.read(32))
        views = zip(ours.pop("pictures").values(), theirs.pop("pictures").values(), strict=True)
        assert all(np.array_equal(*pair) for pair in views)
        assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_robots_are_not_mixed(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_panda_bag(tmp_path / "bags", "e0")
    assert main(["bag", "export", str(tmp_path / "bags"), "--output", str(tmp_path / "panda")]) == 0
    assert find_material([tmp_path / "panda"]).action is ActionType.TOOL_DELTA
    with pytest.raises(DataError, match=r"a 'piper' with actions of joint .* a 'panda_sim' with actions of tool"):
        find_material([data, tmp_path / "panda"])


def test_what_is_left_out_is_told_and_nothing_else_is(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    mine = shutil.copytree(data, tmp_path / "all/mine")
    write_episodes(tmp_path / "all/light", 2)  # with plans, beside it
    with pytest.raises(DataError, match="train a policy on one of them"):  # of a Panda: they are not passed over
        find_material([tmp_path / "all"])
    shutil.rmtree(tmp_path / "all/light")
    (keyframes,) = mine.rglob("keyframes.json")
    known = json.loads(keyframes.read_text())
    keyframes.write_text(json.dumps({**known, "0": []}))
    (columns,) = mine.glob("data/*/*.parquet")
    table = pq.read_table(columns)
    place = table.column_names.index("annotation.keyframe")
    others = [
        mark and index > 0
        for mark, index in zip(
            *(table[key].to_pylist() for key in ("annotation.keyframe", "episode_index")), strict=True
        )
    ]
    pq.write_table(table.set_column(place, table.schema.field(place), pa.array(others)), columns)
    capsys.readouterr()
    assert len(find_material([mine]).episodes) == len(known) - 1
    assert f"1 of {len(known)} episodes (0) have no marked keyframes: they are left out" in capsys.readouterr().out


def test_a_robot_that_no_file_describes_and_an_empty_folder_are_told(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there are no episodes to learn from in .*kc-vla bag export"):
        find_material([tmp_path])
    info = next(data.rglob("info.json"))
    before = info.read_text()
    try:
        info.write_text(json.dumps({**json.loads(before), "robot_type": "unicorn"}))
        with pytest.raises(DataError, match="is of a robot 'unicorn': those of the stack are of "):
            find_material([data])
    finally:
        info.write_text(before)


def test_the_space_is_that_of_the_actions() -> None:
    assert isinstance(space_of(PIPER, ActionType.TOOL_DELTA), ToolSpace)
    assert space_of(PIPER, ActionType.JOINT_POSITION).moves == 6
