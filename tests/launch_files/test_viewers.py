"""The files for RViz, Foxglove and Lichtblick parse, and name only what the graph has."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kc_vla.core import topics
from kc_vla.core.robot import load_robot
from kc_vla.description.live import WORLD
from kc_vla.ros import qos
from kc_vla.ros.message_types import type_name
from kc_vla.ros.recording import offered, recorded_topics

VIEWERS = Path(__file__).parents[2] / "launch" / "viewers"
VIEWS = load_robot("panda_sim").views
OFFERED = {f"/{topic.lstrip('/')}": (kind, profile) for topic, kind, profile in recorded_topics(VIEWS)}
"""What the stack says, but for the memories."""
MARKERS = f"/{topics.SCENE_MARKERS}"
NEEDED = {*(f"/{topics.image_topic(view)}" for view in VIEWS), "/robot_description", MARKERS}


def displays() -> list[dict[str, Any]]:
    content = yaml.safe_load((VIEWERS / "kc_vla.rviz").read_text())
    found: list[dict[str, Any]] = content["Visualization Manager"]["Displays"]
    assert content["Visualization Manager"]["Global Options"]["Fixed Frame"] == WORLD
    return found


def subscribed(display: dict[str, Any]) -> dict[str, Any] | None:
    topic: dict[str, Any] | None = display.get("Topic") or display.get("Description Topic")
    return topic


def test_rviz_shows_what_the_graph_says_as_it_is_said() -> None:
    kinds = {
        "rviz_default_plugins/Image": "sensor_msgs/msg/Image",
        "rviz_default_plugins/MarkerArray": "visualization_msgs/msg/MarkerArray",
        "rviz_default_plugins/Pose": "geometry_msgs/msg/PoseStamped",
        "rviz_default_plugins/RobotModel": "std_msgs/msg/String",
    }
    named = {}
    for display in displays():
        if (topic := subscribed(display)) is None:
            continue
        named[topic["Value"]] = topic
        if topic["Value"] == MARKERS:
            wanted = offered(qos.STATUS)
        else:
            kind, profile = OFFERED[topic["Value"]]
            assert type_name(kind) == kinds[display["Class"]]
            wanted = offered(profile)
        assert (topic["Reliability Policy"] == "Reliable") == wanted.reliable, topic
        assert (topic["Durability Policy"] == "Transient Local") == wanted.transient_local, topic
    assert named.keys() >= NEEDED
    assert "rviz_default_plugins/TF" in {display["Class"] for display in displays()}


@pytest.fixture
def layout() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((VIEWERS / "kc_vla.foxglove.json").read_text())
    return content


def panels(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    else:
        yield from panels(tree["first"])
        yield from panels(tree["second"])


def test_every_panel_of_the_layout_is_described_and_every_description_is_shown(layout: dict[str, Any]) -> None:
    shown = list(panels(layout["layout"]))
    assert len(shown) == len(set(shown))
    assert set(shown) == layout["configById"].keys()
    assert {"configById", "globalVariables", "userNodes", "playbackConfig", "layout"} == layout.keys()


def paths(content: Any) -> Iterator[str]:
    """Every text that names a topic, wherever it stands."""
    if isinstance(content, dict):
        yield from (key for key in content if key.startswith("/"))
        for value in content.values():
            yield from paths(value)
    elif isinstance(content, list):
        for value in content:
            yield from paths(value)
    elif isinstance(content, str) and content.startswith("/"):
        yield content


def test_the_layout_names_only_topics_of_the_graph_and_fields_that_they_have(layout: dict[str, Any]) -> None:
    named = {path.partition(".")[0] for path in paths(layout)}
    assert named <= {*OFFERED, MARKERS}, named - {*OFFERED, MARKERS}
    assert named >= NEEDED
    for path in paths(layout):
        topic, _, field = path.partition(".")
        if field:
            assert field in OFFERED[topic][0].get_fields_and_field_types(), path
    assert layout["configById"]["3D!kc_vla"]["followTf"] == WORLD
