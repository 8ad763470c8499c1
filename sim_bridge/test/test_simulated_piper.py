"""The body of an emulated Piper: its kinematics, what it grips, what stops it, and what cameras show of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
import trimesh
from piper import HIGHEST, KINEMATICS, LOWEST, PIPER, REST
from scipy.spatial.transform import Rotation
from simulated_piper import SimulatedPiper, reaching_down

from kc_vla_sim.choices import PIPER_TASKS
from kc_vla_sim.envs.cubes import CUBE_HALF_SIZE
from kc_vla_sim.errors import RobotMeshError, UnplayedTaskError
from kc_vla_sim.geometry import to_pose
from kc_vla_sim.piper.table import PiperTable
from kc_vla_sim.robots.piper_description import LEFT, MESHES, RIGHT
from kc_vla_sim.robots.piper_meshes import mesh_folder

pytestmark = pytest.mark.usefixtures("piper_meshes")
CUBE = 2 * CUBE_HALF_SIZE
OPEN = 0.07


@pytest.fixture(scope="module")
def table() -> Iterator[PiperTable]:
    """Yield the table of the counting task, with small images."""
    made = PiperTable("counting", PIPER, image_size=64, variant="paper")
    made.begin(0, REST, 0.0)
    yield made
    made.close()


@pytest.fixture
def simulated(table: PiperTable, tmp_path: Path) -> Iterator[SimulatedPiper]:
    """Yield an enabled arm at the table."""
    with SimulatedPiper(tmp_path / "bus", table) as piper:
        yield piper


def flange(table: PiperTable) -> np.ndarray:
    """Return the pose of the body's flange in its base frame (4, 4)."""
    pose = to_pose(table.world.agent.robot.links_map[PIPER.tool_frame].pose, table.world.station.base)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = Rotation.from_quat(pose.quaternion).as_matrix(), pose.position
    return matrix


def test_the_flange_of_the_body_is_where_the_robot_files_kinematics_have_it(table: PiperTable) -> None:
    chance = np.random.default_rng(0)
    for angles in chance.uniform(LOWEST, HIGHEST, size=(50, 6)):
        table.world.agent.robot.set_qpos(torch.as_tensor([*angles, 0.01, 0.01], dtype=torch.float32)[None])
        expected, found = KINEMATICS.flange(angles), flange(table)
        assert np.linalg.norm(found[:3, 3] - expected[:3, 3]) < 1e-3
        assert Rotation.from_matrix(found[:3, :3].T @ expected[:3, :3]).magnitude() < 2e-3


def test_the_fingers_move_apart_by_the_width(table: PiperTable) -> None:
    table.begin(0, REST, 0.03)
    left, right = (table.world.agent.robot.links_map[name].pose.p[0] for name in (LEFT, RIGHT))
    assert table.width == pytest.approx(0.03, abs=1e-5)
    assert float(torch.linalg.norm(left - right)) == pytest.approx(0.03, abs=1e-5)


@pytest.mark.parametrize("finger", [LEFT, RIGHT])
def test_a_finger_is_drawn_where_it_touches_things(finger: str) -> None:
    name, turn, shift = MESHES[finger]
    drawn = trimesh.load_scene(mesh_folder() / f"{name}.glb").to_mesh().vertices
    drawn = Rotation.from_euler("xyz", turn).apply(drawn) + np.array([0, 0, shift])
    assert PIPER.urdf is not None
    link = ElementTree.parse(PIPER.urdf).getroot().find(f"link[@name='{finger}']")
    assert link is not None
    corners = []
    for visual in link.findall("visual"):
        origin, box = visual.find("origin"), visual.find("geometry/box")
        assert origin is not None
        assert box is not None
        middle, size = (np.array(text.split(), float) for text in (origin.attrib["xyz"], box.attrib["size"]))
        corners += [middle - size / 2, middle + size / 2]
    np.testing.assert_allclose(drawn.min(axis=0), np.min(corners, axis=0), atol=3e-3)
    np.testing.assert_allclose(drawn.max(axis=0), np.max(corners, axis=0), atol=3e-3)


def test_the_body_follows_the_bus(simulated: SimulatedPiper) -> None:
    angles = reaching_down((0.3, 0.1, 0.2), 0.3)
    simulated.arm.set_target(angles, 0.05)
    worst = 0.0

    def there() -> bool:
        nonlocal worst
        simulated.arm.set_target(angles, 0.05)
        worst = max(worst, float(np.abs(simulated.table.angles - simulated.state.angles).max()))
        return bool(np.abs(simulated.state.angles - angles).max() < 1e-3)

    simulated.until(there)
    simulated.wait(0.5)
    assert np.degrees(np.abs(simulated.table.angles - angles).max()) < 0.2
    assert simulated.table.width == pytest.approx(0.05, abs=1e-3)
    assert np.degrees(worst) < 20  # on the way it is at most some control steps behind what the SDK reads


