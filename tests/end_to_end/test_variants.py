"""The other ways to run the same episode: again, beside another stack, from a bag, by rules or events, in real time."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from chance_model import write_chance_model
from finished_run import FinishedRun, assert_succeeded, committed_frames, oracle_frames
from stack import Stack

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode


def assert_same_actions(run: FinishedRun, other: FinishedRun) -> None:
    """In every control step the arm was told the same, number for number."""
    assert run.actions.keys() == other.actions.keys()
    for step, values in run.actions.items():
        np.testing.assert_array_equal(values, other.actions[step], err_msg=f"step {step}")


def assert_same_pictures(run: FinishedRun, other: FinishedRun) -> None:
    """Both cameras saw the same in every frame, pixel for pixel; a recorder may lose a frame on a busy machine."""
    mine = {frame.index: frame for frame in run.episode.frames}
    theirs = {frame.index: frame for frame in other.episode.frames}
    both = mine.keys() & theirs.keys()
    assert len(both) > 0.9 * len(theirs)
    for index in sorted(both):
        for camera in ("third_person", "wrist"):
            pictures = [frames[index].pictures.get(camera) for frames in (mine, theirs)]
            if None not in pictures:
                np.testing.assert_array_equal(
                    run.episode.image(pictures[0]), other.episode.image(pictures[1]), f"{camera}, frame {index}"
                )


@pytest.mark.nightly
@pytest.mark.parametrize(("simulator", "alone"), [("toy", "toy_run"), ("maniskill", "good_run")])
def test_two_stacks_in_one_folder_repeat_the_episode_and_do_not_mix(
    launch: Callable[..., Stack], request: pytest.FixtureRequest, simulator: str, alone: str, other_domain: int
) -> None:
    """Two stacks with different domains at once: each is the same episode as the one that ran alone."""
    ran_alone: FinishedRun = request.getfixturevalue(alone)
    first = launch(seed=3, simulator=simulator)
    second = launch(seed=3, simulator=simulator, environment={"ROS_DOMAIN_ID": str(other_domain)})
    runs = [FinishedRun.of(first), FinishedRun.of(second)]
    assert runs[0].folder != runs[1].folder
    for run in runs:
        assert run.exit_code == 0
        assert run.text.count("keyframe 1 'flash 1 on' confirmed") == 1
        assert run.episode.message_counts["/episode/result"] == 1
        assert_succeeded(run.episode)
        assert_same_actions(run, ran_alone)
        assert_same_pictures(run, ran_alone)


@pytest.mark.nightly
def test_a_bag_is_replayed_and_the_rules_find_the_keyframes(launch: Callable[..., Stack], toy_run: FinishedRun) -> None:
    run = FinishedRun.of(launch(seed=3, policy="replay", bag=toy_run.bag, selector="rules"))
    assert run.exit_code == 0
    assert run.episode.result is not None
    assert run.episode.result.success
    assert {chunk.backend for chunk in run.episode.chunks} == {"replay"}
    assert_same_actions(run, toy_run)
    assert {score.source for score in run.episode.scores.values()} == {"rules"}
    found, wanted = committed_frames(run.episode), oracle_frames(run.episode)
    assert len(found) == len(wanted)
    assert all(abs(a - b) <= 1 for a, b in zip(found, wanted, strict=True)), (found, wanted)


@pytest.mark.nightly
def test_a_bag_is_replayed_and_events_find_the_keyframes_without_the_task(
    launch: Callable[..., Stack], toy_run: FinishedRun
) -> None:
    """With the trunk that comes with the stack, which has never seen the toy's lamp; the arm's stops are events too."""
    run = FinishedRun.of(launch(seed=3, policy="replay", bag=toy_run.bag, selector="events"))
    assert run.exit_code == 0
    assert {score.source for score in run.episode.scores.values()} == {"events"}
    assert [k.label for k in run.episode.keyframes[:3]] == ["start", "event 1", "event 2"]
    found, wanted = committed_frames(run.episode), oracle_frames(run.episode)
    assert all(min(abs(frame - true) for frame in found) <= 10 for true in wanted), (found, wanted)
    assert len(found) <= 2 * len(wanted)


@pytest.mark.nightly
def test_a_learned_selector_scores_every_frame_from_the_pictures_alone(
    launch: Callable[..., Stack], tmp_path: Path
) -> None:
    """Its weights are those of chance, with a threshold that nothing reaches: what is tested is all around it."""
    models = write_chance_model(tmp_path, threshold=1.0)
    run = FinishedRun.of(launch(seed=3, selector="learned", models=models))
    assert run.exit_code == 0
    scores = run.episode.scores
    assert [scores[frame].phase for frame in (0, 1)] == [1, 1]  # frame 0 is a keyframe, with any selector
    assert committed_frames(run.episode) == [0]
    values = np.array([score.score for frame, score in scores.items() if frame > 0])
    assert np.isfinite(values).all()
    assert len(set(values.round(4))) > 10  # it looks at the pictures
    assert {score.source for score in scores.values()} == {"learned"}
    assert {score.threshold for score in scores.values()} == {1.0}


@pytest.mark.nightly
def test_the_shipped_selector_finds_the_keyframes_from_the_pictures_alone(launch: Callable[..., Stack]) -> None:
    """As the launch file has it by default, with pictures as large as the cameras'; without a graph it is tried in
    sim_bridge/test/test_shipped_selector.py.
    """
    run = FinishedRun.of(launch(seed=3, simulator="maniskill", selector="learned", image_size=256))
    assert run.exit_code == 0
    assert {score.source for score in run.episode.scores.values()} == {"learned"}
    found, wanted = committed_frames(run.episode), oracle_frames(run.episode)
    assert len(found) == len(wanted)
    assert all(abs(a - b) <= 10 for a, b in zip(found, wanted, strict=True)), (found, wanted)


@pytest.mark.nightly
def test_two_episodes_in_real_time_end_by_themselves_and_the_arm_holds_where_it_is_late(
    launch: Callable[..., Stack],
) -> None:
    """On a slow machine the task may fail; the run may not, and no command may be made up."""
    stack = launch(seed=3, episodes=2, mode="realtime")
    code = stack.finish()
    assert "Traceback" not in stack.text
    bags = [RecordedEpisode(episode.bag) for episode in stack.all_episodes()]
    assert [bag.status.seed for bag in bags] == [3, 4]
    succeeded = sum(bag.result is not None and bag.result.success for bag in bags)
    assert f"{succeeded} of 2 episodes succeeded" in stack.text
    assert code == (0 if succeeded == 2 else 1)
    (path,) = stack.output.glob("run-*.json")
    table = json.loads(path.read_text())
    assert (table["episodes"], table["succeeded"]) == (2, succeeded)
    assert [row["episode"] for row in table["table"]] == [bag.status.episode_id for bag in bags]
    page = path.with_suffix(".html").read_text()
    assert f"page:  {path.with_suffix('.html')}" in stack.text
    assert all(f"./{bag.status.episode_id}/episode.mp4" in page for bag in bags)
    assert f"{succeeded} of 2</b> episodes succeeded" in page
    for command in (command for bag in bags for command in bag.commands):
        if command.mode == CommandMode.HOLD:
            assert command.reason
            assert command.values.size == 0
        else:
            assert np.isfinite(command.values).all()
            assert np.abs(command.values[:6]).max() <= 0.1 + 1e-6
