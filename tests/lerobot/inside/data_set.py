"""Runs in LeRobot's environment: `data_set.py FOLDER OUT.npz` opens a data set of version 3.0, goes through it as a
training does, and writes what it has found; `data_set.py convert FOLDER` makes 3.0 of 2.1 with LeRobot's own script.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.datasets.v30.convert_dataset_v21_to_v30 import convert_dataset


def read(folder: str, output: str) -> None:
    """Every frame, in batches, with the action of the next frame beside its own."""
    fps = LeRobotDataset("local/set", root=folder).fps
    steps = {"action": [0.0, 1 / fps]}
    data_set = LeRobotDataset("local/set", root=folder, delta_timestamps=steps, video_backend="pyav")
    batches = list(torch.utils.data.DataLoader(data_set, batch_size=8))
    found = {key: np.concatenate([batch[key].numpy() for batch in batches]) for key in batches[0] if key != "task"}
    tasks = [task for batch in batches for task in batch["task"]]
    stats = {f"stats/{key}": np.ravel(of["mean"]) for key, of in data_set.meta.stats.items() if "mean" in of}
    np.savez(output, task=np.array(tasks), fps=fps, robot=data_set.meta.robot_type, **found, **stats)


if __name__ == "__main__":
    if sys.argv[1] == "convert":
        folder = Path(sys.argv[2])
        convert_dataset(folder.name, root=folder.parent, push_to_hub=False)  # it is looked for there by its name
    else:
        read(*sys.argv[1:])
