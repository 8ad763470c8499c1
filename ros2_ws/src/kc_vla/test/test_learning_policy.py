"""The policy learns from small drawn episodes what only a keyframe can tell; its training goes on where it stopped."""

import json
import shutil
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from drawn_plans import CPU, DOWN, SMALL, SPEED, asked, episode, given, learned, moment, write_episodes
from hypothesis import given as given_any
from hypothesis import strategies as st
from nightly import at_night

from kc_vla.cli import main
from kc_vla.core.robot import load_robot
from kc_vla.core.tasks import TASKS
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.inference.models import read_registry
from kc_vla.inference.onnx_sessions import open_session
from kc_vla.learning.common.config import ConfigError
from kc_vla.learning.common.device import Device
from kc_vla.learning.common.errors import DataError, TrainingRunError
from kc_vla.learning.policy.batches import begun_otherwise, with_a_false_one
from kc_vla.learning.policy.config import PRECISIONS, as_dict, load_policy_config
from kc_vla.learning.policy.export import ACTS, REMEMBERS, SEES, export_policy
from kc_vla.learning.policy.map_cache import maps_folder
from kc_vla.learning.policy.networks import draw_chunks
from kc_vla.learning.policy.run import CHECKPOINT, PolicyRun, trained_policy
from kc_vla.learning.policy.samples import PolicySamples, held_out, kept_before
from kc_vla.learning.policy.training import train_policy
from kc_vla.policy.history import History
from kc_vla.policy.interface import PolicyError, UnfitPolicyError
from kc_vla.policy.learned import LearnedBackend
from kc_vla.policy.model import load_policy
from kc_vla.policy.numbers import ActionScale, ToolSpace


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plans")
    write_episodes(folder / "light", 24)
    return folder


@pytest.fixture(scope="module")
def run(data: Path, tmp_path_factory: pytest.TempPathFactory) -> PolicyRun:
    return train_policy(tmp_path_factory.mktemp("run"), [data], SMALL, CPU)


def sides(run: PolicyRun, seeds: range, remembers: bool) -> np.ndarray:
    """Where the first 8 actions of a chunk bring the tool sideways, from a dark frame of each unseen episode, m."""
    stem, policy, scale = trained_policy(run)
    found = []
    for seed in seeds:
        shown = episode(seed)
        views = np.stack([shown.pictures[view] for view in run.views], 1)[[0, 5]]
        states = torch.from_numpy(ToolSpace().state_numbers(shown.states[[0, 5]]))
        with torch.inference_mode():
            maps = stem(torch.from_numpy(views).flatten(0, 1)).unflatten(0, (2, 2))
            memory = torch.zeros(1, SMALL.slots, policy.memory.numbers)
            memory[0, 0] = policy.memory(maps[:1], states[:1])[0]
            present = torch.zeros(1, SMALL.slots)
            present[0, 0] = float(remembers)
            known = policy.situation(memory, present, maps[1:], states[1:], torch.zeros(1, dtype=torch.int64))
            noise = torch.randn(1, 16, 7, generator=torch.Generator().manual_seed(seed))
            chunk = scale.actions(draw_chunks(policy.flow, noise, known.condition).numpy())
        found.append(chunk[0, :8, 1].sum())
    return np.array(found)


def test_what_only_the_keyframe_shows_decides_where_it_goes(run: PolicyRun) -> None:
    unseen = range(100, 120)
    wanted = np.where(np.arange(100, 120) % 2, 8 * SPEED, -8 * SPEED)
    shares = sides(run, unseen, remembers=True) / wanted
    assert shares.min() > 0
    assert 0.7 < np.median(shares) < 1.3
    right = np.sign(sides(run, unseen, remembers=False)) == np.sign(wanted)
    assert 0.2 < right.mean() < 0.8


def test_actions_that_run_already_begin_the_chunk(run: PolicyRun) -> None:
    _, policy, _ = trained_policy(run)
    frozen, runs = torch.zeros(1, 16, 7), torch.zeros(1, 16)
    frozen[:, :4], runs[:, :4] = 0.7, 1.0
    with torch.inference_mode():
        chunk = draw_chunks(policy.flow, torch.randn(1, 16, 7), torch.zeros(1, policy.sizes.width), frozen, runs)
    assert torch.equal(chunk[:, :4], frozen[:, :4])


