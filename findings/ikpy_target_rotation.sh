#!/usr/bin/env bash
# ikpy: inverse_kinematics_frame() ignores the rotation of the pose that it is given.
#
# Guess:  A 4 x 4 target pose is reached in position and rotation.
# Truth:  The position alone is reached, and the gripper points elsewhere: 79 degrees off here. Nothing is raised or
#         logged. With orientation_mode="all" the same call reaches the pose. A target out of reach raises nothing,
#         either: compare forward_kinematics() of the answer with the target.
# Seen:   ikpy 4.2.1, numpy 2.4.6, scipy 1.17.1, Python 3.11, 2026-11-29.
# Source: ikpy/chain.py, Chain.inverse_kinematics_frame; ikpy/inverse_kinematics.py, orientation_mode=None.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq ikpy==4.2.1 numpy==2.4.6 scipy==1.17.1
"$folder/venv/bin/python" - <<'PROGRAM'
import sys
from importlib.metadata import version

import numpy as np
from ikpy.chain import Chain
from ikpy.link import OriginLink, URDFLink

print("ikpy", version("ikpy"), "numpy", np.__version__)
joints = [([0, 0, 1], 0.1, 0), ([0, 1, 0], 0.2, 0), ([0, 1, 0], 0.3, 0),
          ([1, 0, 0], 0, 0.1), ([0, 1, 0], 0, 0.2), ([1, 0, 0], 0, 0.1)]  # axis, offset along z and x in m
arm = Chain([OriginLink()] + [
    URDFLink(f"joint{number}", origin_translation=[x, 0, z], origin_orientation=[0, 0, 0], rotation=axis,
             bounds=(-2.5, 2.5)) for number, (axis, z, x) in enumerate(joints, 1)],
            active_links_mask=[False] + [True] * 6)
target = arm.forward_kinematics([0, 0.3, 0.4, 0.5, -0.6, 0.7, 0.2])  # a pose that the arm can reach

off = {}
for mode in (None, "all"):
    answer = arm.inverse_kinematics_frame(target, **({} if mode is None else {"orientation_mode": mode}))
    reached = arm.forward_kinematics(answer)
    cosine = (np.trace(reached[:3, :3].T @ target[:3, :3]) - 1) / 2
    off[mode] = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    print(f"orientation_mode={mode}: {np.linalg.norm(reached[:3, 3] - target[:3, 3]):.6f} m and "
          f"{off[mode]:.2f} degrees off")
if off[None] < 10 or off["all"] > 0.1:
    sys.exit("CHANGED: the rotation of the target is reached by default, or not with orientation_mode='all'.")
print("As recorded: the rotation of the target is ignored by default.")
PROGRAM
