#!/usr/bin/env bash
# pinocchio, urchin, yourdfpy: three libraries give the joints of one URDF file three orders.
#
# Guess:  All of them number the joints in the order of the file, so an array of joint angles can be passed on.
# Truth:  Only yourdfpy does. pinocchio sorts the branches by name. urchin sorts by the distance from the base and so
#         interleaves the two arms. An array of the right length moves the wrong arm, and nothing is raised. Pass angles
#         by name, or reorder them with model.names and actuated_joints.
# Seen:   pin 4.1.0, urchin 0.0.30, yourdfpy 0.0.60, numpy 2.4.6, Python 3.11, 2026-11-29.
# Source: pinocchio's URDF parser walks a map of links; urchin/urdf.py, URDF._sort_joints; stack-of-tasks/pinocchio 379.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq pin==4.1.0 urchin==0.0.30 yourdfpy==0.0.60 numpy==2.4.6
"$folder/venv/bin/python" - "$folder/arms.urdf" <<'PROGRAM'
import sys
from importlib.metadata import version
from pathlib import Path

import pinocchio
import urchin
import yourdfpy

print(*(f"{name} {version(name)}" for name in ("pin", "urchin", "yourdfpy")))
links, joints = ['<link name="base"/>'], []
for side in ("right", "left"):
    parent = "base"
    for number in (1, 2):
        links.append(f'<link name="{side}_link{number}"/>')
        joints.append(f'<joint name="{side}_{number}" type="revolute"><parent link="{parent}"/>'
                      f'<child link="{side}_link{number}"/><axis xyz="0 0 1"/>'
                      '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>')
        parent = f"{side}_link{number}"
Path(sys.argv[1]).write_text(f'<robot name="arms">{"".join(links + joints)}</robot>')

orders = {
    "yourdfpy": list(yourdfpy.URDF.load(sys.argv[1], load_meshes=False).actuated_joint_names),
    "pinocchio": list(pinocchio.buildModelFromUrdf(sys.argv[1]).names)[1:],
    "urchin": [joint.name for joint in urchin.URDF.load(sys.argv[1]).actuated_joints],
}
for library, order in orders.items():
    print(f"{library}: {order}")
if orders != {"yourdfpy": ["right_1", "right_2", "left_1", "left_2"],
              "pinocchio": ["left_1", "left_2", "right_1", "right_2"],
              "urchin": ["right_1", "left_1", "right_2", "left_2"]}:
    sys.exit("CHANGED: a library orders the joints in another way.")
print("As recorded: the same array means another joint in each library.")
PROGRAM