def test_what_another_chunk_began_is_mended_by_what_comes_after() -> None:
    plan = torch.randn((200, 16, 7), generator=torch.Generator().manual_seed(0))
    late = torch.arange(200) % 7
    mended = begun_otherwise(plan, late, 6, torch.Generator().manual_seed(1))
    assert torch.equal(mended[late == 0], plan[late == 0])
    assert torch.equal(mended[..., 6], plan[..., 6])
    off = (mended - plan)[..., :6].cumsum(dim=1)
    when_told = off[torch.arange(200), (late - 1).clamp(min=0)]
    assert when_told[late == 6].abs().mean() > 2
    torch.testing.assert_close(off[late == 6, -1], when_told[late == 6] * 0.8**10)
    assert torch.equal(
        begun_otherwise(plan, late, 0, torch.Generator().manual_seed(1)), plan
    )  # positions add up to none


class Interrupted(Device):
    """The CPU, until somebody has had enough of it in the step with this number."""

    enough = 5

    def autocast(self) -> AbstractContextManager[object]:
        object.__setattr__(self, "enough", self.enough - 1)
        if self.enough == 0:
            raise KeyboardInterrupt
        return super().autocast()


@given_any(st.sets(st.integers(0, 40), max_size=6), st.integers(1, 9), st.integers(0, 99))
def test_a_false_keyframe_is_one_more_or_in_place_of_the_newest(rows: set[int], after: int, seed: int) -> None:
    known = np.array(sorted(rows), np.int64)
    row = (int(known[-1]) if len(known) else 0) + after
    given = with_a_false_one(known, row, np.random.default_rng(seed))
    assert given.tolist() == sorted(set(given.tolist()))
    assert given[:1].tolist() == known[:1].tolist()
    assert (given < row).all()
    assert len(set(given.tolist()) - rows) <= 1


def test_an_interrupted_training_comes_to_the_same_weights(data: Path, tmp_path: Path) -> None:
    short = replace(SMALL, steps=6, every=3)
    whole = train_policy(tmp_path / "whole", [data], short, CPU)
    with pytest.raises(KeyboardInterrupt):
        train_policy(tmp_path / "broken", [data], short, Interrupted("cpu"))
    broken = train_policy(tmp_path / "broken", [data], short, CPU)
    assert [line["epoch"] for line in broken.read_log()] == [2, 5]
    weights = broken.need(CHECKPOINT, "")["average"]
    for name, weight in whole.need(CHECKPOINT, "")["average"].items():
        torch.testing.assert_close(weights[name], weight, rtol=0, atol=0)


@pytest.mark.nightly
def test_a_round_begins_with_what_the_one_before_has_learnt(run: PolicyRun, data: Path, tmp_path: Path) -> None:
    quick = replace(SMALL, steps=2, every=2)
    again = train_policy(tmp_path / "again", [data], quick, CPU, run)
    fresh = train_policy(tmp_path / "fresh", [data], quick, CPU)
    assert again.read_log()[-1]["loss"] < 0.5 * fresh.read_log()[-1]["loss"]
    assert not (again.folder / "maps").exists()  # the pictures were looked at before
    with PolicyRun.begun(tmp_path / "later", {}, {"init": str(again.folder)}, {}) as later:
        assert later.maps == run.folder / "maps"
    with pytest.raises(DataError, match="has slots 3, not 2"):
        train_policy(tmp_path / "fourth", [data], replace(quick, slots=2), CPU, run)
    condensed = train_policy(tmp_path / "condensed", [data], replace(quick, condensed=True), CPU, run)
    assert condensed.read_log()[-1]["loss"] < 0.5 * fresh.read_log()[-1]["loss"]
    back = train_policy(tmp_path / "back", [data], replace(quick, structured=False), CPU, condensed)
    assert back.read_log()[-1]["loss"] < 0.5 * fresh.read_log()[-1]["loss"]


