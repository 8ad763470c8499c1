from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.core.tasks import Task
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.selector.config import Config, StageOne, StageTwo
from kc_vla.learning.selector.recordings import LabeledEpisode, check_enough
from kc_vla.learning.selector.samples import at_speeds, draw_samples, draw_speeds, recorded_frames
from kc_vla.learning.selector.triplets import NegativeKind, TripletSampler

TASKS = [Task(f"task {number}", "", ("start",)) for number in range(4)]


def recording(task: int, keyframes: tuple[int, ...], length: int = 120, episode: int = 0) -> LabeledEpisode:
    return LabeledEpisode(f"task {task} episode {episode}", TASKS[task], length, keyframes, cast(Any, None), episode)


@pytest.fixture
def recordings() -> list[LabeledEpisode]:
    return [recording(task, (0, 20 + e, 60 + e, 100 + e), episode=e) for task in range(3) for e in range(5)]


def test_each_keyframe_is_an_anchor_once_an_epoch(recordings):
    sampler = TripletSampler(recordings, StageOne())
    anchors = sampler.epoch(np.random.default_rng(0)).frames[:, 0].tolist()
    wanted = [[k, frame] for k, r in enumerate(recordings) for frame in r.keyframes]
    assert sorted(anchors) == sorted(wanted)


def test_triplets_are_what_the_paper_says(recordings):
    triplets = TripletSampler(recordings, StageOne()).epoch(np.random.default_rng(0))
    assert np.bincount(triplets.kinds).tolist() == [20, 20, 20]
    for (anchor, positive, negative), kind in zip(triplets.frames.tolist(), triplets.kinds, strict=True):
        a, p, n = (recordings[k[0]] for k in (anchor, positive, negative))
        phase = a.keyframes.index(anchor[1])
        assert p is not a
        assert (p.task, p.keyframes.index(positive[1])) == (a.task, phase)
        if kind == NegativeKind.NEIGHBOUR:
            assert n is a
            assert 3 <= abs(negative[1] - anchor[1]) <= 10
        elif kind == NegativeKind.PHASE:
            assert n.task == a.task
            assert n.keyframes.index(negative[1]) != phase
        else:
            assert n.task != a.task
            assert negative[1] in n.keyframes


def test_an_anchor_is_held_against_all_pictures_of_its_batch_but_its_like(recordings):
    sampler = TripletSampler(recordings, StageOne(neighbour_from=8, neighbour_to=50))
    triplets = sampler.epoch(np.random.default_rng(0)).frames
    unlike = sampler.unlike(triplets)
    pictures = triplets.transpose(1, 0, 2).reshape(-1, 2).tolist()
    for row, (episode, keyframe) in zip(unlike, triplets[:, 0].tolist(), strict=True):
        phase = recordings[episode].keyframes.index(keyframe)
        for (other, frame), held in zip(pictures, row, strict=True):
            same_task = recordings[other].task == recordings[episode].task
            assert held != (same_task and abs(frame - recordings[other].keyframes[phase]) < 8)


def test_all_frames_of_triplets_are_among_those_needed(recordings):
    sampler = TripletSampler(recordings, StageOne())
    needed = [set(frames.tolist()) for frames in sampler.frames_needed()]
    for epoch in range(5):
        for index, frame in sampler.epoch(np.random.default_rng(epoch)).frames.reshape(-1, 2).tolist():
            assert frame in needed[index]


def test_a_single_task_is_learnt_without_negatives_of_others(recordings):
    triplets = TripletSampler(recordings[:5], StageOne()).epoch(np.random.default_rng(0))
    assert set(triplets.kinds.tolist()) == {NegativeKind.NEIGHBOUR, NegativeKind.PHASE}


def test_a_keyframe_that_no_other_episode_has_is_told():
    episodes = [recording(0, (0, 20)), recording(0, (0, 20, 40), episode=1)]
    with pytest.raises(DataError, match="task 0 episode 1: keyframe 2 occurs in no other episode"):
        TripletSampler(episodes, StageOne())


