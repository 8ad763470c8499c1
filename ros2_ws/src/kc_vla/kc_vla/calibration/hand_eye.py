"""Where a camera is against the arm: on its flange (eye in hand) or beside it (eye to hand).

OpenCV's solution (Park and Martin, 1994) is where a least-squares fit over all poses begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from kc_vla.calibration.board import Array
from kc_vla.calibration.errors import MissingSolverError, PoorCalibrationError

FEWEST_POSES = 8
_TURNED = np.radians(30.0)
"""The flange must have been turned so far between some poses, about two axes."""
_WORST_MM, _WORST_DEGREES = 5.0, 1.0
_METRES_PER_RADIAN = 0.3
"""How much a wrong rotation weighs beside a wrong place: the distance at which the board is seen."""


@dataclass(frozen=True, eq=False)
class HandEye:
    """The result.

    Attributes:
        camera: pose (4, 4) of the camera, m: in the flange's frame (eye in hand) or in the base frame (eye to hand).
        board: pose (4, 4) of the board, m: in the base frame (eye in hand) or in the flange's (eye to hand).
        place_mm: how far the board seems to move from pose to pose (P,), mm.
        turn_degrees: the same for its rotation (P,), degrees.
    """

    camera: Array
    board: Array
    place_mm: Array
    turn_degrees: Array


def calibrate_hand_eye(flanges: Sequence[Array], boards: Sequence[Array], in_hand: bool) -> HandEye:
    """Return the pose of the camera that lets the board stand still (in hand), or ride still on the flange (to hand).

    Args:
        flanges: pose (4, 4) of the flange in the base frame at each moment, m.
        boards: pose (4, 4) of the board in the camera frame at the same moments, m.
        in_hand: the camera is on the flange; otherwise it stands, and the board is on the flange.

    Raises:
        PoorCalibrationError: too few poses, poses that are all alike, or residuals that are too large.
        MissingSolverError: the installed OpenCV cannot solve it.
    """
    result = _solve(flanges, boards, in_hand)
    if np.median(result.place_mm) > _WORST_MM or np.median(result.turn_degrees) > _WORST_DEGREES:
        raise PoorCalibrationError(
            f"the board seems to move by {np.median(result.place_mm):.1f} mm and "
            f"{np.median(result.turn_degrees):.2f} degrees between the poses ({_WORST_MM:g} mm and {_WORST_DEGREES:g} "
            "degrees are the worst): was it fixed, did the arm stand still, are the lens and the squares right?"
        )
    return result


def _solve(flanges: Sequence[Array], boards: Sequence[Array], in_hand: bool) -> HandEye:
    """Solve for the pose of the camera from poses of the flange and of the board.

    Raises:
        PoorCalibrationError: too few poses, or none that say anything.
        MissingSolverError: the installed OpenCV cannot solve it.
    """
    if len(flanges) != len(boards):
        raise ValueError(f"{len(flanges)} poses of the flange for {len(boards)} of the board")
    if len(flanges) < FEWEST_POSES:
        raise PoorCalibrationError(f"{len(flanges)} poses with the board in view: at least {FEWEST_POSES} are needed")
    _require_turns(flanges)
    if not hasattr(cv2, "calibrateHandEye"):  # what another package installs over the right one
        raise MissingSolverError(
            f"OpenCV {cv2.__version__} has no calibrateHandEye, 4 has: "
            "pip install --force-reinstall --no-deps 'opencv-python-headless<5'"
        )
    # What rides and what stands: the board in the base = flange @ camera @ board (in hand); the same with the flange's
    # pose turned round gives the board on the flange (to hand).
    carriers = [flange if in_hand else np.linalg.inv(flange) for flange in flanges]
    turn, place = cv2.calibrateHandEye(
        [c[:3, :3] for c in carriers],
        [c[:3, 3] for c in carriers],
        [b[:3, :3] for b in boards],
        [b[:3, 3] for b in boards],
        method=cv2.CALIB_HAND_EYE_PARK,
    )
    first = np.eye(4)
    first[:3, :3], first[:3, 3] = np.asarray(turn), np.ravel(place)
    if not np.isfinite(first).all() or np.linalg.det(first) < 0.5:
        raise PoorCalibrationError(
            "no place of the camera explains these poses: was the board fixed, do images and poses belong together?"
        )

    def errors(values: Array) -> Array:
        camera, board = pose_of(values[:6]), pose_of(values[6:])
        return np.concatenate([_difference(board, c @ camera @ seen) for c, seen in zip(carriers, boards, strict=True)])

    middle = carriers[0] @ first @ boards[0]
    found = least_squares(errors, np.concatenate([numbers_of(first), numbers_of(middle)]), x_scale="jac")
    left = errors(found.x).reshape(-1, 6)
    return HandEye(
        pose_of(found.x[:6]),
        pose_of(found.x[6:]),
        np.linalg.norm(left[:, :3], axis=1) * 1e3,
        np.degrees(np.linalg.norm(left[:, 3:], axis=1) / _METRES_PER_RADIAN),
    )


@dataclass(frozen=True, eq=False)
class JointOffsets:
    """What has to be added to the angles that an arm tells.

    Attributes:
        offsets: offsets of the joints (6,), rad; those of the first and the last joint are 0, because they cannot be
            told apart from where the camera and the board are.
        before_mm, after_mm: median distance that the board seems to move, without and with the offsets.
    """

    offsets: Array
    before_mm: float
    after_mm: float


def calibrate_joints(
    angles: Sequence[Array], boards: Sequence[Array], in_hand: bool, kinematics: Callable[[Array], Array]
) -> JointOffsets:
    """Return the offsets of the middle joints that let the board stand still best.

    Args:
        angles: of the joints (6,) at each moment, rad, as the arm reported them.
        boards, in_hand: as for `calibrate_hand_eye`.
        kinematics: joint angles (6,) to the pose of the flange (4, 4).

    Raises:
        PoorCalibrationError: too few poses, poses that are all alike, or offsets that are no better than none.
        MissingSolverError: the installed OpenCV cannot solve it.
    """
    before = _solve([kinematics(a) for a in angles], boards, in_hand)

    def moved(values: Array) -> Array:
        offsets = np.concatenate([[0.0], values[12:], [0.0]])
        camera, board = pose_of(values[:6]), pose_of(values[6:12])
        rows = []
        for told, seen in zip(angles, boards, strict=True):
            flange = kinematics(told + offsets)
            carrier = flange if in_hand else np.linalg.inv(flange)
            rows.append(_difference(board, carrier @ camera @ seen))
        return np.concatenate(rows)

    start = np.concatenate([numbers_of(before.camera), numbers_of(before.board), np.zeros(4)])
    found = least_squares(moved, start, x_scale="jac")
    after = np.median(np.linalg.norm(moved(found.x).reshape(-1, 6)[:, :3], axis=1)) * 1e3
    before_mm = float(np.median(before.place_mm))
    if after > before_mm:
        raise PoorCalibrationError(f"offsets do not help: {before_mm:.2f} mm without, {after:.2f} mm with them")
    return JointOffsets(np.concatenate([[0.0], found.x[12:], [0.0]]), before_mm, float(after))


def pose_of(numbers: Array) -> Array:
    """Return the pose (4, 4) of x, y, z in m and a rotation vector in rad (6,)."""
    pose = np.eye(4)
    pose[:3, 3] = numbers[:3]
    pose[:3, :3] = Rotation.from_rotvec(numbers[3:]).as_matrix()
    return pose


def numbers_of(pose: Array) -> Array:
    """Return x, y, z in m and the rotation vector in rad (6,) of a pose (4, 4)."""
    return np.concatenate([pose[:3, 3], Rotation.from_matrix(pose[:3, :3]).as_rotvec()])


def _difference(pose: Array, other: Array) -> Array:
    """Place in m and rotation in m at the board's distance (6,)."""
    turn = Rotation.from_matrix(other[:3, :3] @ pose[:3, :3].T).as_rotvec()
    return np.concatenate([other[:3, 3] - pose[:3, 3], turn * _METRES_PER_RADIAN])


def _require_turns(flanges: Sequence[Array]) -> None:
    turns = Rotation.from_matrix([flanges[0][:3, :3].T @ f[:3, :3] for f in flanges[1:]]).as_rotvec()
    spread = np.linalg.svd(turns, compute_uv=False) / np.sqrt(len(turns))
    if spread[1] < _TURNED / 2:
        raise PoorCalibrationError(
            "the flange was hardly turned about a second axis: turn it by 30 degrees and more, to all sides"
        )