@pytest.mark.parametrize("condensed", [False, True])
def test_what_has_been_learnt_learns_another_instruction_besides(
    run: PolicyRun, data: Path, tmp_path: Path, condensed: bool
) -> None:
    write_episodes(tmp_path / "other", 3, "Go home.")
    still = replace(SMALL, steps=1, every=1, learning_rate=1e-9, condensed=condensed)
    first = train_policy(tmp_path / "first", [data], still, CPU, run)
    more = train_policy(tmp_path / "more", [tmp_path / "other"], still, CPU, first)
    assert more.instructions == (*run.instructions, "Go home.")
    before, after = (each.need(CHECKPOINT, "")["average"] for each in (first, more))
    known = len(run.instructions)
    for name, weight in after.items():
        kept = weight[:known] if name.endswith(("instruction.weight", "ask.weight")) else weight
        torch.testing.assert_close(kept, before[name], rtol=0, atol=1e-6)
    assert len(after["situation.instruction.weight"]) == known + 1


def test_another_wording_of_what_has_been_learnt_is_no_new_instruction(run: PolicyRun, tmp_path: Path) -> None:
    said, meant = TASKS["spatial"].wordings[0], TASKS["spatial"].instruction
    for name, instruction in (("first", meant), ("second", said)):
        write_episodes(tmp_path / name, 3, instruction)
    quick = replace(SMALL, steps=1, every=1)
    first = train_policy(tmp_path / "run", [tmp_path / "first"], quick, CPU)
    with pytest.raises(
        DataError, match=f"'{said}' is another wording of '{meant}', which .* was trained on: write it so"
    ):
        train_policy(tmp_path / "more", [tmp_path / "second"], quick, CPU, first)


@given_any(st.lists(st.integers(1, 13), max_size=40), st.integers(1, 4), st.integers(1, 30), st.data())
def test_frames_at_a_stride_are_as_near_as_they_were_kept(
    gaps: list[int], count: int, stride: int, data: st.DataObject
) -> None:
    frames, history = np.cumsum([0, *gaps]), History(count, stride)
    index = data.draw(st.integers(0, len(frames) - 1))
    found = kept_before(frames, index, history)
    assert list(found) == sorted(set(found))
    assert all(each < index for each in found)
    for wanted in history.frames(int(frames[index])):
        off = np.abs(frames[:index] - wanted)
        assert off[found].min() == off.min()


