#!/usr/bin/env bash
# OpenCV: calibrateHandEye() answers without an error when the arm turned about one axis only.
#
# Guess:  15 poses without noise give the right answer, or an error when the movements do not determine it.
# Truth:  Turns about one axis do not determine the transform. No method raises: Tsai and Horaud are tens of degrees
#         off, Park returns NaN, Andreff and Daniilidis are right in rotation and centimeters to meters off in
#         translation. All five are exact for turns about several axes, so tilt the camera between the poses, and check
#         the spread of the axes yourself.
# Seen:   opencv-python-headless 4.14.0.94, numpy 2.4.6, Python 3.11, 2026-11-28.
# Source: modules/calib3d/src/calibration_handeye.cpp checks the number of poses alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq opencv-python-headless==4.14.0.94 numpy==2.4.6
"$folder/venv/bin/python" - <<'PROGRAM'
import sys

import cv2
import numpy as np

print("OpenCV", cv2.__version__, "numpy", np.__version__)


def pose(rotation_vector, translation):
    """Return a 4 x 4 transform (rotation vector in rad, translation in m)."""
    matrix = np.eye(4)
    matrix[:3, :3] = cv2.Rodrigues(np.array(rotation_vector, float))[0]
    matrix[:3, 3] = translation
    return matrix


camera_in_gripper = pose([0.3, -0.2, 1.5], [0.03, -0.05, 0.08])
board_in_base = pose([3.0, 0.1, 0.2], [0.5, 0.1, 0.0])
random = np.random.default_rng(0)
errors = {}  # of each case and method: degrees and m
for case, free_axes in (("several axes", [1, 1, 1]), ("one axis", [0, 0, 1])):
    turns = random.uniform(-0.6, 0.6, (15, 3)) * free_axes
    places = [0.5, 0.0, 0.4] + random.uniform(-0.1, 0.1, (15, 3))
    grippers = [pose(turn, place) @ pose([3.1, 0, 0], [0, 0, 0]) for turn, place in zip(turns, places, strict=True)]
    boards = [np.linalg.inv(gripper @ camera_in_gripper) @ board_in_base for gripper in grippers]
    for method in ("TSAI", "PARK", "HORAUD", "ANDREFF", "DANIILIDIS"):
        rotation, translation = cv2.calibrateHandEye(
            [gripper[:3, :3] for gripper in grippers], [gripper[:3, 3] for gripper in grippers],
            [board[:3, :3] for board in boards], [board[:3, 3] for board in boards],
            method=getattr(cv2, f"CALIB_HAND_EYE_{method}"))
        cosine = (np.trace(rotation.T @ camera_in_gripper[:3, :3]) - 1) / 2
        degrees = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
        errors[case, method] = degrees, np.linalg.norm(translation[:, 0] - camera_in_gripper[:3, 3])
        print(f"turns about {case}, {method}: {errors[case, method][0]:.2f} degrees and "
              f"{errors[case, method][1]:.4f} m off")

exact = all(max(errors["several axes", method]) < 1e-3 for _, method in errors)
wrong = all(not max(errors["one axis", method]) < 0.01 for _, method in errors)  # "not": NaN counts, too
if not exact or not wrong:
    sys.exit("CHANGED: turns about one axis now give an answer that is right.")
print("As recorded: no method raises, and each one is wrong.")
PROGRAM
