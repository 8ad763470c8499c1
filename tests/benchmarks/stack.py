"""The stack's nodes fed by the stream, watched from outside, for a given time: what the latency benchmarks stand on."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from tests.support.episode_bag import Script, write_episode

from .measuring import MeasurementError
from .processes import Processes, cpu_seconds

SELECTION = ("keyframe_selector", "keyframe_buffer")
CONTROL = ("policy_server", "arm_controller")
LONG_CHUNK = 500
"""Steps of the chunks with which an arm moves for as long as it is watched."""


@dataclass(frozen=True)
class Setting:
    """What runs.

    Attributes:
        width, height: of both cameras, pixels; 0: no pictures.
        rate: frames per s.
        nodes: executables of the stack.
        parameters: of the nodes, by node.
        frames: of an episode.
        control_period: s of a control step; None: that of a frame.
        helpers: further modules of this folder to run beside, with their options.
        observers_priority: real-time priority of those who note when a message comes, so that they note it at once;
            0: ordinary processes, as other readers are.
    """

    width: int
    height: int
    rate: float
    nodes: tuple[str, ...]
    parameters: Mapping[str, Mapping[str, Any]]
    frames: int = 80
    control_period: float | None = None
    helpers: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    observers_priority: int = 0

    @property
    def pictures(self) -> str:
        """Size and rate in words."""
        return f"{self.width}x{self.height} at {self.rate:g} Hz"


@dataclass(frozen=True)
class Record:
    """What was sent and what came; every entry has `at`, ns since the epoch. The warm-up is left out.

    Attributes:
        sent: the third-person images.
        images: what the bare reader took in, by topic.
        results: what the nodes made of it, by topic.
        helpers: what each helper wrote down.
        cpu: share of one core that each node took.
    """

    sent: list[dict[str, Any]]
    images: Mapping[str, list[dict[str, Any]]]
    results: Mapping[str, list[dict[str, Any]]]
    helpers: Mapping[str, Any]
    cpu: Mapping[str, float]

    def diagnostics(self, node: str) -> Mapping[str, str]:
        """Return the last word of a node about itself."""
        said = [entry[node] for entry in self.results["/diagnostics"] if node in entry]
        return said[-1]


def record(setting: Setting, seconds: float, work: Path, what: str) -> Record:
    """Run a setting for some seconds from when it is warmed up; `what` is written beside the progress bar."""
    files = {name: work / f"{name}.json" for name in ("sent", "images", "results")}
    helper_files = {module: work / f"{module}.json" for module, _ in setting.helpers}
    with Processes(work / "nodes.log") as processes:
        nodes = {node: processes.node(node, **setting.parameters.get(node, {})) for node in setting.nodes}
        observers = [
            processes.helper("observer", watch=name, output=files[name], priority=setting.observers_priority)
            for name in ("images", "results")
        ]
        readers = sum(n in (*SELECTION, "policy_server", "recorder") for n in setting.nodes) + 1
        optional = {"control_period": setting.control_period} if setting.control_period else {}
        stream = processes.helper(
            "stream",
            output=files["sent"],
            begun=work / "begun",
            rate=setting.rate,
            width=setting.width,
            height=setting.height,
            frames=setting.frames,
            readers=readers if setting.width else 1,
            **optional,
        )
        helpers = [processes.helper(m, output=helper_files[m], **o) for m, o in setting.helpers]
        processes.wait_for_episode((work / "begun").exists)
        before = {node: cpu_seconds(process.pid) for node, process in nodes.items()}
        began = time.monotonic()
        for _ in tqdm(range(round(seconds)), desc=what, unit="s", file=sys.stderr):
            processes.sleep(1.0)
        took = time.monotonic() - began
        cpu = {node: (cpu_seconds(process.pid) - before[node]) / took for node, process in nodes.items()}
        processes.stop(stream)
        for observer in (*observers, *helpers):
            processes.stop(observer)
    sent, images, results = (_written(file) for file in files.values())
    begun_ns = next((s["at"] for s in sent if s["episode"] != "warm-up"), 0)
    return Record(
        [s for s in sent if s["at"] >= begun_ns],
        {topic: [e for e in entries if e["at"] >= begun_ns] for topic, entries in images.items()},
        {topic: [e for e in entries if e.get("episode") != "warm-up"] for topic, entries in results.items()},
        {module: _written(file) for module, file in helper_files.items()},
        cpu,
    )


def _written(file: Path) -> Any:
    """Return what a helper wrote when it was interrupted."""
    if not file.exists():
        raise MeasurementError(f"{file.stem} wrote nothing: its output is above")
    return json.loads(file.read_text())


def replay_bag(work: Path) -> Path:
    """Return a small recorded episode, made for this run, for the policy backend `replay`."""
    folder = work / "replayed"
    return folder if folder.exists() else write_episode(folder, Script(size=16, steps=95))


def chain_parameters(work: Path) -> dict[str, dict[str, Any]]:
    """Return the parameters that make policy server and controller run without a simulator."""
    return {
        "keyframe_buffer": {"state_folder": work / "state"},
        "policy_server": {"backend": "replay", "bag": replay_bag(work)},
        "arm_controller": {"mode": "realtime"},
        "recorder": {"output_folder": work / "runs"},
    }


def moving_parameters(work: Path, control_hz: float) -> dict[str, dict[str, Any]]:
    """Return those with which the arm executes long chunks, one after the other."""
    parameters = chain_parameters(work)
    parameters["policy_server"]["horizon"] = LONG_CHUNK
    parameters["arm_controller"] |= {"control_rate": float(control_hz), "execute_steps": LONG_CHUNK // 2}
    return parameters