@pytest.mark.parametrize("history", ["none", *at_night("2 every 3")])
def test_what_is_learnt_from_is_what_the_model_is_given_later(
    history: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = train_policy(tmp_path / "run", [data], replace(SMALL, history=history, steps=4, every=4), CPU)
    assert main(["export", "policy", str(run.folder), "--models", str(tmp_path)]) == 0
    assert str(load_policy(tmp_path, "policy").history) == history
    if history == "none":
        backend, shown = LearnedBackend(load_policy(tmp_path, "policy"), load_robot("panda_sim"), "cpu"), episode(7)
        backend.reset(asked())
        blind, told = (backend.infer(given(shown, known)) for known in ([], [moment(shown, 0)]))
        np.testing.assert_array_equal(blind, told)
    else:
        with pytest.raises(PolicyError, match="was trained on frames at a stride"):
            learned(tmp_path)
        learned(tmp_path, strides=True)


def test_pictures_that_no_map_fits_are_refused() -> None:
    with pytest.raises(ConfigError, match="'image_size' is 100: it must be a multiple of 8"):
        load_policy_config(None, {"image_size": "100"})


def test_no_actions_need_to_run_already(data: Path, tmp_path: Path) -> None:
    small = replace(SMALL, frozen=0, steps=2, every=2)
    assert np.isfinite(train_policy(tmp_path / "run", [data], small, CPU).read_log()[-1]["loss"])


def test_an_episode_that_is_held_out_stays_so_however_many_are_recorded_later() -> None:
    def held(names: list[str]) -> set[str]:
        columns = dict.fromkeys(("maps", "states", "actions", "plans", "places", "frames", "waits", "shares"))
        which = np.arange(len(names))
        samples = PolicySamples(
            **columns, episodes=which, instructions=0 * which, keyframes=[], names=names, scale=None
        )
        samples = replace(samples, frames=which)
        return {name for name, out in zip(names, held_out(samples, 0.08), strict=True) if out}

    names = [f"identity standard train {number}" for number in range(400)]
    before = held(names[:120])
    assert 3 <= len(before) <= 20
    for more in (121, 250, 400):
        assert held(names[:more]) & set(names[:120]) == before
    assert len(held(names[:2])) == 1


def test_data_of_other_sizes_leave_nothing_behind_in_the_run_that_was_to_go_on(
    run: PolicyRun, data: Path, tmp_path: Path
) -> None:
    kept = sorted(maps_folder().iterdir())
    with pytest.raises(DataError, match="has image_size 32, not 64: set it so"):
        train_policy(tmp_path / "run", [data], replace(SMALL, image_size=64), CPU, init=run)
    assert sorted(maps_folder().iterdir()) == kept


def test_a_run_does_not_go_on_with_other_episodes(tmp_path: Path) -> None:
    write_episodes(tmp_path / "data/light", 4)
    few = replace(SMALL, steps=2, every=2)
    train_policy(tmp_path / "run", [tmp_path / "data"], few, CPU)
    write_episodes(tmp_path / "data/light", 6)
    with pytest.raises(TrainingRunError, match=r"data\.episodes"):
        train_policy(tmp_path / "run", [tmp_path / "data"], few, CPU)


@pytest.mark.nightly
def test_a_run_goes_on_where_it_and_its_data_were_moved_and_one_from_before_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_episodes(tmp_path / "here/data/light", 4)
    monkeypatch.chdir(tmp_path / "here")
    few = replace(SMALL, steps=2, every=2)
    train_policy(Path("run"), [Path("data")], few, CPU)
    shutil.copytree(tmp_path / "here", tmp_path / "there", copy_function=shutil.copyfile)  # at other times
    monkeypatch.chdir(tmp_path / "there")
    train_policy(Path("run"), [Path("data")], few, CPU)
    facts = json.loads(Path("run/run.json").read_text())
    del facts["data"]["episodes"]
    Path("run/run.json").write_text(json.dumps(facts))
    train_policy(Path("run"), [Path("data")], few, CPU)


def test_a_history_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ConfigError, match="no history 'some'"):
        load_policy_config(None, {"history": "some"})
    with pytest.raises(ConfigError, match="a history of 7 frames needs as many slots, not 6"):
        load_policy_config(None, {"history": "7 every 2"})


def test_a_run_from_before_there_was_a_setting_goes_on(tmp_path: Path) -> None:
    settings = as_dict(SMALL)
    before = {name: value for name, value in settings.items() if name != "history"}
    with PolicyRun.begun(tmp_path, before, {}, {}) as run:
        run.save(CHECKPOINT, {})
    with PolicyRun.begun(tmp_path, settings, {}, {}) as run:
        assert run.config == SMALL
    with (
        pytest.raises(TrainingRunError, match="history"),
        PolicyRun.begun(tmp_path, settings | {"history": "none"}, {}, {}),
    ):
        pass


def test_a_run_that_has_come_to_nothing_begins_anew_with_other_settings(tmp_path: Path) -> None:
    """Such as one that lacked its first weights, and is told to take others."""
    settings = as_dict(SMALL)
    with PolicyRun.begun(tmp_path, settings, {}, {"device": "cpu", "precision": "bf16"}) as run:
        assert run.arithmetic is None
    with PolicyRun.begun(tmp_path, settings | {"init": "shipped"}, {}, {}) as run:
        assert run.config.init == "shipped"


def test_a_run_is_begun_in_no_folder_of_others(
    data: Path, run: PolicyRun, models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (data, models):
        there = sorted(folder.rglob("*"))
        assert main(["train", "policy", "--data", str(data), "--output", str(folder), "--init", str(run.folder)]) == 1
        assert "holds something that kc-vla train policy has not made" in capsys.readouterr().err
        assert sorted(folder.rglob("*")) == there


def test_a_run_of_a_policy_is_no_selector(run: PolicyRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "selector", str(run.folder), "--models", str(tmp_path)]) == 1
    assert "is a run of kc-vla train policy, not of kc-vla train selector" in capsys.readouterr().err
    for folder, what in ((tmp_path / "no", "is no folder"), (tmp_path, "holds no training run")):
        assert main(["export", "policy", str(folder), "--models", str(tmp_path)]) == 1
        assert what in capsys.readouterr().err
    assert main(["train", "policy", "--init", str(tmp_path / "no"), "--output", str(tmp_path / "new")]) == 1
    assert "is no folder" in capsys.readouterr().err


