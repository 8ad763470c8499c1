"""The tasks and cameras of data sets that others made."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from data_sets import picture, write_data_set

from kc_vla.bags.errors import BagError
from kc_vla.core.tasks import TASKS, Task
from kc_vla.datasets.lerobot.v3_writer import V3Writer
from kc_vla.keyframes.cameras import THIRD_PERSON, CameraChoiceError, parse_cameras
from kc_vla.keyframes.image_crop import side_by_side
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.selector.evaluation import AS_RECORDED, chance_seed
from kc_vla.learning.selector.recordings import load_recordings
from kc_vla.learning.selector.run import SelectorRun

KEYFRAMES = (0, 6, 9, 15, 20)
STIR = "Stir the soup three times."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data_set(tmp_path_factory.mktemp("made") / "counting", (30, 24), KEYFRAMES)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A data set to change."""
    return Path(shutil.copytree(made, tmp_path / "data" / "counting"))


def authors(folder: Path, instruction: str, keyframes: dict[int, list[int]]) -> None:
    """Make the data set one in the form of the paper's authors: instructions and `keyframes.json` alone."""
    rows = [json.loads(line) for line in (folder / "meta/episodes.jsonl").read_text().splitlines()]
    kept = [{"episode_index": row["episode_index"], "tasks": [instruction], "length": row["length"]} for row in rows]
    (folder / "meta/episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    tasks = [{**json.loads(row), "task": instruction} for row in (folder / "meta/tasks.jsonl").read_text().splitlines()]
    (folder / "meta/tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in tasks))
    (folder / "meta/annotations.jsonl").unlink()
    mark(folder, keyframes)


def mark(folder: Path, keyframes: dict[int, list[int]]) -> None:
    (folder / "meta/keyframes.json").write_text(json.dumps(keyframes))


def test_a_task_that_nobody_knows_has_the_keyframes_of_its_data_set(folder: Path) -> None:
    authors(folder, STIR, {0: [0, 5, 8], 1: [0, 7, 9]})
    notes: list[str] = []
    recordings = load_recordings(folder, tell=notes.append)
    labels = ("start", "keyframe 1", "keyframe 2")
    assert {r.task for r in recordings} == {Task("stir_the_soup_three_times", STIR, labels)}
    assert [r.keyframes for r in recordings] == [(0, 5, 8), (0, 7, 9)]
    assert len(notes) == 1
    assert "is in no task table: task 'stir_the_soup_three_times' of 3 keyframes, as its data set has them" in notes[0]


def test_its_labels_are_those_of_the_annotations(folder: Path) -> None:
    text = (folder / "meta/episodes.jsonl").read_text().replace('"task": "counting"', '"task": "stir"')
    (folder / "meta/episodes.jsonl").write_text(text.replace("Wait for the", "Stir at the"))
    (task,) = {r.task for r in load_recordings(folder, tell=lambda note: None)}
    assert (task.name, task.keyframes) == ("stir", TASKS["counting"].keyframes)


def test_a_file_of_tasks_gives_name_and_labels_to_any_number_of_keyframes(folder: Path) -> None:
    authors(folder, STIR, {0: list(range(12)), 1: list(range(0, 24, 2))})
    stir = Task("stir", "Stir the soup.", tuple(f"turn {k}" for k in range(12)), wordings=(STIR.lower(),))
    notes: list[str] = []
    assert [r.task for r in load_recordings(folder, {"stir": stir}, tell=notes.append)] == [stir, stir]
    assert notes == []
    with pytest.raises(DataError, match="counting episode 0: 12 keyframes, but 'stir' has 2: correct them"):
        load_recordings(folder, {"stir": Task("stir", STIR, ("start", "turn"))})


def test_a_file_of_tasks_goes_before_the_task_table(made: Path) -> None:
    lamp = Task("counting", TASKS["counting"].instruction, ("a", "b", "c", "d", "e"))
    assert {r.task for r in load_recordings(made, {"counting": lamp})} == {lamp}


def test_a_task_without_keyframes_to_wait_for_is_outside_the_selector_and_the_others_go_on(folder: Path) -> None:
    write_data_set(folder.parent / "spatial", (14, 14), (0, 4, 6, 8), task="spatial")
    mark(folder.parent / "spatial", {0: [0], 1: [0]})
    notes: list[str] = []
    assert {r.task.name for r in load_recordings(folder.parent, tell=notes.append)} == {"counting"}
    assert notes == [
        "'spatial' has no keyframe but frame 0: there is nothing to select, it is outside the selector; "
        "its 2 episodes are left out"
    ]


@pytest.mark.parametrize("none", [[0], []])
def test_missing_keyframes_are_told_with_their_episodes(folder: Path, none: list[int]) -> None:
    notes: list[str] = []
    info = folder / "meta/info.json"
    info.write_text(info.read_text().replace("annotation.keyframe", "annotation.other"))
    mark(folder, {0: [0, 4, 8, 9], 1: none})
    assert [r.episode for r in load_recordings(folder, tell=notes.append)] == [0]
    assert notes == [
        "counting: 1 episodes of 'counting' (1) have no keyframe but frame 0: they are left out; annotate them to "
        "learn from them",
        "counting: 1 episodes of 'counting' (0) have 4 of 5 keyframes: 'flash 2 off' taken as not reached",
    ]


def test_an_episode_without_any_instruction_is_refused(folder: Path) -> None:
    authors(folder, " ", {0: [0, 5], 1: [0, 7]})
    with pytest.raises(DataError, match="counting episode 0: it has no instruction, which tells its task"):
        load_recordings(folder)


def test_version_3_is_learnt_from_directly(made: Path, tmp_path: Path) -> None:
    written = write_data_set(tmp_path / "v3", writer_of=V3Writer)
    second, third = load_recordings(made)[1], load_recordings(written)[1]
    assert (third.task, third.keyframes) == (second.task, second.keyframes)
    assert all(np.array_equal(*pair) for pair in zip(second.pictures(32), third.pictures(32), strict=True))


def test_cameras_are_chosen_by_view_and_stand_side_by_side(made: Path) -> None:
    for words in (["wrist"], ["wrist", "third_person"]):
        cameras = parse_cameras(words)
        seen = list(load_recordings(made, cameras=cameras)[1].pictures(32))
        assert len(seen) == 24
        wanted = side_by_side([picture(camera.view, 1, 7) for camera in cameras], 32)
        assert seen[7].shape == wanted.shape == (32, 32 * len(words), 3)
        assert np.abs(seen[7].astype(int) - wanted).mean() < 6


def test_a_camera_of_an_unusual_name_is_chosen_by_it(folder: Path) -> None:
    text = (folder / "meta/info.json").read_text()
    (folder / "meta/info.json").write_text(text.replace("images.third_person", "images.cam_7"))
    videos = folder / "videos/chunk-000"
    (videos / "observation.images.third_person").rename(videos / "observation.images.cam_7")
    with pytest.raises(BagError, match=r"counting has no camera 'third_person': it has observation\.images\.cam_7, "):
        load_recordings(folder)
    for name in ("cam_7", "observation.images.cam_7"):
        cameras = parse_cameras([f"third_person={name}"])
        assert len(list(load_recordings(folder, cameras=cameras)[0].pictures(32))) == 30


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["cam 7"], "no camera 'cam 7': write a view of the robot, .* what it does: third_person=cam 7"),
        (["images.side=cam_7"], "no camera 'images.side=cam_7': write .*: third_person=cam_7"),
        (["joints"], "no camera 'joints'"),
        (["wrist="], "camera 'wrist=': what the data set calls it is missing"),
        (["wrist", "wrist=hand"], "camera 'wrist' is named twice: 'wrist', 'wrist=hand'"),
        ([], "no camera at all"),
    ],
)
def test_a_choice_of_cameras_that_cannot_be_is_told(words: list[str], told: str) -> None:
    with pytest.raises(CameraChoiceError, match=told):
        parse_cameras(words)


def test_cameras_survive_their_text() -> None:
    for words in (["third_person"], ["third_person=cam_7", "wrist"], ["third_person", "side=cam_7", "front"]):
        assert [str(camera) for camera in parse_cameras(words)] == words
    assert parse_cameras(["third_person"]) == (THIRD_PERSON,)


def test_a_new_task_changes_nothing_of_what_was_trained_and_measured_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"config": {}, "data": {"method": "two-stage"}}))
    seeds = {task: chance_seed(7, task, AS_RECORDED) for task in TASKS}
    monkeypatch.setitem(TASKS, "aiming", Task("aiming", "Aim.", ("start",)))
    assert list(SelectorRun(tmp_path).tasks) == ["counting", "identity", "spatial", "temporal"]
    assert {task: chance_seed(7, task, AS_RECORDED) for task in seeds} == seeds
