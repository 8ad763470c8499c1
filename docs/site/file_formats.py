"""The files that the stack reads and writes: what the modules say that do it, their fields, and a file of each."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
_SOURCE = ROOT / "ros2_ws/src/kc_vla/kc_vla"
_LINES = 60
"""So much is shown of a file that stands as an example."""


class Format(NamedTuple):
    """A kind of files.

    Attributes:
        title: what it is, and what it is called.
        module: that reads or writes it, as a path in the package.
        kind: class there, or in another module (`path:class`), whose attributes are its fields; empty: none.
        page: of docs/ that explains it.
        example: a file of the repository; empty: none.
    """

    title: str
    module: str
    kind: str
    page: str
    example: str = ""


FORMATS = (
    Format("Robots: `robot:=`", "core/robot_file", "core/robot_model:Robot", "robot_file.md", "robots/piper.yaml"),
    Format("Tasks: `KC_VLA_TASKS`, `--tasks`", "core/task_file", "core/task:Task", "your_own_task.md"),
    Format("Cameras of a robot: `cameras:=`", "launching/cameras", "", "cameras.md", "launch/desk/cameras.yaml"),
    Format("Intrinsics of a camera", "cameras/calibration", "Calibration", "calibration.md"),
    Format("Joint offsets, latency, hand-eye", "calibration/reading", "", "calibration.md"),
    Format(
        "Poses of `policy:=scripted`",
        "policy/scripted",
        "TimedPose",
        "other_robots.md",
        "launch/params/piper_script.yaml",
    ),
    Format(
        "Models: `registry.yaml`", "inference/models", "RegisteredModel", "keyframe_selector.md", "models/registry.yaml"
    ),
    Format(
        "Mappings to the names and units of policy servers: `mapping:=`",
        "policy/remote/mapping_file",
        "policy/remote/mapping:PolicyMapping",
        "policy_servers.md",
        "robots/servers/panda_sim-libero.yaml",
    ),
    Format("Data sets of LeRobot 3.0", "datasets/lerobot/v3_layout", "", "data_sets.md"),
    Format("Data sets of LeRobot 2.1", "datasets/lerobot/layout", "", "data_sets.md"),
    Format("Keyframes of a data set", "datasets/lerobot/annotations", "Annotation", "data_sets.md"),
    Format("Episodes with plans", "datasets/planned", "PlannedEpisode", "policy_network.md"),
    Format("Annotations of a bag: `annotations.jsonl`", "episodes/annotation_log", "Track", "annotation.md"),
    Format("An episode's `summary.json`", "reports/summary", "", "running.md"),
    Format("Long-term memory", "memory/long_term/store", "", "memory_reference.md"),
)


def sections() -> list[str]:
    """A section of each format, as Markdown."""
    return [_section(each) for each in FORMATS]


def _section(about: Format) -> str:
    parts = [f"## {about.title}\n", f"{_docstring(about.module)}\n", f"More in [{about.page}](../{about.page}).\n"]
    if about.kind:
        module, _, kind = about.kind.rpartition(":")
        parts.append(f"```text\n{_docstring(module or about.module, kind)}\n```\n")
    if about.example:
        lines = (ROOT / about.example).read_text().splitlines()
        cut = [f"# and {len(lines) - _LINES} lines more"] if len(lines) > _LINES else []
        text = "\n".join([*lines[:_LINES], *cut])
        parts.append(f"`{about.example}`:\n\n```yaml\n{text}\n```\n")
    return "\n".join(parts)


def _docstring(module: str, kind: str = "") -> str:
    """Of a module, or of a class in it; one that is not there, or says nothing, raises LookupError."""
    tree = ast.parse((_SOURCE / f"{module}.py").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    place = classes.get(kind) if kind else tree
    found = ast.get_docstring(place) if place else None
    if found is None:
        raise LookupError(f"{module} {kind}: nothing is said of it")
    return found
