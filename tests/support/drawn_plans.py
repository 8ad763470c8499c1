"""Small drawn episodes with plans: only the first picture tells which way to go. With what learns and asks of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core.episode import Episode
from kc_vla.core.robot import load_robot
from kc_vla.datasets.planned import PlannedEpisode, writing
from kc_vla.learning.common.device import Device
from kc_vla.learning.policy.config import PolicyConfig
from kc_vla.policy.backends import PolicyContext
from kc_vla.policy.interface import PolicyInput, RememberedFrame
from kc_vla.policy.learned import LearnedBackend, open_learned
from kc_vla.policy.options import LearnedOptions

CPU = Device("cpu")
SMALL = PolicyConfig(
    image_size=32, init="scratch", channels=8, slots=3, steps=240, batch=32, warm_up=10, every=120, average=0.95
)
BRIEF = replace(SMALL, steps=2, every=2)
SPEED = 0.02
DOWN = (1.0, 0.0, 0.0, 0.0)


def episode(seed: int, instruction: str = "Go where the light was.") -> PlannedEpisode:
    """Frame 0 shows a light on the left or on the right; later ones are dark, and the expert goes to that side."""
    chance = np.random.default_rng(seed)
    side = 1.0 if seed % 2 else -1.0
    count = 8
    states = np.zeros((count, 8), np.float32)
    states[:, :3] = np.array([0.5, 0.0, 0.2]) + chance.normal(0, 0.02, (count, 3))
    states[:, 3:7] = DOWN
    plans = np.zeros((count, 16, 7), np.float32)
    plans[2:, :, 1] = side * SPEED
    places = states.copy()
    places[2:, 1] += side * 0.02
    pictures = chance.integers(0, 30, (2, count, 32, 32, 3)).astype(np.uint8)
    columns = slice(18, 28) if side > 0 else slice(4, 14)
    pictures[:, 0, 10:22, columns] = 250
    about = {
        "task": "light",
        "instruction": instruction,
        "seed": seed,
        "variant": "standard",
        "looks": "standard",
        "attempt": 0,
        "driver": "expert",
        "success": True,
    }
    return PlannedEpisode(
        about=about,
        frames=np.arange(count) * 4,
        states=states,
        plans=plans,
        phases=np.array(["wait"] * 2 + ["go"] * (count - 2)),
        places=places,
        ahead=np.full(count, 9),
        keyframes=np.zeros(1, np.int64),
        pictures={"third_person": pictures[0], "wrist": pictures[1]},
    )


def write_episodes(
    folder: Path, count: int, instruction: str = "Go where the light was.", events: tuple[int, ...] = ()
) -> Path:
    """Args: `events`, the frames that these took for keyframes; none where nobody looked for them."""
    looked = {"events": "some model"} if events else {}
    with writing(folder, {"task": folder.name, "robot": "panda_sim", **looked}) as begun:
        for index in begun.missing(range(count)):
            found = np.array(events, np.int64) if events else None
            replace(episode(index, instruction), events=found).write(begun.file(index))
    return folder


def learned(models: Path, robot: str = "panda_sim", **options: Any) -> LearnedBackend:
    """The learned policy in a folder of models."""
    return open_learned(
        PolicyContext(load_robot(robot), 16), LearnedOptions(models_folder=str(models), device="cpu", **options)
    )


def asked(instruction: str = "Go where the light was.") -> Episode:
    return Episode("e", "light", instruction, 0, 50_000_000, running=True)


def moment(shown: PlannedEpisode, row: int, frame: int | None = None) -> RememberedFrame:
    views = {view: pictures[row] for view, pictures in shown.pictures.items()}
    return RememberedFrame(int(shown.frames[row]) if frame is None else frame, views, shown.states[row].astype(float))


def given(
    shown: PlannedEpisode,
    keyframes: list[RememberedFrame],
    instruction: str = "Go where the light was.",
    frozen: int = 0,
) -> PolicyInput:
    now = moment(shown, 5)
    runs = np.full((frozen, 7), 0.011, np.float32)
    return PolicyInput(now.frame, now.views, keyframes, now.state, instruction, runs)
