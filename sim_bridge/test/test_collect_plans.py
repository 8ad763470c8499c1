"""What `kc-vla collect --plans` leaves: few frames, every keyframe, and what the expert would do from each."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from kc_vla.cli import main
from kc_vla.datasets.planned import PlannedEpisode, read_folder, read_planned
from kc_vla_sim.collect.planned import HORIZON, PlannedSegment, drawn_size, next_place
from kc_vla_sim.collect.record import RecordingSetting
from kc_vla_sim.envs.counting import CountingRanges
from kc_vla_sim.envs.cube_stack import MIDDLE, TOP
from kc_vla_sim.envs.identity import IdentityRanges
from kc_vla_sim.envs.spatial import SpatialRanges
from kc_vla_sim.envs.tabletop import without_whims
from kc_vla_sim.envs.temporal import TemporalRanges
from kc_vla_sim.experts.tool import REACHED_SHARE
from kc_vla_sim.simulator import Simulator

WANTED = ["--plans", "--task", "counting", "--variant", "paper", "--split", "development", "--image-size", "32"]
SET = "development/counting"


def collect(output: Path, episodes: int, *more: str) -> int:
    return main(["collect", *WANTED, "--episodes", str(episodes), "--output", str(output), "--processes", "1", *more])


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("plans")
    assert collect(output, 2) == 0
    return output / SET


@pytest.fixture(scope="module")
def episode(collected: Path) -> PlannedEpisode:
    return read_planned(read_folder(collected).file(1))


@pytest.mark.nightly
def test_few_frames_are_kept_and_all_keyframes(episode: PlannedEpisode) -> None:
    assert len(episode.frames) < 0.6 * episode.frames[-1]
    assert episode.frames[0] == 0
    assert set(episode.keyframes) <= set(episode.frames)
    assert len(episode.keyframes) >= 2
    assert episode.pictures["wrist"].shape == (len(episode.frames), 32, 32, 3)
    assert episode.plans.shape[1:] == (HORIZON, 7)


@pytest.mark.nightly
def test_what_events_take_for_keyframes_is_kept_too_and_nothing_else_is_changed(
    episode: PlannedEpisode, tmp_path: Path
) -> None:
    assert collect(tmp_path, 1, "--skip", "1", "--events") == 0
    looked = read_planned(read_folder(tmp_path / SET).file(0))
    assert episode.events is None
    assert looked.events is not None
    assert looked.events[0] == 0
    assert set(looked.events) <= set(looked.frames)
    found = [np.abs(looked.events - keyframe).min() <= 10 for keyframe in episode.keyframes]  # the lamp goes on, or off
    assert sum(found) >= 3  # where the arm is pushed off its way it does not look
    at = np.searchsorted(looked.frames, episode.frames)
    np.testing.assert_array_equal(looked.frames[at], episode.frames)
    np.testing.assert_array_equal(looked.plans[at], episode.plans)
    np.testing.assert_array_equal(looked.keyframes, episode.keyframes)
    np.testing.assert_array_equal(looked.pictures["wrist"][at], episode.pictures["wrist"])


def test_events_go_with_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", *WANTED[1:], "--events", "--output", str(tmp_path / "data")]) == 1
    assert "--events goes with --plans" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


@pytest.mark.nightly
def test_seeds_that_another_folder_has_are_left_out(episode: PlannedEpisode, tmp_path: Path) -> None:
    assert collect(tmp_path, 1, "--skip", "1") == 0
    assert read_planned(read_folder(tmp_path / SET).file(0)).about == episode.about


@pytest.mark.nightly
def test_the_first_frames_alone_are_kept_where_starts_are_wanted(episode: PlannedEpisode, tmp_path: Path) -> None:
    assert collect(tmp_path, 1, "--skip", "1", "--stretch", "40") == 0
    start = read_planned(read_folder(tmp_path / SET).file(0))
    assert start.frames[-1] < 40
    np.testing.assert_array_equal(start.frames, episode.frames[: len(start.frames)])
    np.testing.assert_array_equal(start.plans, episode.plans[: len(start.frames)])


@pytest.mark.nightly
def test_a_middle_alone_is_kept_with_the_keyframes_before_it(episode: PlannedEpisode, tmp_path: Path) -> None:
    assert collect(tmp_path, 1, "--skip", "1", "--stretch", "60", "--begin-by", "400") == 0
    part = read_planned(read_folder(tmp_path / SET).file(0))
    begins = PlannedSegment(60, 400).begins(int(part.about["seed"]))
    assert 0 < begins <= 400
    before = part.frames < begins
    assert set(part.frames[before]) == {0, *episode.keyframes[episode.keyframes < begins]}
    assert part.frames[-1] < begins + 60
    assert set(part.frames) <= set(episode.frames)


def test_a_part_alone_is_no_data_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["collect", *WANTED[1:], "--stretch", "40", "--output", str(tmp_path / "data")]
    assert main(words) == 1
    assert "they go with --plans" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_pictures_are_drawn_at_other_sizes_than_they_are_kept() -> None:
    setting = RecordingSetting("standard", "standard", 32, "cpu")
    assert {drawn_size(setting, seed) for seed in range(40)} == {32, 48, 64, 80}


@pytest.mark.nightly
def test_the_expert_waits_in_its_plans_as_long_as_the_lamp_may_still_flash(episode: PlannedEpisode) -> None:
    """The executed actions know when it ends; the plan must not."""
    waits = episode.phases == "wait"
    assert waits.sum() > 3
    assert np.abs(episode.plans[waits][:, :, :3]).max() < 0.01 / REACHED_SHARE


@pytest.mark.nightly
def test_the_next_place_of_a_push_is_where_it_ends(episode: PlannedEpisode) -> None:
    pushes = np.flatnonzero(episode.phases == "push")
    gaps = np.linalg.norm(episode.places[pushes, :3] - episode.states[pushes, :3], axis=1)
    assert gaps[0] > 0.04
    assert gaps[-1] < gaps[0]


def test_the_next_place_is_where_the_gripper_changes() -> None:
    state = np.array([0.5, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0, 1.0])
    plan = np.zeros((8, 7), np.float32)
    plan[:, 0], plan[:, 6] = 0.01 / REACHED_SHARE, 1.0
    plan[5:, 6] = 0.0
    place, ahead = next_place(state, plan, gripper=1.0)
    assert ahead == 5
    np.testing.assert_allclose(place, [0.55, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0, 0.0], atol=1e-6)
    assert next_place(state, plan, gripper=0.0)[1] == 0
    plan[:, 6] = 1.0
    assert next_place(state, plan, gripper=1.0)[1] == 7


@pytest.mark.nightly
def test_it_goes_on_where_it_ended_and_makes_the_same_again(collected: Path, tmp_path: Path) -> None:
    assert collect(tmp_path, 1) == 0
    assert collect(tmp_path, 2) == 0
    again, before = (read_folder(path) for path in (tmp_path / SET, collected))
    for one, other in zip(again.files(), before.files(), strict=True):
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.nightly
def test_another_way_of_collecting_is_refused(collected: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collect(collected.parents[1], 2, "--visual-randomization", "varied") == 1
    assert "begun with looks 'standard', not 'varied'" in capsys.readouterr().err


@pytest.mark.parametrize("ranges", [TemporalRanges(), SpatialRanges(), IdentityRanges(), CountingRanges()])
def test_an_expert_that_is_learnt_from_has_no_whims_and_everything_else_stays(ranges: Any) -> None:
    quick = without_whims(ranges)
    for field in fields(ranges):
        before, after = getattr(ranges, field.name), getattr(quick, field.name)
        if field.name in getattr(ranges, "HIDDEN_WAITS", ()):
            assert np.max(after) < np.max(before)
            assert np.max(after) <= 0.05
        elif field.name in getattr(ranges, "HIDDEN_CHOICES", ()):
            assert after == (np.mean(before),) * 2
        else:
            assert after == before


@pytest.mark.nightly
@pytest.mark.parametrize("task", ["temporal", "spatial"])
def test_an_expert_without_whims_goes_from_cube_to_cube_and_succeeds(task: str) -> None:
    simulator = Simulator(32, draw=False, whims=False)
    frame = simulator.reset(task, 3)
    speeds, phases = [], set()
    while not frame.done:
        plan, phase = simulator.expert.plan(1)
        speeds.append(np.abs(plan[0, :6]).max())
        phases.add(phase)
        frame = simulator.step(plan[0])
    assert frame.success, frame.reason
    assert frame.index < 300  # no wait of up to 60 s before the first lift
    assert not phases & {"start", "go", "wait"}  # no picture tells that the hand has been home
    assert (np.array(speeds[:-10]) < 1e-3).mean() < 0.2  # it stops where it grips and lets go, nowhere else
    simulator.close()


@pytest.mark.nightly
def test_an_expert_without_whims_sets_off_while_the_other_arm_is_seen_to_leave() -> None:
    """Nothing shows how long that one has stood still."""
    simulator = Simulator(32, draw=False, whims=False)
    frame = simulator.reset("identity", 3)
    teacher: Any = simulator._world.teacher
    while np.abs(simulator.expert.plan(1)[0][0, :3]).max() < 0.01:
        frame = simulator.step(simulator.expert.plan(1)[0][0])
    assert torch.linalg.norm(teacher.tcp.linear_velocity) > 0.1
    while not frame.done:
        frame = simulator.step(simulator.expert.plan(1)[0][0])
    assert frame.success, frame.reason
    simulator.close()


def test_where_a_cube_is_put_aside_without_whims_does_not_tell_the_order() -> None:
    simulator = Simulator(32, draw=False, whims=False)
    simulator.reset("spatial", 0)
    world: Any = simulator._world
    before = _by_colour(world)
    world.order[:, [TOP, MIDDLE]] = world.order[:, [MIDDLE, TOP]]
    world._place_by_colour(torch.tensor([0]))
    assert _by_colour(world) == before
    simulator.close()


def _by_colour(world: Any) -> dict[int, list[float]]:
    """Return where each cube is put aside."""
    return {
        int(world.order[0, TOP]): world.places[0, 1].tolist(),
        int(world.order[0, MIDDLE]): world.places[0, 2].tolist(),
    }
