"""Calibration finds cameras, hand-eye poses, joint offsets and latencies that are known, and refuses poor material."""

from pathlib import Path

import numpy as np
import pytest
from piper import KINEMATICS, PIPER
from rendered_board import DISTORTION, MATRIX, SIZE, looking_pose, render
from scipy.spatial.transform import Rotation

from kc_vla.calibration.board import CalibrationBoard, Corners
from kc_vla.calibration.errors import PoorCalibrationError
from kc_vla.calibration.hand_eye import calibrate_hand_eye, calibrate_joints, pose_of
from kc_vla.calibration.intrinsics import board_pose, calibrate_intrinsics, reprojection_rms
from kc_vla.calibration.latency import measure_latency
from kc_vla.policy.scripted import load_script

BOARD = CalibrationBoard()
SCRIPT = Path(__file__).parents[4] / "launch" / "params" / "hand_eye_script.yaml"


@pytest.fixture(scope="module")
def views() -> list[Corners]:
    chance = np.random.default_rng(0)
    found = [BOARD.find(render(BOARD, looking_pose(chance, BOARD), chance)) for _ in range(30)]
    return [view for view in found if view is not None]


def test_a_known_lens_is_found(views):
    assert len(views) > 20
    lens = calibrate_intrinsics(views, SIZE)
    assert lens.rms < 0.3
    np.testing.assert_allclose(lens.matrix, MATRIX, atol=5.0)
    # what counts: where a board is that no choice has seen
    chance = np.random.default_rng(9)
    for _ in range(5):
        pose = looking_pose(chance, BOARD)
        view = BOARD.find(render(BOARD, pose, chance))
        if view is not None:
            found = board_pose(view, lens.matrix, lens.distortion)
            assert reprojection_rms(view, lens.matrix, lens.distortion, found) < 0.3
            assert np.linalg.norm(found[:3, 3] - pose[:3, 3]) < 3e-3


def test_poor_material_is_refused_with_what_to_do(views):
    with pytest.raises(PoorCalibrationError, match="at least 10"):
        calibrate_intrinsics(views[:9], SIZE)
    with pytest.raises(PoorCalibrationError, match="show it in the corners"):
        calibrate_intrinsics([views[0]] * 12, SIZE)
    straight = np.eye(4)
    straight[:3, 3] = [-0.13, -0.09, 0.23]
    flat = []
    for shift in np.linspace(-0.08, 0.08, 12):
        straight[0, 3] = -0.13 + shift
        flat.append(BOARD.find(render(BOARD, straight)))
    with pytest.raises(PoorCalibrationError, match=r"tilt it|corners"):
        calibrate_intrinsics([view for view in flat if view is not None], SIZE)
    chance = np.random.default_rng(1)
    shaken = [Corners(view.pixels + chance.normal(0, 3, view.pixels.shape), view.points) for view in views]
    with pytest.raises(PoorCalibrationError, match="the residual is"):
        calibrate_intrinsics(shaken, SIZE)


def test_a_picture_without_the_board_says_nothing():
    assert BOARD.find(np.full((480, 640, 3), 128, np.uint8)) is None
    far = np.eye(4)
    far[:3, 3] = [0.0, 0.0, 5.0]
    assert BOARD.find(render(BOARD, far)) is None


CAMERA = pose_of(np.array([0.05, -0.02, 0.06, 0.1, -0.2, 0.3]))
PLACED = pose_of(np.array([0.35, 0.1, 0.02, 0.0, 0.1, 0.4]))


def carrier(flange: np.ndarray, in_hand: bool) -> np.ndarray:
    return flange if in_hand else np.linalg.inv(flange)


@pytest.mark.parametrize("in_hand", [True, False], ids=["eye in hand", "eye to hand"])
def test_a_known_camera_is_found_against_the_arm(in_hand):
    chance = np.random.default_rng(3)
    flanges, boards = [], []
    while len(boards) < 20:
        seen = looking_pose(chance, BOARD)
        corners = BOARD.find(render(BOARD, seen, chance))
        if corners is not None:
            flanges.append(carrier(PLACED @ np.linalg.inv(seen) @ np.linalg.inv(CAMERA), in_hand))
            boards.append(board_pose(corners, MATRIX, DISTORTION))
    found = calibrate_hand_eye(flanges, boards, in_hand)
    assert np.linalg.norm(found.camera[:3, 3] - CAMERA[:3, 3]) < 1e-3
    turn = Rotation.from_matrix(found.camera[:3, :3] @ CAMERA[:3, :3].T).magnitude()
    assert np.degrees(turn) < 0.3
    assert np.median(found.place_mm) < 1.0


