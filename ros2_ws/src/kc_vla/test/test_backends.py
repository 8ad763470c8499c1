from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from episode_bag import Script, write_episode
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType, Chunk, ChunkLimits, check_chunk
from kc_vla.core.episode import Episode
from kc_vla.core.robot import load_robot
from kc_vla.policy.expert import ExpertBackend
from kc_vla.policy.interface import Backend, PolicyError, PolicyInput
from kc_vla.policy.replay import ReplayBackend, open_recording

EPISODE = Episode("counting-1", "counting", "push", 0, 50_000_000, True)


def given_at(frame: int) -> PolicyInput:
    return PolicyInput(frame, {}, [], np.zeros(9), "push", np.empty((0, 7), np.float32))


def recorded(steps: int) -> np.ndarray:
    actions = np.zeros((steps, 7), np.float32)
    actions[:, 0] = np.arange(steps) * 1e-4
    actions[:, 6] = np.linspace(1.0, 0.3, steps)
    return actions


@given(st.integers(1, 40), st.integers(1, 20), st.integers(0, 60))
def test_replay_plays_each_step_and_then_stands_still(steps: int, horizon: int, frame: int) -> None:
    actions = recorded(steps)
    backend: Backend = ReplayBackend(actions, horizon)
    backend.reset(EPISODE)
    chunk = backend.infer(given_at(frame))
    assert (chunk.shape, chunk.dtype) == ((horizon, 7), np.float32)
    for row, step in zip(chunk, range(frame, frame + horizon), strict=True):
        still = [0, 0, 0, 0, 0, 0, actions[-1, 6]]
        assert row.tolist() == (actions[step] if step < steps else np.array(still)).tolist()
    check_chunk(Chunk(0, frame, backend.action_type, backend.names, chunk), ChunkLimits())


@pytest.mark.parametrize("shape", [(0, 7), (5, 6), (7,)])
def test_replay_refuses_what_is_no_recording(shape: tuple[int, ...]) -> None:
    with pytest.raises(PolicyError, match=r"recorded actions have shape .*: expected \(steps, 7\)"):
        ReplayBackend(np.zeros(shape, np.float32), 16)


def test_replay_refuses_what_another_robot_did(tmp_path: Path) -> None:
    panda, piper = load_robot("panda_sim"), load_robot("piper")
    bag = str(write_episode(tmp_path / "bag", Script(joints=tuple(panda.names))))
    assert open_recording(bag, 16, panda).infer(given_at(0)).shape == (16, 7)
    with pytest.raises(PolicyError, match=r"is of a 'panda_sim', this robot is a 'piper'"):
        open_recording(bag, 16, piper)


def test_the_expert_does_what_it_would_do() -> None:
    backend: Backend = ExpertBackend()
    assert backend.needs_plan
    plan = recorded(16)
    assert backend.infer(replace(given_at(12), plan=plan)).tolist() == plan.tolist()
    assert (backend.names, backend.action_type) == (TOOL_DELTA_NAMES, ActionType.TOOL_DELTA)


def test_the_policy_core_needs_neither_ros_nor_torch() -> None:
    import kc_vla.policy

    for path in Path(next(iter(kc_vla.policy.__path__))).glob("*.py"):
        assert not any(word in path.read_text() for word in ("import rclpy", "import torch", "from kc_vla.nodes"))