def test_it_grasps_a_cube_lifts_it_and_reports_its_width(simulated: SimulatedPiper) -> None:
    cube = simulated.table.world.cube
    pose = to_pose(cube.pose, simulated.table.world.station.base)
    x, y, _ = pose.position
    yaw = Rotation.from_quat(pose.quaternion).as_euler("zyx")[0]
    simulated.move(reaching_down((x, y, 0.12), yaw, tilt=0.2), OPEN)
    simulated.move(reaching_down((x, y, 0.025), yaw, tilt=0.2), OPEN)
    assert simulated.state.gripper == pytest.approx(OPEN, abs=1e-3)
    simulated.move(reaching_down((x, y, 0.025), yaw, tilt=0.2), 0.0)
    assert simulated.state.gripper == pytest.approx(CUBE, abs=2e-3)
    efforts = simulated.state.efforts
    assert efforts is not None
    assert efforts[-1] > 0.1
    simulated.move(reaching_down((x, y, 0.12), yaw, tilt=0.2), 0.0)
    assert float(cube.pose.p[0, 2]) > 0.08
    assert simulated.state.gripper == pytest.approx(CUBE, abs=2e-3)
    simulated.move(reaching_down((x, y, 0.12), yaw, tilt=0.2), OPEN)
    assert float(cube.pose.p[0, 2]) < 0.03
    assert simulated.state.gripper == pytest.approx(OPEN, abs=1e-3)


@pytest.mark.nightly
def test_it_pushes_the_cube_to_the_target_after_the_second_flash(simulated: SimulatedPiper) -> None:
    world = simulated.table.world
    cube, goal = (np.array(to_pose(each.pose, world.station.base).position) for each in (world.cube, world.goal))
    ahead = (goal - cube)[:2] / np.linalg.norm((goal - cube)[:2])
    yaw = float(np.arctan2(ahead[1], ahead[0]))

    def reaching(forward: float, height: float) -> np.ndarray:
        return reaching_down((*(cube[:2] + forward * ahead), height), yaw, tilt=0.5)

    simulated.move(reaching(-0.08, 0.1), 0.0)
    simulated.move(reaching(-0.08, 0.03), 0.0)
    simulated.until(lambda: world.flashes_ended == 2)
    way = float(np.linalg.norm((goal - cube)[:2])) - 0.02
    simulated.follow((reaching(forward, 0.03) for forward in np.linspace(-0.08, way, 60)), 0.0, 0.1)
    simulated.wait_until_it_rests()
    assert simulated.table.verdict == "success"


def test_the_table_in_the_way_of_the_arm_is_a_collision(simulated: SimulatedPiper) -> None:
    into = reaching_down((0.3, 0.25, -0.06), 0.0)
    simulated.move(reaching_down((0.3, 0.25, 0.1), 0.0), 0.0)
    assert simulated.state.faults == ()

    def collides() -> bool:
        simulated.arm.set_target(into, 0.0)
        return any("collision" in fault for fault in simulated.state.faults)

    simulated.until(collides)


def test_an_emergency_stop_of_the_controller_stops_the_body(simulated: SimulatedPiper) -> None:
    far = reaching_down((0.3, 0.2, 0.2), 0.0)
    simulated.arm.set_target(far, 0.0)
    simulated.until(lambda: np.abs(simulated.table.angles - REST).max() > 0.1)
    stopped_at = simulated.state
    simulated.arm.set_target(stopped_at.angles, stopped_at.gripper)  # as the controller does
    simulated.wait_until_it_rests()
    held = simulated.table.angles
    simulated.wait(1.0)
    assert np.abs(simulated.table.angles - held).max() < 1e-3
    assert np.abs(held - far).max() > 0.1


def test_the_arm_falls_without_power_and_its_body_with_it(simulated: SimulatedPiper) -> None:
    simulated.move(reaching_down((0.3, 0.0, 0.2), 0.0), 0.0)
    high = flange(simulated.table)[2, 3]
    simulated.arm.disable()
    simulated.until(lambda: flange(simulated.table)[2, 3] < high - 0.1)


def test_both_cameras_show_that_the_arm_has_moved(table: PiperTable, simulated: SimulatedPiper) -> None:
    before = table.draw()
    simulated.move(reaching_down((0.3, 0.0, 0.2), 0.0), 0.05)
    after = table.draw()
    for view in PIPER.cameras:
        change = np.abs(after[view].image.astype(int) - before[view].image).max(axis=2)
        assert (change > 30).mean() > 0.02
        assert after[view].depth[after[view].depth > 0].min() < 1.5


def test_the_wrist_camera_is_placed_in_the_tool_frame(table: PiperTable) -> None:
    model = table.cameras["wrist"]
    assert (model.parent, model.frame) == (PIPER.tool_frame, "wrist_optical_frame")
    assert table.cameras["third_person"].parent == PIPER.base_frame
    tip = np.array([0.0, 0.0, 0.125]) - model.pose.position
    x, y, depth = np.array(model.k) @ Rotation.from_quat(model.pose.quaternion).inv().apply(tip)
    assert 0 < x / depth < model.width
    assert 0 < y / depth < model.height


@pytest.mark.parametrize("task", PIPER_TASKS)
def test_each_task_that_is_offered_can_begin(task: str) -> None:
    made = PiperTable(task, PIPER, image_size=16)
    made.begin(3, REST, 0.0)
    assert made.verdict.startswith("0 of ")
    made.close()


def test_another_task_is_refused() -> None:
    with pytest.raises(
        UnplayedTaskError, match="a simulated Piper has no task 'kitchen' on its table: there are count"
    ):
        PiperTable("kitchen", PIPER)


def test_without_a_package_index_the_first_start_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(RobotMeshError, match=r"the wheel phosphobot==.*connect to a package index for the first start"):
        mesh_folder()
    assert not list((tmp_path / "kc_vla" / "robots").iterdir())