def test_too_few_episodes_are_told(recordings):
    with pytest.raises(DataError, match="no episodes to learn from"):
        check_enough([])
    with pytest.raises(DataError, match="'task 1' has a single episode"):
        check_enough([*recordings[:5], recording(1, (0, 20))])


keyframe_lists = st.lists(st.integers(1, 118), min_size=1, max_size=4, unique=True).map(lambda k: (0, *sorted(k)))


@tried(200, 1000)
@given(st.lists(keyframe_lists, min_size=1, max_size=4), st.integers(0, 2**32 - 1), st.integers(0, 8))
def test_samples_ask_only_what_has_an_answer(lists, seed, extra):
    episodes = [recording(0, keyframes, episode=k) for k, keyframes in enumerate(lists)]
    config = StageTwo(after=extra, near=extra)
    samples = draw_samples(episodes, config, np.random.default_rng(seed))
    for index, frame, phase, answer in zip(
        samples.recording, samples.frame, samples.phase, samples.answer, strict=True
    ):
        keyframes = episodes[index].keyframes
        assert 0 <= frame < 120
        assert 1 <= phase < len(keyframes)
        distance = abs(int(frame) - keyframes[phase])
        mismatched = frame == keyframes[phase - 1]
        assert distance <= 1 if answer else (distance >= config.guard or mismatched)


def test_a_keyframe_does_not_answer_for_the_phase_after_it():
    samples = draw_samples([recording(0, (0, 40, 80))], StageTwo(), np.random.default_rng(0))
    asked = set(zip(samples.frame.tolist(), samples.phase.tolist(), samples.answer.tolist(), strict=True))
    assert (40, 2, 0.0) in asked
    assert {(39, 1, 1.0), (40, 1, 1.0), (41, 1, 1.0)} <= asked


def test_negatives_come_from_each_part_of_the_way():
    samples = draw_samples([recording(0, (0, 100))], StageTwo(), np.random.default_rng(0))
    frames = sorted(samples.frame[samples.answer == 0].tolist())
    assert [int((frame - 6) // (89 / 4)) for frame in frames] == [0, 1, 2, 3]


@given(keyframe_lists, st.integers(119, 5000), st.floats(0.2, 5.0))
def test_an_episode_at_another_speed_shows_the_same_keyframes(keyframes, length, speed):
    (shown,) = at_speeds([recording(0, keyframes, length)], np.array([speed]))
    frames = recorded_frames(np.arange(shown.length), np.array(speed))
    assert frames[0] == 0
    assert length - 1 - speed - 1 <= frames[-1] <= length - 1
    assert (np.diff(frames) >= int(speed)).all()
    for keyframe, place in zip(keyframes, shown.keyframes, strict=True):
        assert keyframe - speed - 1 <= frames[place] <= keyframe


@given(st.floats(1.0, 4.0), st.integers(0, 2**32 - 1))
def test_speeds_are_drawn_up_to_the_limit_either_way(limit, seed):
    speeds = draw_speeds(50, limit, np.random.default_rng(seed))
    assert ((1 / limit - 1e-9 <= speeds) & (speeds <= limit + 1e-9)).all()
    assert limit < 1.01 or (speeds.min() < 1 < speeds.max())


def test_a_training_at_one_speed_draws_what_it_did_before_there_were_others(recordings):
    chance = np.random.default_rng(3)
    speeds = draw_speeds(len(recordings), 1.0, chance)
    one = draw_samples(at_speeds(recordings, speeds), StageTwo(), chance)
    other = draw_samples(recordings, StageTwo(), np.random.default_rng(3))
    assert (one.frame == other.frame).all()
    assert Config().speeds == (1.0,)
    assert Config(stage_two=StageTwo(speed=2.0)).speeds == (0.5, 1.0, 2.0)
