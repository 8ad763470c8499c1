"""What a launch file starts, without starting it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from launch import LaunchContext, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetLaunchConfiguration
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from launch_ros.actions import Node

from kc_vla.launching import endings
from kc_vla.launching.detector import TruthTopic

ROOT = Path(__file__).parents[2]
Nodes = dict[str, dict[str, Any]]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Nodes]:
    """Read a launch file; return the parameters of the nodes that it starts, and the topic of the truth."""
    monkeypatch.setattr(endings, "_launch", endings._Launch())
    context = LaunchContext()
    found: Nodes = {}
    prepare = Node.__init__

    def noting(node: Node, **given: Any) -> None:
        prepare(node, **given)
        values = [value for value in given["parameters"] if isinstance(value, dict)]
        found[given["executable"]] = {name: value for each in values for name, value in each.items()}
        for source, target in given["remappings"]:
            if isinstance(target, TruthTopic):
                found[given["executable"]][source] = target

    monkeypatch.setattr(Node, "__init__", noting)

    def visit(entities: Iterable[LaunchDescriptionEntity]) -> None:
        for entity in entities:
            if isinstance(entity, DeclareLaunchArgument | OpaqueFunction | SetLaunchConfiguration):
                visit(entity.visit(context) or ())

    def read(file: str, **arguments: str) -> Nodes:
        context.launch_configurations.update(arguments)
        visit(get_launch_description_from_python_launch_file(str(ROOT / f"launch/{file}.launch.py")).entities)
        if "perception" in found:
            given = found["perception"]
            found["perception"] = {name: given[name].evaluate(context) for name in ("detector", "options", "robot")}
        if "maniskill_bridge" in found:
            topic = found["maniskill_bridge"]["detections/truth"]
            found["maniskill_bridge"]["detections/truth"] = topic.perform(context)
        return found

    return read
