"""The Panda's description has its links, its tool and its cameras where the simulator has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import pytorch_kinematics
import torch
from mani_skill.agents.robots.panda.panda_wristcam import PandaWristCam

from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.core.robot import Robot, load_robot
from kc_vla.core.share import share
from kc_vla.core.urdf import RobotTree
from kc_vla.description.robot import description_of
from kc_vla.ros.convert import time_message
from kc_vla.ros.transforms import placed_in
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.nodes.messages import camera_places_of
from kc_vla_sim.robot import ROBOT
from kc_vla_sim.robots.light_meshes import light_urdf
from kc_vla_sim.simulator import Simulator

OURS = description_of(ROBOT)[1]
ROBOTS = [load_robot(file.stem) for file in sorted(share("robots").glob("*.yaml"))]


def positions(frame: SimulatedFrame) -> dict[str, float]:
    return dict(zip(frame.joint_names, frame.joint_positions.tolist(), strict=True))


def in_base(tree: RobotTree, link: str, values: dict[str, float]) -> np.ndarray:
    pose = tree.pose(link, values)
    assert pose is not None
    return pose


def tool(frame: SimulatedFrame) -> np.ndarray:
    return pose_matrix(frame.tool_pose.position, frame.tool_pose.quaternion)


def test_the_tool_is_where_the_simulator_has_it(undrawn: Simulator) -> None:
    chance = np.random.default_rng(4)
    frame = undrawn.reset("counting", 3)
    for _ in range(12):
        frame = undrawn.step([*chance.uniform(-0.03, 0.03, 3), *chance.uniform(-0.1, 0.1, 3), chance.uniform()])
        # the simulator tells single precision
        np.testing.assert_allclose(in_base(OURS, ROBOT.tool_frame, positions(frame)), tool(frame), atol=2e-6)


def test_every_link_is_where_the_simulators_own_description_has_it() -> None:
    theirs = description_of(ROBOT, Path(PandaWristCam.urdf_path))[1]
    chance = np.random.default_rng(5)
    shared = [link for link in OURS.links if link in theirs.links]
    assert len(shared) == len(OURS.links) == 13
    for _ in range(20):
        angles = chance.uniform(ROBOT.limits.lowest, ROBOT.limits.highest)
        values = dict(zip(ROBOT.names, [*angles.tolist(), 0.01, 0.03], strict=True))
        for link in shared:
            np.testing.assert_allclose(in_base(OURS, link, values), in_base(theirs, link, values), atol=1e-6)


@pytest.mark.parametrize("kind", ["whole", "light"])
def test_the_simulators_own_meshes_are_found(kind: str) -> None:
    file = Path(PandaWristCam.urdf_path)
    text, _ = description_of(ROBOT, light_urdf(file) if kind == "light" else file)
    names = [part.split('"')[0] for part in text.split('<mesh filename="')[1:]]
    assert len(names) > 15
    for name in names:
        assert name.startswith("file:///")
        assert Path(name.removeprefix("file://")).is_file()


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_another_parser_reads_the_same_chain(robot: Robot) -> None:
    text, tree = description_of(robot)
    chain = pytorch_kinematics.build_chain_from_urdf(text.encode()).to(dtype=torch.float64)
    chance = np.random.default_rng(6)
    for _ in range(5):
        angles = chance.uniform(robot.limits.lowest, robot.limits.highest)
        values = dict(zip(robot.joints, angles.tolist(), strict=True)) | dict.fromkeys(robot.gripper, 0.01)
        given = {name: values.get(name, 0.005) for name in chain.get_joint_parameter_names()}
        found = chain.forward_kinematics(given)[robot.tool_frame].get_matrix()[0].numpy()
        np.testing.assert_allclose(in_base(tree, robot.tool_frame, values), found, atol=1e-6)


def test_cameras_are_told_where_the_simulator_has_them(drawn: Simulator) -> None:
    drawn.reset("counting", 1)
    for _ in range(4):
        frame = drawn.step([0.02, 0.01, -0.01, 0.05, 0.0, 0.05, 1.0])
    told = {each.child: each for each in placed_in(camera_places_of(drawn.cameras, time_message(7)))}
    assert set(told) == set(ROBOT.cameras.values())
    base = np.linalg.inv(drawn._world.agent.robot.pose.sp.to_transformation_matrix())
    for view, optical in ROBOT.cameras.items():
        hung_on = in_base(OURS, told[optical].parent, positions(frame))
        looks = drawn._world.scene.sensors[view].camera.get_extrinsic_matrix()[0].numpy()  # (3, 4), world to camera
        wanted = base @ np.linalg.inv(np.vstack([looks, [0, 0, 0, 1]]))
        np.testing.assert_allclose(hung_on @ told[optical].pose, wanted, atol=1e-5)
