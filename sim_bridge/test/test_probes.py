"""The probes find what can be found, and nothing where there is nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import at_night

from kc_vla.core.tasks import Task, find_task
from kc_vla_sim.probes.features import Reduction, blobs
from kc_vla_sim.probes.gather import ProbeDecision, ProbeEpisode, ProbeError, Views, play_for_probes
from kc_vla_sim.probes.inputs import FRAME, FRAME_AND_TIME, KEYFRAMES
from kc_vla_sim.probes.verdict import chance, judge
from kc_vla_sim.simulator import Simulator

SIDE = 32
PLACES = (6, 16, 26)
SWAP = replace(find_task("counting"), keyframes=("put away", "taken"), cues=(), choices=("left", "middle", "right"))


def picture(chance: np.random.Generator, red_at: int | None) -> Views:
    """Draw both views of a table, with or without a red thing in column `red_at`."""
    views = np.full((2, SIDE, SIDE, 3), (150, 125, 100), float) + chance.normal(0, 2, (2, SIDE, SIDE, 3))
    if red_at is not None:
        column, row = red_at + chance.integers(-1, 2), 16 + chance.integers(-1, 2)
        views[0, row - 3 : row + 3, column - 3 : column + 3] = (190, 30, 30)
    return np.clip(views, 0, 255).astype(np.uint8)


def swap(seed: int, leak: str = "") -> ProbeEpisode:
    """Return an episode in which two of three places change their things, so that both keyframes are needed.

    `leak` gives it away: in the "frame", by the "time", or by what the robot is "feeling".
    """
    random = np.random.default_rng(seed)
    one, other = random.choice(3, 2, replace=False)
    choice = int({one: other, other: one}.get(1, 1))
    views = picture(random, PLACES[choice] if leak == "frame" else None)
    keyframes = {label: picture(random, PLACES[at]) for label, at in zip(SWAP.keyframes, (one, other), strict=True)}
    frame = 300 + 100 * choice if leak == "time" else int(random.integers(300, 600))
    feeling = random.normal(0, 1e-4, 25)
    if leak == "feeling":
        feeling[3 + choice] += 1e-3
    return ProbeEpisode(seed, (ProbeDecision(frame, choice, views, feeling, keyframes),))


def shares(task: Task, leak: str = "") -> dict[str, float]:
    sets = [[swap(seed, leak) for seed in range(first, first + n)] for first, n in ((0, 200), (1000, 60), (2000, 150))]
    return {given: told.share for given, told in judge(task, *sets)}


def test_only_the_keyframes_tell_and_the_probe_combines_them() -> None:
    told = shares(SWAP)
    assert told[FRAME] < 0.46  # chance is 0.33 and 150 answers scatter by 0.04
    assert told[FRAME_AND_TIME] < 0.46
    assert told[KEYFRAMES] > 0.95


@pytest.mark.parametrize(
    ("leak", "found_by"),
    [("frame", FRAME), *at_night(("feeling", FRAME)), ("time", FRAME_AND_TIME)],
)
def test_a_leak_is_found(leak: str, found_by: str) -> None:
    told = shares(SWAP, leak)
    assert told[found_by] > 0.9
    if leak == "time":
        assert told[FRAME] < 0.46


def test_episodes_without_decisions_are_refused() -> None:
    empty = ProbeEpisode(1, ())
    with pytest.raises(ProbeError, match="no moment of decision in 1 validation episodes of counting"):
        list(judge(SWAP, [swap(1)], [empty], [swap(2)]))


@pytest.mark.nightly
def test_a_decision_is_gathered_with_the_pictures_that_a_policy_has_then(drawn: Simulator) -> None:
    blind = Simulator(image_size=(96, 64), draw=False, variant="paper")
    episode = play_for_probes(blind, "counting", 4)
    assert [decision.choice for decision in episode.decisions] == [0, 1]  # wait, push
    assert [len(decision.keyframes) for decision in episode.decisions] == [3, 5]
    frames = [drawn.reset("counting", 4)]
    while not frames[-1].done:
        frames.append(drawn.step(drawn.expert.plan(1)[0][0]))
    labelled = {keyframe.label: keyframe.frame for keyframe in drawn.keyframes}
    for decision in episode.decisions:
        seen = frames[decision.frame]
        np.testing.assert_array_equal(decision.views, np.stack(list(seen.views.values())))
        np.testing.assert_allclose(decision.feeling[:9], seen.joint_positions, atol=0.0005)
        for label, views in decision.keyframes.items():
            np.testing.assert_array_equal(views[0], frames[labelled[label]].views["third_person"])
    blind.close()


class LateOracle:
    """Tells of a decision five frames after its time."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    def __getattr__(self, name: str) -> object:
        return getattr(self._simulator, name)

    @property
    def decisions(self) -> tuple[tuple[int, str], ...]:
        now = self._simulator.hold().index
        return ((now - 5, "wait"),) if now > 5 else ()


def test_a_decision_that_is_told_of_late_is_refused(drawn: Simulator) -> None:
    with pytest.raises(ProbeError, match=r"decision 0 of counting, seed 4 is frame \d+ .* report it at its own frame"):
        play_for_probes(LateOracle(drawn), "counting", 4)  # type: ignore[arg-type]


@given(st.integers(4, 27), st.integers(4, 27), st.sampled_from([0, 1, 2]))
def test_a_blob_is_found_where_it_is(column: int, row: int, channel: int) -> None:
    views = np.full((2, SIDE, SIDE, 3), (150, 125, 100), np.uint8)
    views[1, row - 3 : row + 3, column - 3 : column + 3] = np.eye(3, dtype=np.uint8)[channel] * 200
    empty, seen = (view.reshape(5, 3) for view in _by_number(blobs(views)))
    assert (empty == 0).all()
    mass, centre_x, centre_y = seen[0], seen[1], seen[2]
    assert np.flatnonzero(mass).tolist() == [channel]
    assert centre_x[channel] * SIDE == pytest.approx(column - 0.5)
    assert centre_y[channel] * SIDE == pytest.approx(row - 0.5)


def _by_number(found: np.ndarray) -> np.ndarray:
    """Map (2, 15), color by color, to (2, 5, 3): mass, column, row and their spreads of red, green, blue."""
    return found.reshape(2, 3, 5).transpose(0, 2, 1)


@given(st.integers(2, 30), st.integers(1, 8))
def test_what_is_reduced_has_mean_0_and_variance_1(samples: int, features: int) -> None:
    data = np.random.default_rng(samples).normal(3, 5, (samples, features))
    reduced = Reduction(data, most=4)(data)
    assert reduced.shape[1] <= 4
    np.testing.assert_allclose(reduced.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(reduced.std(axis=0), 1, atol=1e-6)


def test_chance_is_the_commonest_choice() -> None:
    decisions = [swap(seed).decisions[0] for seed in range(30)]
    most = max(np.bincount([decision.choice for decision in decisions])) / 30
    assert chance([ProbeEpisode(1, tuple(decisions))]) == pytest.approx(most)