@pytest.mark.nightly
def test_a_run_that_is_not_at_its_end_says_so_when_it_is_exported(
    run: PolicyRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = PolicyRun(shutil.copytree(run.folder, tmp_path / "cut"))
    cut.save(CHECKPOINT, {**cut.need(CHECKPOINT, ""), "step": 10})
    words = ["--models", str(tmp_path / "models"), "--precision", "fp32"]
    assert main(["export", "policy", str(cut.folder), *words]) == 0
    assert f"has come to step 10 of {SMALL.steps}" in capsys.readouterr().out
    assert read_registry(tmp_path / "models")["policy"]["source"]["steps"] == 10
    assert main(["export", "policy", str(run.folder), *words, "--replace"]) == 0
    assert "has come to step" not in capsys.readouterr().out


def test_two_processes_do_not_train_in_one_folder(tmp_path: Path) -> None:
    alone, settings = "another process trains in", as_dict(SMALL)
    with (
        PolicyRun.begun(tmp_path, settings, {}, {}),
        pytest.raises(TrainingRunError, match=alone),
        PolicyRun.begun(tmp_path, settings, {}, {}),
    ):
        pass
    with PolicyRun.begun(tmp_path, settings, {}, {}) as run:
        assert run.folder == tmp_path


def test_other_settings_do_not_go_on_with_a_run(run: PolicyRun, data: Path) -> None:
    with pytest.raises(TrainingRunError, match=r"learning_rate: 0\.001 there, 0\.002 here"):
        train_policy(run.folder, [data], replace(SMALL, learning_rate=0.002), CPU)


def test_its_log_tells_how_far_off_it_is(run: PolicyRun) -> None:
    first, last = run.read_log()
    assert last["loss"] < first["loss"]
    assert last["moving_off_m"] < 0.1
    assert 0.9 < last["right_place"] <= 1.0
    assert (run.folder / "curves.png").stat().st_size > 10_000


def test_one_episode_is_too_few(tmp_path: Path) -> None:
    write_episodes(tmp_path / "plans/light", 1)
    with pytest.raises(DataError, match="too few episodes"):
        train_policy(tmp_path / "run", [tmp_path / "plans"], SMALL, CPU)


def test_nothing_to_learn_from_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "policy", "--data", str(tmp_path), "--output", str(tmp_path / "run")]) == 1
    assert "kc-vla collect --plans" in capsys.readouterr().err


def test_a_damaged_episode_is_named(tmp_path: Path) -> None:
    folder = write_episodes(tmp_path / "plans/light", 3)
    (folder / "episode_000001.npz").write_bytes(b"PK")
    with pytest.raises(DataSetError, match=r"episode_000001\.npz cannot be read"):
        train_policy(tmp_path / "run", [tmp_path / "plans"], SMALL, CPU)


def test_a_setting_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="no setting 'stepps'"):
        load_policy_config(None, {"stepps": "3"})


def test_a_place_is_told_in_metres_where_it_is_near() -> None:
    states = np.array([[0.5, 0.0, 0.2, *DOWN, 1.0]], np.float32)
    places = states + np.array([[0.01, -0.02, 0.03, 0, 0, 0, 0, 0]], np.float32)
    numbers = ToolSpace().place_numbers(states, places, np.array([5]))
    np.testing.assert_allclose(ToolSpace().near_gap(numbers), [[0.01, -0.02, 0.03]], atol=1e-4)
    np.testing.assert_allclose(ToolSpace().gap(numbers), [[0.01, -0.02, 0.03]], atol=1e-6)


