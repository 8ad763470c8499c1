#!/usr/bin/env bash
# toppra: the trajectory that TOPPRA returns by default exceeds the acceleration limits that it was given.
#
# Guess:  JointAccelerationConstraint bounds the acceleration of the trajectory, up to rounding.
# Truth:  The algorithm keeps the limits, but compute_trajectory() then fits a cubic spline through its times, which
#         overshoots: 15 % here. parametrizer="ParametrizeConstAccel" gives a trajectory of the same duration that keeps
#         the limit to a thousandth.
# Seen:   toppra 0.6.10, numpy 2.4.6, scipy 1.17.1, Python 3.11, 2026-11-28.
# Source: toppra/algorithm/algorithm.py takes ParametrizeSpline by default; issue 150 of hungpham2511/toppra.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq toppra==0.6.10 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" - <<'PROGRAM'
import sys
from importlib.metadata import version

import numpy as np
import toppra
from toppra.algorithm import TOPPRA
from toppra.constraint import JointAccelerationConstraint, JointVelocityConstraint

print("toppra", version("toppra"), "numpy", np.__version__)
toppra.setup_logging("ERROR")
LIMIT = 2.0  # rad/s^2
waypoints = [[0.0, 0.0, 0.0], [0.8, -0.5, 0.3], [0.2, 0.6, -0.4], [1.0, 0.1, 0.5], [0.3, -0.4, 0.0]]  # rad
path = toppra.SplineInterpolator(np.linspace(0, 1, len(waypoints)), waypoints)
limits = [JointVelocityConstraint([[-1.0, 1.0]] * 3), JointAccelerationConstraint([[-LIMIT, LIMIT]] * 3)]

highest = {}
for choice in (None, "ParametrizeConstAccel"):
    trajectory = TOPPRA(limits, path, parametrizer=choice).compute_trajectory()
    times = np.linspace(0, trajectory.duration, 20_001)
    highest[choice] = np.abs(trajectory(times, 2)).max()
    print(f"parametrizer={choice}: {trajectory.duration:.3f} s, highest acceleration {highest[choice]:.3f} rad/s^2, "
          f"limit {LIMIT}")
if highest[None] < 1.05 * LIMIT or highest["ParametrizeConstAccel"] > 1.01 * LIMIT:
    sys.exit("CHANGED: the default trajectory keeps the limit, or the other one does not.")
print("As recorded: the default trajectory exceeds its acceleration limit.")
PROGRAM
