"""Selector, buffer, policy and chunks in one process, as a program that is no graph uses them."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.episode import Episode
from kc_vla.core.robot import load_robot
from kc_vla.execution.scheduler import SchedulerSettings
from kc_vla.keyframes.live import LiveSelector
from kc_vla.keyframes.observation import Observation
from kc_vla.keyframes.scoring import ScorerInput, Scoring
from kc_vla.policy.closed_loop import ClosedLoop
from kc_vla.policy.history import KEYFRAMES, NONE, History
from kc_vla.policy.interface import PolicyInput
from kc_vla.policy.remembering import Remembering

PANDA = load_robot("panda_sim")
PERIOD_NS = 50_000_000
VIEWS = {"third_person": np.zeros((4, 4, 3), np.uint8), "wrist": np.zeros((4, 4, 3), np.uint8)}


class Bright:
    """Scores a bright picture 1 and any other 0."""

    needs: tuple[str, ...] = ("third_person",)
    runs_on = "-"

    def begin(self, episode: Episode) -> Scoring:
        if episode.instruction == "unheard of":
            raise ValueError("no such task")
        return Scoring(("start", "bright"), self)

    def score(self, sight: ScorerInput, phase: int) -> float:
        return float(sight.views["third_person"].max() > 0)


@dataclass
class Counting:
    """Answers with the frame it was asked for, in mm, and keeps what it was given."""

    name: str = "counting"
    needs_keyframes: bool = True
    needs_images: bool = True
    needs_plan: bool = False
    action_type: ActionType = ActionType.TOOL_DELTA
    names: tuple[str, ...] = TOOL_DELTA_NAMES
    given: list[PolicyInput] = field(default_factory=list)
    episodes: list[str] = field(default_factory=list)

    def reset(self, episode: Episode) -> str:
        self.episodes.append(episode.instruction)
        return ""

    def infer(self, given: PolicyInput) -> np.ndarray:
        self.given.append(given)
        rows = np.zeros((16, 7), np.float32)
        rows[:, 0] = 1e-3 * given.frame
        return rows


def acting(backend: Counting, **settings: int) -> Remembering:
    return Remembering(
        PANDA, Bright(), backend, 3, SchedulerSettings(**{"execute_steps": 5, "blend_steps": 0} | settings)
    )


def state(frame: int) -> np.ndarray:
    return np.array([frame / 100, 0, 0, 1, 0, 0, 0, 0.5])


def test_it_acts_on_every_frame_and_asks_for_chunks_as_the_arm_controller_does() -> None:
    backend = Counting()
    mind = acting(backend)
    actions = np.array([mind.act(VIEWS, state(frame), "push") for frame in range(12)])
    assert actions.shape == (12, 7)
    assert [given.frame for given in backend.given] == [0, 5, 10]
    np.testing.assert_allclose(actions[:, 0] * 1e3, [0] * 5 + [5] * 5 + [10] * 2, atol=1e-6)
    assert backend.given[1].state.tolist() == state(5).tolist()


def test_what_it_has_seen_at_keyframes_is_remembered_with_its_state() -> None:
    backend = Counting()
    mind = acting(backend)
    for frame in range(12):
        lit = np.full_like(VIEWS["third_person"], 200 if frame == 3 else 0)
        mind.act({**VIEWS, "third_person": lit}, state(frame), "push")
    assert mind.keyframes == [0, 3]
    seen = backend.given[-1].keyframes
    assert [each.frame for each in seen] == [0, 3]
    assert seen[1].state.tolist() == state(3).tolist()
    assert seen[1].views["third_person"].min() == 200


def test_another_instruction_or_forgetting_begins_an_episode() -> None:
    backend = Counting()
    mind = acting(backend)
    for instruction in ("push", "push", "pull"):
        mind.act(VIEWS, state(0), instruction)
    mind.forget()
    assert mind.keyframes == []
    mind.act(VIEWS, state(0), "pull")
    assert backend.episodes == ["push", "pull", "pull"]
    assert [given.frame for given in backend.given] == [0, 0, 0]


def test_what_it_cannot_act_on_is_told() -> None:
    mind = acting(Counting())
    with pytest.raises(ValueError, match=r"a state of 9 numbers: the robot 'panda_sim' has x, y, z, qx, .*, gripper"):
        mind.act(VIEWS, np.zeros(9), "push")
    with pytest.raises(ValueError, match="no such task"):
        mind.act(VIEWS, state(0), "unheard of")
    assert mind.act(VIEWS, state(0), "push").shape == (7,)  # and it goes on


def remembered(history: History, frames: int) -> list[list[int]]:
    """Which frames a policy was given with each chunk, in an episode in which frame 7 is a keyframe."""
    backend = Counting()
    loop = ClosedLoop(
        LiveSelector(Bright(), 3), backend, lambda seen: seen.joint_positions, SchedulerSettings(5, 0), history=history
    )
    for _ in range(2):  # what was seen in an episode before is not given
        backend.given.clear()
        loop.begin(Episode("e", "", "push", 0, PERIOD_NS, True))
        for frame in range(frames):
            request = loop.request(frame)
            picture = np.full((4, 4, 3), 200 if frame == 7 else 0, np.uint8)
            views = {"third_person": picture, "wrist": picture}
            seen = Observation(frame, frame * PERIOD_NS, views, ("x",), np.zeros(1), np.zeros(1), np.zeros(7))
            loop.see(seen, ScorerInput(seen.stamp_ns, views))
            if request is not None:
                loop.think(request, seen)
            loop.tick(frame)
    return [[each.frame for each in given.keyframes] for given in backend.given]


def test_a_policy_is_given_the_keyframes_or_frames_at_a_stride_or_nothing() -> None:
    assert remembered(KEYFRAMES, 21)[-1] == [0, 7]
    assert remembered(NONE, 21) == [[]] * 5
    assert remembered(History(3, 4), 21) == [[], [1], [2, 6], [3, 7, 11], [8, 12, 16]]