def test_actions_come_back_from_their_scale() -> None:
    plans = np.random.default_rng(0).normal(0, 0.01, (20, 16, 7)).astype(np.float32)
    scale = ActionScale.of(plans)
    np.testing.assert_allclose(scale.actions(scale.scaled(plans)), plans, atol=1e-6)
    wild = scale.actions(np.full((1, 16, 7), 50.0, np.float32))
    np.testing.assert_allclose(wild[0, 0], plans.max(axis=(0, 1)), atol=1e-6)  # no further than was ever shown


def test_the_exported_files_act_as_the_network(run: PolicyRun, tmp_path: Path) -> None:
    stem, policy, scale = trained_policy(run)
    export_policy(stem, policy, scale, SMALL.image_size, tmp_path)
    sees, remembers, acts = (open_session(tmp_path / name, "cpu") for name in (SEES, REMEMBERS, ACTS))
    shown, chance = episode(7), np.random.default_rng(0)
    pictures = np.stack([shown.pictures[view][0] for view in run.views])
    state = ToolSpace().state_numbers(shown.states[:1])
    (maps,) = sees.run(None, {"pictures": pictures})
    (remembered,) = remembers.run(None, {"maps": maps[None], "state": state})
    given = {
        "remembered": np.zeros((1, SMALL.slots, remembered.shape[1]), np.float32),
        "present": np.zeros((1, SMALL.slots), np.float32),
        "maps": maps[None],
        "state": state,
        "instruction": np.zeros(1, np.int64),
        "noise": chance.normal(size=(1, 16, 7)).astype(np.float32),
        "frozen": np.zeros((1, 16, 7), np.float32),
        "runs": np.zeros((1, 16), np.float32),
    }
    given["remembered"][0, 0], given["present"][0, 0] = remembered, 1.0
    given["frozen"][:, :3], given["runs"][:, :3] = 0.013, 1.0
    actions, place, rest = acts.run(None, given)
    with torch.inference_mode():
        seen = stem(torch.from_numpy(pictures))
        memory = torch.zeros(1, SMALL.slots, policy.memory.numbers)
        memory[0, 0] = policy.memory(seen[None], torch.from_numpy(state))[0]
        tensors = {name: torch.from_numpy(value) for name, value in given.items()}
        known = policy.situation(memory, tensors["present"], seen[None], tensors["state"], tensors["instruction"])
        frozen = torch.from_numpy(scale.scaled(given["frozen"])) * tensors["runs"][..., None]
        chunk = draw_chunks(policy.flow, tensors["noise"], known.condition, frozen, tensors["runs"])
    np.testing.assert_allclose(actions[0, 3:], scale.actions(chunk.numpy())[0, 3:], atol=1e-4)
    np.testing.assert_allclose(actions[0, :3], 0.013, atol=1e-6)
    np.testing.assert_allclose(place, known.place.numpy(), atol=1e-3)
    np.testing.assert_allclose(rest, torch.sigmoid(known.rest).numpy(), atol=1e-3)


@pytest.mark.nightly
def test_eight_bits_see_nearly_the_same_in_a_third_of_the_file(run: PolicyRun, tmp_path: Path) -> None:
    words = ["export", "policy", str(run.folder), "--models", str(tmp_path)]
    for precision in PRECISIONS:
        assert main([*words, "--precision", precision, "--name", precision]) == 0
        assert read_registry(tmp_path)[precision]["settings"]["precision"] == precision
    small, exact = (load_policy(tmp_path, name).stem for name in ("int8", "fp32"))
    assert small.stat().st_size < 0.6 * exact.stat().st_size  # which is in 16 bits
    shown = episode(7)
    pictures = np.stack([shown.pictures[view][0] for view in run.views])
    a, b = (open_session(path, "cpu").run(None, {"pictures": pictures})[0] for path in (small, exact))
    assert np.abs(a - b).mean() < 0.1 * np.abs(b).mean()


