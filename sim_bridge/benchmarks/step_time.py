"""Time of one simulator step with light robot meshes, with shadows, and with ManiSkill's own meshes, in one run.

`python benchmarks/step_time.py [--tasks counting ...] [--sizes 224 256] [--steps 60] [--depth]
[--assets libero]`; prints a table. Blocks
of steps take turns, so that other work on the machine weighs on all alike; processor time is printed beside wall time
for the same reason.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from tqdm import tqdm

import kc_vla_sim.envs
from kc_vla.core.tasks import find_task, played_tasks, simulated_tasks
from kc_vla_sim.actions import normalise_tool_delta
from kc_vla_sim.choices import ASSETS, STANDARD_ASSETS
from kc_vla_sim.renderer import choose_renderer

VARIANTS = {
    "light": {"robot_uids": "panda_wristcam_light"},
    "light, shadows": {"robot_uids": "panda_wristcam_light", "enable_shadow": True},
    "stock": {"robot_uids": "panda_wristcam"},
}
BLOCK = 10
"""Steps in a row with one variant."""
STILL = normalise_tool_delta([0, 0, 0.001, 0, 0, 0, 0])


@dataclass
class Times:
    """Milliseconds of each step."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


def make(task: str, size: int, variant: dict[str, Any], assets: str) -> gymnasium.Env:
    """Return the task with both cameras at `size` pixels square."""
    assert kc_vla_sim.envs  # importing it registers the tasks
    env = gymnasium.make(
        find_task(task).environment,
        **variant,
        obs_mode="none",
        reward_mode="none",
        render_backend=choose_renderer(),
        sensor_configs={"width": size, "height": size},
        **({"assets": assets} if assets != STANDARD_ASSETS else {}),
    )
    env.reset(seed=1)
    return env


def step(env: gymnasium.Env, draw: bool, times: Times, depth: bool = False) -> None:
    """Take one step, draw both images if asked to, with their depth if asked to, and note the time."""
    wall, processor = time.perf_counter(), time.process_time()
    env.step(STILL)
    if draw and depth:
        env.unwrapped.visible(env.unwrapped.captures())
    elif draw:
        env.unwrapped.pictures()
    times.wall.append(1e3 * (time.perf_counter() - wall))
    times.processor.append(1e3 * (time.process_time() - processor))


def measure(task: str, size: int, steps: int, depth: bool, assets: str) -> dict[str, Times]:
    """Measure the times of `steps` steps for each variant, drawn, and for the light one without drawing."""
    environments = {name: make(task, size, variant, assets) for name, variant in VARIANTS.items()}
    times = {name: Times() for name in [*environments, "undrawn"]}
    for _ in range(BLOCK):  # shaders are compiled and buffers made in the first steps
        for env in environments.values():
            step(env, True, Times(), depth)
    for _ in tqdm(range(max(1, steps // BLOCK)), desc=f"{task}, 2 x {size} pixels", unit="block"):
        for name, env in environments.items():
            for _ in range(BLOCK):
                step(env, True, times[name], depth)
        for _ in range(BLOCK):
            step(environments["light"], False, times["undrawn"])
    for env in environments.values():
        env.close()
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--tasks",
        nargs="+",
        choices=sorted(played_tasks()),
        default=sorted(simulated_tasks()),
        help="(default all but tours)",
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[224, 256], help="pixels (default 224 256)")
    parser.add_argument("--steps", type=int, default=60, help="per task, variant and size (default 60)")
    parser.add_argument("--depth", action="store_true", help="read depth and what is visible, too")
    parser.add_argument(
        "--assets", choices=list(ASSETS), default=STANDARD_ASSETS, help="assets of task kitchen (shapes)"
    )
    options = parser.parse_args()
    rows = [
        (task, size, measure(task, size, options.steps, options.depth, options.assets))
        for task in options.tasks
        for size in options.sizes
    ]
    print(
        "| task | pixels | robot meshes | wall, ms (90 %) | processor, ms (90 %) | stock over this: wall, processor |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for task, size, times in rows:
        stock = times["stock"]
        for name, taken in times.items():
            ratios = (ratio(stock.wall, taken.wall), ratio(stock.processor, taken.processor))
            against = ", ".join(f"{value:.1f}" for value in ratios)
            print(f"| {task} | 2 x {size} | {name} | {told(taken.wall)} | {told(taken.processor)} | {against} |")


def ratio(one: list[float], other: list[float]) -> float:
    """Return how many times the median of `other` goes into that of `one`."""
    return float(np.median(one) / np.median(other))


def told(milliseconds: list[float]) -> str:
    """Return the median, and what nine of ten steps stay below, in words."""
    return f"{np.median(milliseconds):.1f} ({np.percentile(milliseconds, 90):.1f})"


if __name__ == "__main__":
    main()
