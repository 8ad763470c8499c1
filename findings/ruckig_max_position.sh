#!/usr/bin/env bash
# ruckig: max_position is accepted and not looked at.
#
# Guess:  With max_position set, a trajectory stays below it, or calculate() returns an error.
# Truth:  The free version from the package index has the fields min_position and max_position, validates the input and
#         ignores them. A joint that moves fast near its limit overshoots through it and comes back, although start and
#         target lie inside. Check trajectory.position_extrema yourself.
# Seen:   ruckig 0.19.4, Python 3.11, 2026-11-28.
# Source: ruckig/input_parameter.hpp declares the fields; only the paid version uses them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq ruckig==0.19.4
"$folder/venv/bin/python" - <<'PROGRAM'
import sys
from importlib.metadata import version

from ruckig import InputParameter, Result, Ruckig, Trajectory

print("ruckig", version("ruckig"))
state = InputParameter(1)
state.min_position, state.max_position = [-1.0], [1.0]
state.max_velocity, state.max_acceleration, state.max_jerk = [2.0], [2.0], [20.0]
state.current_position, state.current_velocity = [0.9], [1.5]
state.target_position = [0.95]

planner, trajectory = Ruckig(1), Trajectory(1)
valid = planner.validate_input(state)
result = planner.calculate(state, trajectory)
highest = trajectory.position_extrema[0].max
print(f"max_position {state.max_position[0]}, start {state.current_position[0]}, target {state.target_position[0]}")
print(f"validate_input: {valid}, calculate: {result}, highest position of the trajectory: {highest:.3f}")
if not valid or result not in (Result.Working, Result.Finished) or highest < 1.05:
    sys.exit("CHANGED: the trajectory respects max_position, or the input is refused.")
print("As recorded: the trajectory goes through max_position.")
PROGRAM