@pytest.mark.parametrize("mount", [[0.06, 0.0, 0.02, 0.0, 0.0, 0.0], [-0.07, 0.0, 0.02, 0.0, 0.1, 1.57]])
def test_the_script_shows_the_board_on_the_table_from_all_sides(mount):
    """The camera may be on any side of the flange, upright or not."""
    chance, camera, board = np.random.default_rng(0), pose_of(np.array(mount)), np.eye(4)
    board[:3, :3] = [[0, -1, 0], [-1, 0, 0], [0, 0, -1]]
    board[:3, 3] = [0.36, 0.0, 0.0] - board[:3, :3] @ [
        BOARD.columns * BOARD.square / 2,
        BOARD.rows * BOARD.square / 2,
        0,
    ]
    flanges, boards = [], []
    for pose in load_script(SCRIPT, PIPER)[::2]:
        flange = KINEMATICS.flange(pose.values[:6])
        corners = BOARD.find(render(BOARD, np.linalg.inv(flange @ camera) @ board, chance))
        if corners is not None:
            flanges.append(flange)
            boards.append(board_pose(corners, MATRIX, DISTORTION))
    found = calibrate_hand_eye(flanges, boards, in_hand=True)
    assert np.linalg.norm(found.camera[:3, 3] - camera[:3, 3]) < 1e-3


def moments(offsets: np.ndarray, in_hand: bool, number: int = 25):
    """Angles that an arm with these offsets tells, and where the camera sees the board, to about 0.2 mm."""
    chance = np.random.default_rng(5)
    angles, boards = [], []
    for _ in range(number):
        told = np.radians(chance.uniform([-60, 20, -110, -70, -60, -90], [60, 110, -20, 70, 60, 90]))
        seen = np.linalg.inv(carrier(KINEMATICS.flange(told + offsets), in_hand) @ CAMERA) @ PLACED
        angles.append(told)
        boards.append(pose_of(chance.normal(0, 2e-4, 6)) @ seen)
    return angles, boards


@pytest.mark.parametrize("in_hand", [True, False], ids=["eye in hand", "eye to hand"])
def test_known_joint_offsets_are_found(in_hand):
    offsets = np.radians([0.0, 0.8, -1.2, 0.5, -0.7, 0.0])
    found = calibrate_joints(*moments(offsets, in_hand), in_hand, KINEMATICS.flange)
    np.testing.assert_allclose(np.degrees(found.offsets), np.degrees(offsets), atol=0.1)
    assert found.after_mm < 0.5 < found.before_mm


def test_poor_poses_are_refused_with_what_to_do():
    angles, boards = moments(np.zeros(6), in_hand=True)
    flanges = [KINEMATICS.flange(a) for a in angles]
    with pytest.raises(PoorCalibrationError, match="at least 8"):
        calibrate_hand_eye(flanges[:7], boards[:7], in_hand=True)
    with pytest.raises(PoorCalibrationError, match="hardly turned"):
        calibrate_hand_eye([pose_of(np.array([0.01 * k, 0, 0, 0, 0, 0.1 * k])) for k in range(10)], boards[:10], True)
    with pytest.raises(PoorCalibrationError, match=r"the board seems to move|no place of the camera"):
        calibrate_hand_eye(flanges, boards[::-1], in_hand=True)


@pytest.mark.parametrize("delay", [0.0, 0.033, 0.1217, -0.05])
def test_a_known_latency_is_found(delay):
    chance = np.random.default_rng(1)
    joints, camera = np.arange(0, 12, 0.01), np.sort(np.arange(0, 12, 0.05) + chance.normal(0, 0.003, 240))

    def speed(seconds):
        return np.abs(np.sin(1.3 * seconds) + 0.7 * np.sin(2.9 * seconds + 1)) * (np.sin(0.4 * seconds) > -0.5)

    seen = 30 * speed(camera - delay) + chance.normal(0, 0.5, len(camera))
    assert measure_latency(joints, speed(joints), camera, seen).seconds == pytest.approx(delay, abs=0.005)


def test_signals_that_say_nothing_are_refused():
    times = np.arange(0, 10, 0.02)
    chance = np.random.default_rng(2)
    moves = np.abs(np.sin(times))
    with pytest.raises(PoorCalibrationError, match="nothing moves"):
        measure_latency(times, np.zeros_like(times), times, moves)
    with pytest.raises(PoorCalibrationError, match="in common"):
        measure_latency(times, moves, times + 8, moves)
    with pytest.raises(PoorCalibrationError, match="alike by"):
        measure_latency(times, chance.random(len(times)), times, chance.random(len(times)))


def test_the_printed_board_has_its_true_size(tmp_path):
    BOARD.write_pdf(tmp_path / "board.pdf")
    text = (tmp_path / "board.pdf").read_bytes()
    assert text.startswith(b"%PDF")
    box = [float(number) for number in text.split(b"/MediaBox")[1].split(b"[")[1].split(b"]")[0].split()]
    np.testing.assert_allclose(np.array(box[2:]) / 72 * 25.4, [297, 210], atol=0.5)
    assert f"squares of {1e3 * BOARD.square:g} mm" in BOARD.title
    assert "100 %" in BOARD.title
    with pytest.raises(PoorCalibrationError, match="does not fit on A4"):
        CalibrationBoard(columns=20).write_pdf(tmp_path / "large.pdf")