def test_eight_bits_need_what_was_learnt_from(
    run: PolicyRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "run"
    shutil.copytree(run.folder, copy)
    about = json.loads((copy / "run.json").read_text())
    about["data"]["train"] = [str(tmp_path / "gone")]
    (copy / "run.json").write_text(json.dumps(about))
    assert main(["export", "policy", str(copy), "--models", str(tmp_path / "models")]) == 1
    told = capsys.readouterr().err
    assert str(tmp_path / "gone") in told
    assert "--precision fp32" in told
    assert not (tmp_path / "models").exists()


@pytest.fixture(scope="module")
def models(run: PolicyRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    assert main(["export", "policy", str(run.folder), "--models", str(folder)]) == 0
    return folder


def test_a_policy_that_was_released_goes_where_the_keyframe_says(models: Path) -> None:
    backend = learned(models)
    sideways = []
    for seed in range(200, 212):
        shown = episode(seed)
        assert backend.reset(asked()) == ""
        chunk = backend.infer(given(shown, [moment(shown, 0)]))
        assert chunk.shape == (16, 7)
        assert chunk[:, 6].min() >= 0
        sideways.append(chunk[:8, 1].sum())
    assert (np.sign(sideways) == np.where(np.arange(200, 212) % 2, 1, -1)).mean() > 0.9


def test_many_keyframes_cost_no_more_looks_and_the_first_stays(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = learned(models)
    looks = []
    look = backend._look
    monkeypatch.setattr(backend, "_look", lambda views: looks.append(1) or look(views))
    backend.reset(asked())
    shown = episode(301)
    keyframes = [moment(shown, 0)]
    backend.infer(given(shown, keyframes))
    keyframes += [moment(shown, 4, frame) for frame in range(1, 50)]
    backend.infer(given(shown, keyframes))
    before = len(looks)
    one, two = (backend.infer(given(shown, keyframes)) for _ in range(2))
    assert len(looks) - before == 2  # at the present, twice
    np.testing.assert_array_equal(one, two)
    assert one[:8, 1].sum() > 0


def test_chunks_do_not_waver_unless_asked_to(models: Path) -> None:
    shown = episode(7)
    apart = []
    for noise in (0.0, 1.0):
        backend = learned(models, noise=noise)
        backend.reset(asked())
        now = given(shown, [moment(shown, 0)])
        one, two = (backend.infer(replace(now, frame=frame)) for frame in (20, 21))
        apart.append(np.abs(one - two).max())
    assert apart[0] == 0 < apart[1]


def test_the_actions_that_run_already_are_left_as_they_are(models: Path) -> None:
    backend = learned(models)
    backend.reset(asked())
    shown = episode(7)
    chunk = backend.infer(given(shown, [moment(shown, 0)], frozen=5))
    np.testing.assert_allclose(chunk[:5, :6], 0.011, atol=1e-6)


def test_what_does_not_fit_is_told_in_a_line(models: Path) -> None:
    with pytest.raises(PolicyError, match="moves a 'panda_sim', this robot is a 'piper'"):
        learned(models, robot="piper")
    with pytest.raises(PolicyError, match=r"no model 'other' in .*choose one of policy"):
        learned(models, model="other")
    backend = learned(models)
    with pytest.raises(PolicyError, match=r"does not know what to do for 'Dance\.': it was trained on 'Go where"):
        backend.reset(asked("Dance."))
    shown = episode(7)
    backend.reset(asked())
    blind = given(shown, [])
    blind.views.pop("wrist")  # type: ignore[attr-defined]
    with pytest.raises(PolicyError, match="there is no wrist here"):
        backend.infer(blind)


def test_weights_that_are_no_numbers_never_reach_the_arm(run: PolicyRun, models: Path, tmp_path: Path) -> None:
    stem, policy, scale = trained_policy(run)
    with torch.no_grad():
        next(policy.flow.parameters()).fill_(float("nan"))
    export_policy(stem, policy, scale, SMALL.image_size, tmp_path)
    model = replace(load_policy(models, "policy"), chunk=tmp_path / ACTS)
    backend = LearnedBackend(model, "cpu")
    backend.reset(asked())
    shown = episode(7)
    with pytest.raises(UnfitPolicyError, match="no finite numbers"):
        backend.infer(given(shown, [moment(shown, 0)]))


@pytest.mark.nightly  # of a selector: test_learning_pipeline.py
def test_a_model_is_not_replaced_unasked(run: PolicyRun, models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["export", "policy", str(run.folder), "--models", str(models)]
    assert main(words) == 1
    assert "has a model 'policy' already" in capsys.readouterr().err
    assert main([*words, "--replace"]) == 0
