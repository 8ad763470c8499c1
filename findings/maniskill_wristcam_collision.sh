#!/usr/bin/env bash
# ManiSkill panda_wristcam: the camera on the hand is an obstacle, and weighs more than half a kilogram.
#
# Guess:  "panda_wristcam" is the robot "panda" with another view: what fits the hand of one fits that of the other, so
#         that grasps and paths planned with Franka's URDF are free of collisions in the simulator, too.
# Truth:  Its URDF (panda_v3.urdf) has a link camera_link with a collision box of 2 x 10 x 2.3 cm, whose far side is
#         about 6 cm ahead of the hand's axis and 7 to 9 cm above the tool center point, where Franka's hand has
#         nothing. It meets the edge of a drawer or a shelf before the palm does. The URDF gives it 0.564 kg, where the
#         maker states 72 g for a RealSense D415. Plan with panda_v3.urdf, or add the box to the own model of the hand.
# Seen:   mani-skill 3.0.1, 2026-11-30.
# Source: assets/robots/panda/panda_v2.urdf (of "panda") and panda_v3.urdf (of "panda_wristcam") in the wheel.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq --disable-pip-version-check numpy==2.4.6 scipy==1.16.3
"$folder/venv/bin/pip" download -qq --disable-pip-version-check --no-deps -d "$folder" mani-skill==3.0.1
"$folder/venv/bin/python" - "$folder" <<'PROGRAM'
import sys
import zipfile
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

(wheel,) = Path(sys.argv[1]).glob("mani_skill-*.whl")
print(wheel.name)


def placed(element):
    """Return the transform of a joint or a shape (4, 4)."""
    origin, made = element.find("origin"), np.eye(4)
    if origin is not None:
        made[:3, :3] = Rotation.from_euler("xyz", [float(each) for each in origin.get("rpy", "0 0 0").split()]).as_matrix()
        made[:3, 3] = [float(each) for each in origin.get("xyz", "0 0 0").split()]
    return made


def shown(name):
    """Return what collides on the links fixed to the hand beside itself, with the extent of boxes, and their masses."""
    with zipfile.ZipFile(wheel) as files:
        robot = ElementTree.fromstring(files.read(f"mani_skill/assets/robots/panda/{name}"))
    at = {"panda_hand": np.eye(4)}
    for _ in range(3):
        for joint in robot.findall("joint"):
            parent = joint.find("parent").get("link")
            if parent in at and joint.get("type") == "fixed":
                at[joint.find("child").get("link")] = at[parent] @ placed(joint)
    tool = at["panda_hand_tcp"][2, 3]
    found = []
    for link in robot.findall("link"):
        if link.get("name") == "panda_hand" or link.get("name") not in at:
            continue
        for shape in link.findall("collision"):
            half = np.array([float(each) for each in shape.find("geometry/box").get("size").split()]) / 2
            corners = np.array([[*(half * signs), 1.0] for signs in product((-1, 1), repeat=3)])
            points = (at[link.get("name")] @ placed(shape) @ corners.T)[:3].T
            ahead, above = np.abs(points[:, 0]).max(), (tool - points[:, 2].max(), tool - points[:, 2].min())
            mass = float(link.find("inertial/mass").get("value"))
            found.append((link.get("name"), round(100 * ahead, 1), *(round(100 * each, 1) for each in above), mass))
    return found


hands = {name: shown(name) for name in ("panda_v2.urdf", "panda_v3.urdf")}
for name, parts in hands.items():
    print(f"{name}: " + ("; ".join(
        f"{link} reaches {ahead} cm ahead, {low} to {high} cm above the tool center point, {mass} kg"
        for link, ahead, low, high, mass in parts
    ) or "nothing collides beside hand and fingers"))
if hands["panda_v2.urdf"] or [each[0] for each in hands["panda_v3.urdf"]] != ["camera_link"]:
    sys.exit("CHANGED: the two robots no longer differ by the camera alone.")
_, ahead, low, high, mass = hands["panda_v3.urdf"][0]
if not (5.0 < ahead < 7.0 and 6.0 < low < high < 10.0 and mass == 0.564):
    sys.exit("CHANGED: the camera has another place, size or mass.")
print("As recorded: the wrist camera is a heavy box ahead of the hand.")
PROGRAM
