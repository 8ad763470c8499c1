"""Draws what varied looks make of all tasks into docs/images/looks.png: `python docs/looks.py`.

One row for each task of the table: some seeds as the third-person camera sees them, the first also with the standard
looks.
"""

from __future__ import annotations

from pathlib import Path

import cv2
from tqdm import tqdm

from kc_vla.core.tasks import simulated_tasks
from kc_vla.media.canvas import MUTED, Canvas
from kc_vla_sim.simulator import Simulator

PICTURE = Path(__file__).resolve().parent / "images" / "looks.png"
SEEDS = range(1, 5)
VIEW = 152
GAP, MARGIN, CAPTION = 8, 16, 22


def main() -> None:
    """Draw and write."""
    columns = [("standard", SEEDS[0]), *(("varied", seed) for seed in SEEDS)]
    simulators = {looks: Simulator(VIEW, draw=False, looks=looks) for looks in ("standard", "varied")}
    tasks = simulated_tasks()
    row_height = CAPTION + VIEW + GAP
    canvas = Canvas(2 * MARGIN + len(columns) * (VIEW + GAP) - GAP, 2 * MARGIN + len(tasks) * row_height - GAP)
    for row, task in enumerate(tqdm(tasks, unit="task")):
        for column, (looks, seed) in enumerate(columns):
            simulators[looks].reset(task, seed)
            left, top = MARGIN + column * (VIEW + GAP), MARGIN + row * row_height
            canvas.text(left, top, f"{task}, standard" if looks == "standard" else f"{task}, seed {seed}", 13, MUTED)
            canvas.pixels[top + CAPTION : top + CAPTION + VIEW, left : left + VIEW] = simulators[looks].look()[0]
    for simulator in simulators.values():
        simulator.close()
    if not cv2.imwrite(str(PICTURE), canvas.pixels[..., ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 9]):
        raise OSError(f"cannot write {PICTURE}")
    print(PICTURE)


if __name__ == "__main__":
    main()
