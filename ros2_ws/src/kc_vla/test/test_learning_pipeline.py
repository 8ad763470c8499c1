"""A selector is trained, exported and judged on a small data set, with everything real but the pictures."""

import copy
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from lamp_episodes import write_lamp_data

from kc_vla.bags.lerobot.annotations import read_annotations
from kc_vla.episode import Episode
from kc_vla.keyframes.learned import LearnedScorer, LearnedSource, SelectorNetwork
from kc_vla.keyframes.model import load_selector
from kc_vla.keyframes.sources import Sight
from kc_vla.learning.cli import INTERRUPTED, main
from kc_vla.learning.evaluation import episode_scores
from kc_vla.learning.recordings import load_recordings
from kc_vla.learning.run import Run
from kc_vla.models import read_registry
from kc_vla.tasks import TASKS

SETTINGS = {
    "image_size": 32,
    "init": "scratch",
    "stage_one.epochs": 4,
    "stage_one.batch": 32,
    "stage_one.learning_rate": 1e-3,
    "stage_one.hue": 0.0,
    "stage_two.epochs": 10,
    "stage_two.first": 0,
    "stage_two.batch": 16,
    "stage_two.learning_rate": 1e-3,
}


def train(data: Path, output: Path, *more: str, **changes: object) -> int:
    settings = [f"--set={name}={value}" for name, value in {**SETTINGS, **changes}.items()]
    splits = [f"--data={data / 'train'}", f"--validation={data / 'validation'}"]
    return main(["train", "selector", *splits, f"--output={output}", "--device=cpu", *settings, *more])


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    """Several wait for each other on a busy machine."""
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("lamps")
    for seed, (split, episodes) in enumerate({"train": 6, "validation": 3, "test": 3}.items()):
        write_lamp_data(folder / split, episodes, seed)
    return folder


