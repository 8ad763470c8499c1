"""Draws the keyframes of all tasks into docs/images/tasks.png: `python docs/tasks.py`.

One row for each task of the table: what both cameras saw at each keyframe of an episode of the expert,
the wrist camera in the corner.
"""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from tqdm import tqdm

from kc_vla.core.tasks import TASKS, Task, simulated_tasks
from kc_vla.media.canvas import MUTED, TEXT, Canvas, Picture
from kc_vla_sim.actions import CONTROL_RATE
from kc_vla_sim.simulator import Simulator

PICTURE = Path(__file__).resolve().parent / "images" / "tasks.png"
SEED = 3
VIEW = 224
WRIST = 64
GAP, MARGIN, TITLE, CAPTION = 10, 16, 30, 24


def play(simulator: Simulator, task: Task) -> dict[str, tuple[int, Picture, Picture]]:
    """Frame and both views of each keyframe of an episode, by its label."""
    seen = {}
    frame = simulator.reset(task.name, SEED)
    while True:
        for keyframe in simulator.keyframes:
            if keyframe.frame == frame.index:
                seen[keyframe.label] = (frame.index, *simulator.look())
        if frame.done:
            return seen
        frame = simulator.step(simulator.expert.plan(1)[0][0])


def main() -> None:
    """Play, draw and write."""
    simulator = Simulator(VIEW, draw=False, variant="paper")
    tasks = [TASKS[name] for name in simulated_tasks()]
    columns = max(len(task.keyframes) for task in tasks)
    row_height = TITLE + VIEW + CAPTION + MARGIN
    canvas = Canvas(2 * MARGIN + columns * (VIEW + GAP) - GAP, MARGIN + len(tasks) * row_height)
    for row, task in enumerate(tqdm(tasks, unit="task")):
        top = MARGIN + row * row_height
        canvas.text(MARGIN, top, f"{task.name}: {task.instruction}", 17, bold=True)
        for column, (label, (index, third_person, wrist)) in enumerate(play(simulator, task).items()):
            left = MARGIN + column * (VIEW + GAP)
            view = np.array(third_person)
            view[-WRIST:, -WRIST:] = cv2.resize(wrist, (WRIST, WRIST), interpolation=cv2.INTER_AREA)
            canvas.pixels[top + TITLE : top + TITLE + VIEW, left : left + VIEW] = view
            inset = VIEW - WRIST - 2
            canvas.frame(left + inset, top + TITLE + inset, WRIST + 2, WRIST + 2, TEXT, 2)
            caption = f"{label}, {index / CONTROL_RATE:.1f} s"
            canvas.text(left, top + TITLE + VIEW + 5, caption, 14, MUTED)
    simulator.close()
    if not cv2.imwrite(str(PICTURE), canvas.pixels[..., ::-1]):
        raise OSError(f"cannot write {PICTURE}")
    print(PICTURE)


if __name__ == "__main__":
    main()
