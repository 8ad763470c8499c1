"""Gravity torques are the slope of the potential energy; inertias are read from the URDF or refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from piper import KINEMATICS, PIPER

from kc_vla.arm.dynamics import GRAVITY, ArmDynamics
from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.chain import Chain, turns
from kc_vla.core.compliance import Payload
from kc_vla.core.inertia import Inertia, read_inertia
from kc_vla.core.robot import RobotError, load_robot
from kc_vla.core.share import share

STEP = 1e-5
MOUNTS = [(0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0)]


def random_chain(joints: int, chance: np.random.Generator) -> Chain:
    def axes() -> np.ndarray:
        found = chance.normal(size=(joints, 3))
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    origins = np.tile(np.eye(4), (joints + 1, 1, 1))
    origins[:joints, :3, :3] = turns(axes(), chance.uniform(-3, 3, joints))
    origins[:, :3, 3] = chance.uniform(-0.4, 0.4, (joints + 1, 3))
    return Chain(origins[:joints], axes(), origins[joints])


def random_arm(joints: int, seed: int, down: tuple[float, float, float]) -> tuple[ArmDynamics, np.ndarray]:
    chance = np.random.default_rng(seed)
    halves = chance.normal(size=(joints, 3, 3)) * 0.05
    tensors = halves @ halves.transpose(0, 2, 1)
    inertia = Inertia(chance.uniform(0.05, 3.0, joints), chance.uniform(-0.2, 0.2, (joints, 3)), tensors)
    payload = Payload(float(chance.uniform(0, 2)), tuple(chance.uniform(-0.2, 0.2, 3).tolist()))
    dynamics = ArmDynamics(Kinematics(random_chain(joints, chance)), inertia, payload, down)
    return dynamics, chance.uniform(-3, 3, joints)


@tried(40, 400)
@given(joints=st.integers(1, 8), seed=st.integers(0, 2**32 - 1), down=st.sampled_from(MOUNTS))
def test_the_torques_are_the_slope_of_the_potential_energy(joints: int, seed: int, down: tuple[float, ...]) -> None:
    dynamics, angles = random_arm(joints, seed, down)
    moves = STEP * np.eye(joints)
    slope = [(dynamics.potential(angles + move) - dynamics.potential(angles - move)) / (2 * STEP) for move in moves]
    np.testing.assert_allclose(dynamics.gravity(angles), slope, atol=1e-6)
    many = np.stack([angles, angles + 0.1])
    np.testing.assert_allclose(dynamics.gravity(many)[1], dynamics.gravity(many[1]), atol=1e-12)


@tried(20, 200)
@given(joints=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_the_mass_matrix_is_that_of_the_kinetic_energy(joints: int, seed: int) -> None:
    dynamics, angles = random_arm(joints, seed, MOUNTS[0])
    speeds, kinematics = np.random.default_rng(seed + 1).normal(size=joints), dynamics.kinematics
    ahead, behind = (kinematics.frames(angles + sign * STEP * speeds) for sign in (1, -1))
    energy = 0.0
    for k, (mass, center) in enumerate(zip(dynamics.inertia.masses, dynamics.inertia.centers, strict=True)):
        moved, turned = (ahead[k] - behind[k]) / (2 * STEP), kinematics.frames(angles)[k, :3, :3]
        speed = moved @ np.append(center, 1.0)
        spin = (turned.T @ moved[:3, :3])[[2, 0, 1], [1, 2, 0]]  # of the body, in its own frame
        energy += mass * speed[:3] @ speed[:3] / 2 + spin @ dynamics.inertia.tensors[k] @ spin / 2
    at = (ahead[-1] - behind[-1]) / (2 * STEP) @ np.append(dynamics.payload.center, 1.0)
    energy += dynamics.payload.mass * at[:3] @ at[:3] / 2
    assert speeds @ dynamics.mass_matrix(angles) @ speeds / 2 == pytest.approx(energy, rel=1e-5)


def test_a_level_arm_of_a_kilogram_and_a_meter_needs_its_weight() -> None:
    chain = Chain(np.eye(4)[None], np.array([[0.0, 1.0, 0.0]]), np.eye(4))
    body = Inertia(np.ones(1), np.array([[1.0, 0.0, 0.0]]), np.zeros((1, 3, 3)))
    arm = ArmDynamics(Kinematics(chain), body)
    np.testing.assert_allclose(arm.gravity(np.zeros(1)), [-GRAVITY])  # about +y, +x turns down
    np.testing.assert_allclose(
        replace(arm, payload=Payload(0.5, (1.0, 0.0, 0.0))).gravity(np.zeros(1)), [-1.5 * GRAVITY]
    )


def test_a_piper_weighs_what_its_links_and_gripper_weigh_and_carries_them() -> None:
    inertia = read_inertia(PIPER)
    np.testing.assert_allclose(inertia.masses, [0.71, 1.16, 0.5, 0.38, 0.383, 0.507])
    level = np.radians([0.0, 90.0, -90.0, 0.0, 0.0, 0.0])
    torques = ArmDynamics(KINEMATICS, inertia).gravity(level)
    assert torques[0] == pytest.approx(0.0, abs=1e-9)  # its axis is upright
    assert 2.0 < abs(torques[1]) < 13.0


@pytest.mark.parametrize("name", ["piper_h", "piper_l", "piper_x", "panda_sim"])
def test_a_robot_whose_urdf_has_no_masses_has_no_inertias(name: str) -> None:
    with pytest.raises(
        RobotError, match=r"inertias of robot '.*' are not known: .*urdf: the link that joint .* no mass"
    ):
        read_inertia(load_robot(name))


@pytest.mark.parametrize(
    ("was", "becomes", "why"),
    [
        ('<mass value="1.16" />', '<mass value="1160" />', "1160 kg: is this g"),
        ('<mass value="1.16" />', "", "no finite value of its mass"),
        ('xyz="0.21852 -0.00861 0.00126"', 'xyz="218.52 -8.61 1.26"', "is this mm"),
        ('ixx="0.00111915"', 'ixx="-1"', "moments of inertia that no body can have"),
        ('ixx="0.00111915"', 'ixx="nan"', "no finite ixx"),
    ],
)
def test_inertias_that_cannot_be_are_refused_with_the_link(was: str, becomes: str, why: str, tmp_path: Path) -> None:
    text = (share("robots") / "urdf/piper.urdf").read_text()
    assert was in text
    (tmp_path / "mine.urdf").write_text(text.replace(was, becomes))
    content = yaml.safe_load((share("robots") / "piper.yaml").read_text()) | {"urdf": "mine.urdf"}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    robot = load_robot(str(tmp_path / "mine.yaml"))  # what else it is used for needs none
    with pytest.raises(RobotError, match=f"link2.*{why}"):
        read_inertia(robot)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"stiffness": 5000}, "stiffness of compliance is 5000, which is too much: it is in N m/rad"),
        ({"hold": 2000}, "it is in N m: did you give N mm"),
        ({"hold": 0}, "must be a number above 0"),
        ({"hold": 20, "stiffness": 50}, "would spring back"),
        ({"damping": [1, 2]}, "one number, or 6"),
        ({"speed": 60}, "did you give degrees per second"),
        ({"payload": {"mass": 500}}, "did you give g"),
        ({"payload": {"mass": 0.5, "center": [0, 0, 100]}}, "did you give mm"),
        ({"payload": 0.5}, "mapping of mass"),
        ({"stifness": 50}, "stifness is not known"),
        ({"torque": None}, "torque is missing"),
    ],
)
def test_gains_that_cannot_be_meant_are_refused(changed: dict[str, object], why: str, tmp_path: Path) -> None:
    content = yaml.safe_load((share("robots") / "piper.yaml").read_text())
    section = {**content["compliance"], **changed}
    content["compliance"] = {key: value for key, value in section.items() if value is not None}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    with pytest.raises(RobotError, match=why):
        load_robot(str(tmp_path / "mine.yaml"))
