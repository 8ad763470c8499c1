"""The simulator as the bridge uses it: commands, cameras, and everything that can be asked wrongly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kc_vla.core.tasks import UnknownTaskError
from kc_vla_sim.errors import BadActionError, BadImageSizeError, BadSeedError, EpisodeOverError, RendererError
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.simulator import Simulator


def place(frame: SimulatedFrame) -> np.ndarray:
    return np.array(frame.tool_pose.position)


def is_blue(picture: np.ndarray, pixel: tuple[int, int]) -> bool:
    column, row = pixel
    red, green, blue = picture[row, column].astype(int)
    return blue > 1.5 * max(red, green)


def test_frames_have_the_stated_shapes(drawn: Simulator) -> None:
    frame = drawn.reset("counting", 1)
    assert frame.index == 0
    for picture in frame.views.values():
        assert picture.shape == (64, 96, 3)
        assert picture.dtype == np.uint8
    assert frame.joint_positions.shape == frame.joint_velocities.shape == (9,)
    assert len(frame.joint_names) == 9
    assert frame.keyframe == "start"
    assert not frame.done
    assert drawn.step([0] * 7).index == 1


def test_without_drawing_the_state_is_the_same(drawn: Simulator, undrawn: Simulator) -> None:
    drawn.reset("counting", 2)
    undrawn.reset("counting", 2)
    for _ in range(5):
        one, other = drawn.step([0.02, 0, 0, 0, 0, 0, 0]), undrawn.step([0.02, 0, 0, 0, 0, 0, 0])
    assert other.views["third_person"].size == other.views["wrist"].size == 0
    np.testing.assert_array_equal(one.joint_positions, other.joint_positions)


def test_an_undrawn_simulator_draws_when_asked(drawn: Simulator) -> None:
    blind = Simulator(image_size=(96, 64), draw=False, variant="paper")
    with pytest.raises(EpisodeOverError):
        blind.look()
    drawn.reset("counting", 2)
    blind.reset("counting", 2)
    for _ in range(5):
        seen = drawn.hold()
        assert blind.hold().views["third_person"].size == 0
    for picture, wanted in zip(blind.look(), seen.views.values(), strict=True):
        np.testing.assert_array_equal(picture, wanted)
    blind.close()


def test_the_camera_models_find_the_cube_in_both_pictures(
    drawn: Simulator, project: Callable[..., tuple[int, int]]
) -> None:
    drawn.reset("counting", 2)
    for _ in range(40):  # until the tool stands behind the cube: before, the wrist camera does not see it
        frame = drawn.step(drawn.expert.plan(1)[0][0])
    cube = next(d.pose.position for d in frame.detections if d.object_id == "cube")
    third_person, wrist = drawn.cameras
    assert (third_person.parent, wrist.parent) == ("panda_link0", "panda_hand_tcp")
    assert is_blue(frame.views["third_person"], project(third_person, cube))
    assert is_blue(frame.views["wrist"], project(wrist, cube, parent=frame.tool_pose))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_tool_delta_moves_along_the_axes_of_the_base(undrawn: Simulator, axis: int) -> None:
    start = place(undrawn.reset("counting", 3))
    delta = np.zeros(7)
    delta[axis] = 0.01
    for _ in range(10):
        frame = undrawn.step(delta)
    moved = place(frame) - start
    assert moved[axis] > 0.03
    assert np.abs(np.delete(moved, axis)).max() < 0.005


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_tool_delta_turns_about_the_axes_of_the_base(undrawn: Simulator, axis: int) -> None:
    start = Rotation.from_quat(undrawn.reset("counting", 3).tool_pose.quaternion)
    delta = np.zeros(7)
    delta[3 + axis] = 0.05
    for _ in range(10):
        frame = undrawn.step(delta)
    turned = (Rotation.from_quat(frame.tool_pose.quaternion) * start.inv()).as_rotvec()
    assert turned[axis] > 0.15
    assert np.abs(np.delete(turned, axis)).max() < 0.02


def test_the_gripper_opens_and_hold_keeps_it_open(undrawn: Simulator) -> None:
    undrawn.reset("counting", 3)
    for _ in range(10):
        frame = undrawn.step([0, 0, 0, 0, 0, 0, 1])
    np.testing.assert_allclose(frame.joint_positions[7:], 0.04, atol=1e-3)
    for _ in range(10):
        frame = undrawn.hold()
    np.testing.assert_allclose(frame.joint_positions[7:], 0.04, atol=1e-3)


def test_hold_stays_in_place(undrawn: Simulator) -> None:
    undrawn.reset("counting", 3)
    for _ in range(10):
        undrawn.step([0.03, 0.01, 0.02, 0, 0, 0, 0])
    for _ in range(20):
        frame = undrawn.hold()
    rest = place(frame)
    for _ in range(100):
        frame = undrawn.hold()
    assert np.linalg.norm(place(frame) - rest) < 1e-3


def test_joint_commands_reach_their_positions_and_mix_with_tool_deltas(undrawn: Simulator) -> None:
    offset = np.array([0.1, -0.1, 0.1, 0.1, -0.1, 0.1, 0.1, 0.02, 0.02])
    target = undrawn.reset("counting", 3).joint_positions + offset
    for _ in range(40):
        frame = undrawn.step_joints(target)
    np.testing.assert_allclose(frame.joint_positions, target, atol=2e-3)
    before = place(frame)
    for _ in range(10):
        frame = undrawn.step([0, 0, 0.02, 0, 0, 0, 0])
    assert place(frame)[2] - before[2] > 0.05


def test_a_new_episode_does_not_depend_on_the_commands_of_the_last(undrawn: Simulator) -> None:
    def run() -> SimulatedFrame:
        undrawn.reset("counting", 9)
        return undrawn.hold()

    first = run()
    for _ in range(5):
        undrawn.step_joints(first.joint_positions + 0.3)
    np.testing.assert_array_equal(run().joint_positions, first.joint_positions)


def test_an_unknown_task_is_refused(undrawn: Simulator) -> None:
    with pytest.raises(UnknownTaskError, match="unknown task 'juggling': choose one of"):
        undrawn.reset("juggling", 1)


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "3", None, True])
def test_a_bad_seed_is_refused(undrawn: Simulator, seed: object) -> None:
    with pytest.raises(BadSeedError, match="a seed is a whole number from 0"):
        undrawn.reset("counting", seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, -3, (256, 0), (1, 2, 3), 5000, 2.5, "256", None, True])
def test_a_bad_image_size_is_refused(size: object) -> None:
    with pytest.raises(BadImageSizeError, match="bad image size"):
        Simulator(image_size=size)  # type: ignore[arg-type]


def test_an_unknown_renderer_is_refused() -> None:
    with pytest.raises(RendererError, match="choose one of auto, gpu, cpu"):
        Simulator(renderer="opengl")


def test_a_bad_command_moves_nothing(undrawn: Simulator) -> None:
    undrawn.reset("counting", 3)
    with pytest.raises(BadActionError):
        undrawn.step([float("nan")] * 7)
    with pytest.raises(BadActionError):
        undrawn.step_joints([0] * 7)
    assert undrawn.hold().index == 1


def test_steps_need_a_running_episode(undrawn: Simulator) -> None:
    uses: list[Callable[[Simulator], SimulatedFrame]]
    uses = [Simulator.hold, lambda s: s.step([0] * 7), lambda s: s.step_joints([0] * 9)]
    fresh = Simulator(image_size=16, draw=False)
    frame = undrawn.reset("counting", 3)
    while not frame.done:
        frame = undrawn.step(undrawn.expert.plan(1)[0][0])
    for simulator in (fresh, undrawn):
        for use in uses:
            with pytest.raises(EpisodeOverError, match="reset the simulator"):
                use(simulator)


def test_nothing_can_be_read_before_the_first_episode() -> None:
    fresh = Simulator(image_size=16, draw=False)
    assert fresh.task is None
    with pytest.raises(EpisodeOverError):
        _ = fresh.expert
    with pytest.raises(EpisodeOverError):
        _ = fresh.cameras