@pytest.fixture(scope="module")
def run(data, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "selector"
    assert train(data, folder) == 0
    return folder


@pytest.fixture(scope="module")
def models(data, run, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    splits = [f"--data={data / 'train'}", f"--validation={data / 'validation'}"]
    assert main(["export", "selector", str(run), *splits, f"--models={folder}"]) == 0
    return folder


def test_it_finds_the_keyframes_of_episodes_that_it_has_not_seen(data, models, tmp_path, capsys):
    where = [f"--data={data / 'test'}", f"--models={models}", f"--output={tmp_path}"]
    assert main(["eval", "selector", *where, "--disturbed", "--strips=1"]) == 0
    figures = json.loads((tmp_path / "metrics.json").read_text())["keyframe_selector"]["as recorded"]
    assert figures["average"]["free_f1"] > 0.9
    assert figures["average"]["episodes"] == 12
    assert "| counting |" in capsys.readouterr().out
    assert sorted(path.stem for path in tmp_path.glob("*.png")) == [f"{task}-000" for task in sorted(TASKS)]


def test_at_run_time_the_scores_are_those_of_the_evaluation(data, models):
    network = SelectorNetwork(load_selector(models, "keyframe_selector"), "cpu")
    recording = load_recordings(data / "test" / "counting")[0]
    scorer = LearnedScorer(network, "counting")
    pictures = list(recording.pictures(32))
    scores = [scorer.score(Sight(k, picture), 1) for k, picture in enumerate(pictures)]
    features = np.concatenate([network.features(picture[None]) for picture in pictures])
    np.testing.assert_allclose(scores, episode_scores(network, features, "counting")[:, 1], atol=1e-5)
    assert scorer.score(Sight(999, pictures[-1]), 5) == 0.0  # every phase is done


def test_the_task_is_taken_from_the_instruction(models):
    source = LearnedSource(SelectorNetwork(load_selector(models, "keyframe_selector"), "cpu"))
    asked = Episode("e-1", "", "Push the cube to the goal after two flashes of the lamp.", 0, 50_000_000, True)
    scoring = source.begin(asked)
    assert scoring.labels == TASKS["counting"].keyframes
    assert scoring.threshold == load_selector(models, "keyframe_selector").thresholds["counting"]
    with pytest.raises(ValueError, match="no known task has an instruction like 'Make tea"):
        source.begin(replace(asked, instruction="Make tea."))


def test_the_registry_tells_how_the_model_was_made(models):
    entry = read_registry(models)["keyframe_selector"]
    assert entry["source"]["method"] == "two-stage"
    assert entry["source"]["training"]["stage_one"]["epochs"] == 4
    assert set(entry["settings"]["tasks"]) == set(TASKS)
    assert entry["files"]["trunk"]["bytes"] < 12_000_000


def test_a_run_goes_on_from_the_first_stage_of_another(data, run, tmp_path, capsys):
    again = tmp_path / "again"
    assert train(data, again, f"--trunk={run}", **{"stage_two.epochs": 2}) == 0
    assert {line["stage"] for line in Run(again).read_log()} == {"stage two"}
    ours, theirs = (torch.load(folder / "trunk.pt", weights_only=True)["trunk"] for folder in (again, run))
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert not (again / "features").exists()  # those of the other run serve
    capsys.readouterr()
    assert train(data, tmp_path / "wrong", f"--trunk={run}", **{"stage_one.hue": 0.1}) == 1
    assert "was trained with other settings: only those of stage two may differ" in capsys.readouterr().err
    assert train(data, tmp_path / "joint", f"--trunk={run}", "--method=joint") == 1
    assert "the method 'joint' does not take the trunk of another run" in capsys.readouterr().err


def test_a_training_that_was_cut_off_twice_ends_as_if_it_had_not_been(data, run, tmp_path, monkeypatch):
    save, cut = Run.save, tmp_path / "cut"

    def interrupted_after(name: str, epochs: int) -> None:
        def interrupt(self: Run, now: str, state: dict) -> None:
            save(self, now, state)
            if now == name and state["epochs"] == epochs:
                raise KeyboardInterrupt

        monkeypatch.setattr(Run, "save", interrupt)
        assert train(data, cut) == INTERRUPTED

    interrupted_after("stage_one", 2)
    interrupted_after("stage_two", 6)
    monkeypatch.setattr(Run, "save", save)
    assert train(data, cut) == 0
    ours, theirs = (torch.load(folder / "stage_two.pt", weights_only=True)["head"] for folder in (cut, run))
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert (cut / "log.jsonl").read_text() == (run / "log.jsonl").read_text()


def test_the_trunk_is_truly_frozen_in_stage_two(run):
    before = torch.load(run / "stage_one.pt", weights_only=True)["trunk"]
    after = torch.load(run / "trunk.pt", weights_only=True)["trunk"]
    assert all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("method", ["no-metric", "joint"])
def test_the_papers_baselines_can_be_trained_and_exported(data, method, tmp_path):
    few = {"stage_two.epochs": 1}
    assert train(data, tmp_path / method, f"--method={method}", **few) == 0
    splits = [f"--data={data / 'train'}", f"--validation={data / 'validation'}"]
    name = [f"--models={tmp_path / 'models'}", f"--name={method}", "--precision=fp32"]
    assert main(["export", "selector", str(tmp_path / method), *splits, *name]) == 0
    assert read_registry(tmp_path / "models")[method]["source"]["method"] == method


def test_other_settings_in_the_folder_of_a_run_are_refused(data, run, capsys):
    assert train(data, run, **{"stage_one.margin": 0.5}) == 1
    told = "holds a run with other settings or data (config.stage_one.margin: 1.0 there, 0.5 here): choose another"
    assert told in capsys.readouterr().err


def test_two_selectors_have_pictures_of_their_own_and_tasks_not_learnt_are_left_out(data, models, tmp_path, capsys):
    shutil.copytree(models, tmp_path / "models")
    file = tmp_path / "models" / "registry.yaml"
    registry = yaml.safe_load(file.read_text())
    registry["narrow"] = copy.deepcopy(registry["keyframe_selector"])
    del registry["narrow"]["settings"]["tasks"]["identity"]
    file.write_text(yaml.safe_dump(registry))
    where = [f"--data={data / 'test'}", f"--models={tmp_path / 'models'}", f"--output={tmp_path / 'eval'}"]
    both = ["--model=keyframe_selector", "--model=narrow"]
    assert main(["eval", "selector", *where, *both, "--strips=1"]) == 0
    assert "narrow has not learnt identity: these episodes are left out." in capsys.readouterr().out
    tables = json.loads((tmp_path / "eval" / "metrics.json").read_text())
    assert set(tables["keyframe_selector"]["as recorded"]) == {*TASKS, "average"}
    assert set(tables["narrow"]["as recorded"]) == {*TASKS, "average"} - {"identity"}
    drawn = {path.parent.name: len(list(path.parent.iterdir())) for path in (tmp_path / "eval").glob("*/*.png")}
    assert drawn == {"keyframe_selector": len(TASKS), "narrow": len(TASKS) - 1}
    words = [f"--data={data / 'test' / 'identity'}", *where[1:], "--model=narrow"]
    assert main(["eval", "selector", *words]) == 1
    assert "model 'narrow' knows counting, spatial, temporal: the episodes are of identity" in capsys.readouterr().err


def test_a_model_has_a_name_that_a_folder_can_have(data, run, tmp_path, capsys):
    splits = [f"--data={data / 'train'}", f"--validation={data / 'validation'}"]
    assert main(["export", "selector", str(run), *splits, f"--models={tmp_path}", "--name=up/../there"]) == 1
    assert "a model cannot be called 'up/../there'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_data_set_that_is_not_there_leaves_no_run(data, tmp_path, capsys):
    assert train(tmp_path / "nowhere", tmp_path / "run") == 1
    assert str(tmp_path / "nowhere") in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_not_finished_cannot_be_exported(data, tmp_path, capsys):
    (tmp_path / "run.json").write_text(json.dumps({"config": {}, "data": {"method": "two-stage"}}))
    splits = [f"--data={data / 'train'}", f"--validation={data / 'validation'}", f"--models={tmp_path}"]
    assert main(["export", "selector", str(tmp_path), *splits]) == 1
    assert "has no stage_two.pt: finish it with kc-vla train selector" in capsys.readouterr().err


def test_a_task_of_one_keyframe_is_told_with_its_episode(data, tmp_path, capsys):
    bad = tmp_path / "data"
    shutil.copytree(data, bad)
    (bad / "train" / "spatial" / "meta" / "keyframes.json").write_text(json.dumps({str(k): [0] for k in range(6)}))
    assert train(bad, tmp_path / "run") == 1
    assert "spatial episode 0: no keyframe is annotated but frame 0" in capsys.readouterr().err


def test_a_video_that_ends_early_is_told_with_its_frame(data, tmp_path, capsys):
    bad = tmp_path / "data"
    shutil.copytree(data, bad)
    video = next((bad / "train" / "counting").rglob("episode_000002.mp4"))
    for path in (bad / "train" / "counting").rglob("episode_000002.mp4"):
        path.write_bytes(path.read_bytes()[:-400])
    assert video.exists()
    assert train(bad, tmp_path / "run") == 1
    error = capsys.readouterr().err
    assert "episode 2" in error
    assert "frame" in error


def test_rules_annotate_without_the_truth_and_overwrite_nothing(data, tmp_path, capsys):
    words = ["annotate", "rules", f"--data={data / 'validation'}", f"--output={tmp_path / 'rules'}"]
    assert main(words) == 0
    written = [Path(line) for line in capsys.readouterr().out.split()]
    recordings = load_recordings(data / "validation")
    rows = [row for path in written for row in read_annotations(path)]
    assert len([row for row in rows if row.phase == 0 and row.frame == 0]) == len(recordings)
    assert {row.source for row in rows} == {"rules"}
    before = [path.read_text() for path in written]
    assert main(words) == 1
    assert "is there already" in capsys.readouterr().err
    assert [path.read_text() for path in written] == before
