#!/usr/bin/env bash
# mink: adding a velocity limit to solve_ik() turns the joint limits off.
#
# Guess:  solve_ik() keeps the joint limits of the model, and limits=[VelocityLimit(...)] adds to them.
# Truth:  The joint limits are the default value of the argument limits, so the list replaces them. The arm moves slowly
#         and goes through its limit: 0.57 rad here. Give [ConfigurationLimit(model), VelocityLimit(...)].
# Seen:   mink 1.3.0, mujoco 4.0.0, daqp 0.11.0, numpy 2.4.6, Python 3.11, 2026-11-28.
# Source: mink/solve_ik.py, the argument limits of build_ik and solve_ik.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq mink==1.3.0 mujoco==4.0.0 daqp==0.11.0 qpsolvers==4.13.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PROGRAM'
import sys
from importlib.metadata import version

import mink
import mujoco
import numpy as np

print("mink", version("mink"), "mujoco", mujoco.__version__)
model = mujoco.MjModel.from_xml_string("""
<mujoco><compiler angle="radian"/><worldbody>
  <body><joint name="shoulder" axis="0 0 1" range="-1 1"/><geom size="0.02"/>
    <body pos="0.3 0 0"><joint name="elbow" axis="0 0 1" range="-1 1"/><geom size="0.02"/>
      <site name="tip" pos="0.3 0 0"/></body></body>
</worldbody></mujoco>""")
task = mink.FrameTask("tip", "site", position_cost=1.0, orientation_cost=0.0)
task.set_target(mink.SE3.from_translation(np.array([0.0, 0.6, 0.0])))  # straight to the left: shoulder at 1.57 rad
velocities = mink.VelocityLimit(model, {"shoulder": 1.0, "elbow": 1.0})  # rad/s

reached = {}
for name, limits in (("no limits given", None), ("[VelocityLimit]", [velocities]),
                     ("[ConfigurationLimit, VelocityLimit]", [mink.ConfigurationLimit(model), velocities])):
    arm = mink.Configuration(model, np.array([0.1, 0.1]))
    for _ in range(500):
        arm.integrate_inplace(mink.solve_ik(arm, [task], 0.01, "daqp", limits=limits), 0.01)
    reached[name] = float(np.abs(arm.q).max())
    print(f"{name}: the farthest joint stands at {reached[name]:.3f} rad, the limit of both joints is 1 rad")
if list(np.round(list(reached.values()), 1)) != [1.0, 1.6, 1.0]:
    sys.exit("CHANGED: the joint limits hold beside a velocity limit.")
print("As recorded: with a velocity limit alone, the arm leaves its joint limits.")
PROGRAM
