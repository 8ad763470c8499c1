"""Every simulator behind the bridge keeps the same promises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from kc_vla.core.tasks import TASKS, UnknownTaskError
from kc_vla_sim.errors import BadActionError, BadSeedError, EpisodeOverError, SimulationError, UnplayedTaskError
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.protocol import Simulation
from kc_vla_sim.robot import ROBOT
from kc_vla_sim.simulators import SIMULATORS, SimulatorContext, open_simulator

STILL = [0.0] * 7


@pytest.fixture(scope="module", params=SIMULATORS.names())
def simulation(request: pytest.FixtureRequest) -> Iterator[Simulation]:
    simulation = open_simulator(request.param, SimulatorContext(image_size=48), shared={"variant": "paper"})
    yield simulation
    simulation.close()


def played(simulation: Simulation, seed: int, steps: int | None = None) -> list[SimulatedFrame]:
    """Return an episode of counting, or its first steps, as the expert plays it, one action of each plan."""
    frames = [simulation.reset("counting", seed)]
    while not frames[-1].done and len(frames) - 1 != steps:
        frames.append(simulation.step(simulation.expert.plan(1)[0][0]))
    return frames


def test_the_expert_succeeds_and_the_truth_is_told(simulation: Simulation) -> None:
    frames = played(simulation, 3)
    assert frames[-1].success is True  # numpy's own would end the node: a message takes Python's alone
    assert frames[-1].reason == "success"
    assert frames[-1].completed_stages == len(TASKS["counting"].stages)
    assert [frame.index for frame in frames] == list(range(len(frames)))
    assert [keyframe.label for keyframe in simulation.keyframes] == list(TASKS["counting"].keyframes)
    told = [(frame.index, frame.keyframe) for frame in frames if frame.keyframe is not None]
    assert told == [(keyframe.frame, keyframe.label) for keyframe in simulation.keyframes]
    lamp = {
        k.frame: next(d.state for d in frames[k.frame].detections if d.object_id == "lamp")
        for k in simulation.keyframes
    }
    assert list(lamp.values()) == ["off", "on", "off", "on", "off"]


def test_the_same_seed_gives_the_same_pictures(simulation: Simulation) -> None:
    first, again = played(simulation, 5, 40), played(simulation, 5, 40)
    for one, other in zip(first, again, strict=True):
        for view in ROBOT.views:
            np.testing.assert_array_equal(one.views[view], other.views[view])
        np.testing.assert_array_equal(one.joint_positions, other.joint_positions)


def test_joint_targets_bring_the_arm_there(simulation: Simulation) -> None:
    target = simulation.reset("counting", 1).joint_positions.copy()
    target[0] += 0.05
    for _ in range(10):
        frame = simulation.step_joints(target)
    np.testing.assert_allclose(frame.joint_positions[:7], target[:7], atol=0.01)


def test_what_cannot_be_is_refused_and_moves_nothing(simulation: Simulation) -> None:
    with pytest.raises(UnknownTaskError):
        simulation.reset("folding", 0)
    with pytest.raises(BadSeedError):
        simulation.reset("counting", -1)
    simulation.reset("counting", 1)
    for bad in ([0.0] * 6, [float("nan")] * 7, "much"):
        with pytest.raises(BadActionError):
            simulation.step(bad)
    with pytest.raises(BadActionError):
        simulation.step_joints([0.0] * 3)
    assert simulation.step(STILL).index == 1


def test_nothing_is_stepped_before_the_first_reset_or_after_the_end(simulation: Simulation) -> None:
    simulation.close()
    for ask in (simulation.hold, lambda: simulation.expert, lambda: simulation.cameras):
        with pytest.raises(EpisodeOverError):
            ask()
    played(simulation, 3)
    with pytest.raises(EpisodeOverError):
        simulation.hold()


def test_the_toy_plays_counting_alone() -> None:
    with pytest.raises(UnplayedTaskError, match="use the simulator maniskill"):
        open_simulator("toy", SimulatorContext()).reset("spatial", 0)


def test_a_simulator_shows_the_views_of_its_robot_or_is_refused() -> None:
    three = replace(ROBOT, name="mine", cameras={"front": "front_0", "left": "left_0", "hand": "hand_0"})
    toy = open_simulator("toy", SimulatorContext(three, 32))
    frame = toy.reset("counting", 7)
    assert list(frame.views) == ["front", "left", "hand"]
    assert [camera.frame for camera in toy.cameras] == list(three.cameras.values())
    assert len({pixels.tobytes() for pixels in frame.views.values()}) == 3
    with pytest.raises(SimulationError, match="views third_person, wrist, the robot 'mine' has front, left, hand"):
        open_simulator("maniskill", SimulatorContext(three))


def test_the_toy_fails_where_the_cube_is_pushed_too_early() -> None:
    toy = open_simulator("toy", SimulatorContext(image_size=16))
    frame = toy.reset("counting", 7)
    while not frame.done:
        frame = toy.step([0.02, *STILL[1:]])
    assert frame.reason == "cube moved before the second flash ended"
    assert not frame.success
