"""Launch-to-first-frame time of the simulated graph, and what it is spent on."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import Image
from tqdm import tqdm

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla_msgs.msg import ArmCommand, EpisodeStatus

from .measuring import MeasurementError, Table
from .processes import Processes, node_processes

MODULES = {
    "maniskill_bridge": "kc_vla_sim.nodes.maniskill_bridge",
    **{
        name: f"kc_vla.nodes.{name}"
        for name in (
            *("keyframe_selector", "keyframe_buffer", "policy_server"),
            *("arm_controller", "recorder", "episode_runner"),
        )
    },
}
_START_S = 120.0
IMAGE_SIZE = 256


class Watcher:
    """Notes at which second after the launch command something was first seen."""

    def __init__(self) -> None:
        self.first: dict[str, float] = {}
        self._node = Node("launch_watcher")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._note("status", EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._note("frame", Image, topics.image_topic("third_person"), qos.IMAGE)
        self._note("command", ArmCommand, topics.ARM_COMMAND, qos.EVENT)

    def run(self, launch: subprocess.Popen[bytes], began: float) -> None:
        """Watch until the first command and all nodes are seen; `began` on the wall clock, s."""
        self._began = began
        # The system tells both by one clock, which may be a second off that of the wall.
        command = psutil.Process(launch.pid).create_time()
        wanted = {"command", *(f"{kind} {name}" for kind in ("node", "process") for name in MODULES)}
        while missing := wanted - self.first.keys():
            if time.time() - began > _START_S or launch.poll() is not None:
                raise MeasurementError(
                    f"not seen before the launch ended or {_START_S:g} s were over: {', '.join(sorted(missing))}"
                )
            self._executor.spin_once(timeout_sec=0.01)
            for name in self._node.get_node_names():
                self.first.setdefault(f"node {name}", time.time() - began)
            if any(name.startswith("process") for name in missing):
                for name, process in node_processes(launch).items():
                    self.first.setdefault(f"process {name}", process.create_time() - command)

    def close(self) -> None:
        """Leave the graph."""
        self._node.destroy_node()

    def _note(self, what: str, kind: type, topic: str, profile: Any) -> None:
        def callback(message: Any) -> None:
            self.first.setdefault(what, time.time() - self._began)

        self._node.create_subscription(kind, topic, callback, profile)


def measure(quick: bool, work: Path) -> Table:
    """Launch some times and take the median of each moment."""
    runs = []
    rclpy.init()
    try:
        for number in tqdm(range(1 if quick else 3), desc="launch", unit="run"):
            with Processes(work / f"{number}.log") as processes:
                watcher = Watcher()
                began = time.time()
                launch = processes.start(
                    *("ros2", "launch", "kc_vla", "maniskill.launch.py", f"image_size:={IMAGE_SIZE}"),
                    f"output:={work / str(number)}",
                )
                watcher.run(launch, began)
                watcher.close()
                runs.append(watcher.first)
    finally:
        rclpy.try_shutdown()
    imports = {name: _import_seconds(module, 1 if quick else 3) for name, module in MODULES.items()}

    def at(what: str) -> float:
        return float(median(run[what] for run in runs))

    ready = max(at(f"node {name}") for name in MODULES)
    moments = [
        ("first node's process", min(at(f"process {name}") for name in MODULES), "the launcher"),
        *((f"{name} in the graph", at(f"node {name}"), _imports(imports[name])) for name in MODULES),
        ("episode begins", at("status"), f"{at('status') - ready:.2f} s after the last node: the environment is made"),
        ("first frame", at("frame"), "third-person image at a reader"),
        ("first arm command", at("command"), "of the first control step"),
    ]
    rows = [{"moment": moment, "s after the command": seconds, "of which": note} for moment, seconds, note in moments]
    spread = ", ".join(f"{run['frame']:.1f}" for run in runs)
    return Table(
        "Launch-to-first-frame time, s",
        rows,
        [
            f"`ros2 launch kc_vla maniskill.launch.py`, {IMAGE_SIZE}-pixel cameras; median of {len(runs)} launches "
            f"(first frame: {spread} s).",
            "Imports: a fresh interpreter that imports the node's module and ends, alone on the machine as far as "
            "this benchmark goes; in the launch all nodes import at the same time.",
        ],
    )


def _imports(seconds: float) -> str:
    return f"imports alone: {seconds:.2f} s"


def _import_seconds(module: str, times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
        taken.append(time.perf_counter() - began)
    return float(median(taken))
