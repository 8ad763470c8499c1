"""Draws the simulated Piper into docs/images/simulated_piper.png: `python docs/simulated_piper.py`.

The arm goes to the cube of the task counting, grasps it and lifts it, moved through the vendor's SDK.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np
from scipy.spatial.transform import Rotation

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from simulated_piper import SimulatedPiper, reaching_down  # noqa: E402  # it is found by the line above

from kc_vla.core.robot import load_robot  # noqa: E402
from kc_vla_sim.geometry import to_pose  # noqa: E402
from kc_vla_sim.piper.table import PiperTable  # noqa: E402

PICTURE = ROOT / "docs" / "images" / "simulated_piper.png"
SIZE, SEED = 384, 3
OPEN, TILT = 0.07, 0.2


def main() -> None:
    """Draw and write."""
    robot = load_robot("piper")
    table = PiperTable("counting", robot, SIZE)
    rows = []
    with tempfile.TemporaryDirectory() as folder, SimulatedPiper(Path(folder) / "bus", table, SEED) as piper:
        pose = to_pose(table.world.cube.pose, table.world.station.base)
        yaw = Rotation.from_quat(pose.quaternion).as_euler("zyx")[0]
        for height, gripper in ((0.12, OPEN), (0.025, OPEN), (0.025, 0.0), (0.12, 0.0)):
            piper.move(reaching_down((*pose.position[:2], height), yaw, TILT), gripper)
            rows.append(np.hstack([each.image for each in table.draw().values()]))
    table.close()
    if not cv2.imwrite(str(PICTURE), np.vstack([rows[0], rows[-1]])[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 9]):
        raise OSError(f"cannot write {PICTURE}")
    print(PICTURE)


if __name__ == "__main__":
    main()
