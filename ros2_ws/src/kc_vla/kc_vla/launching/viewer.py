"""The live page and the server for Foxglove in a launch file: their arguments and their nodes."""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from kc_vla.core.ports import FOXGLOVE, LIVE_PAGE
from kc_vla.launching.graph import AGAIN, node, text, texts

_SWITCH = ["true", "false"]


def viewer_arguments(default: bool) -> tuple[DeclareLaunchArgument, ...]:
    """`viewer:=` and what it can be told; `default`: whether the page is served where nothing is said."""
    return (
        DeclareLaunchArgument(
            "viewer",
            default_value=str(default).lower(),
            choices=_SWITCH,
            description="true: a live page of the running graph; it prints its address, and opens no browser",
        ),
        DeclareLaunchArgument(
            "viewer_port", default_value=str(LIVE_PAGE), description="port of the live page; 0: any free one"
        ),
        DeclareLaunchArgument(
            "viewer_host",
            default_value="127.0.0.1",
            description="address of this machine that the live page is served at; 127.0.0.1: to this machine alone",
        ),
        DeclareLaunchArgument(
            "viewer_control",
            default_value="false",
            choices=_SWITCH,
            description="true: the live page has an emergency stop, for whoever has the address with the token",
        ),
        DeclareLaunchArgument(
            "foxglove",
            default_value="false",
            choices=_SWITCH,
            description="true: all topics for Foxglove or Lichtblick on this machine, to look at",
        ),
        DeclareLaunchArgument(
            "foxglove_port", default_value=str(FOXGLOVE), description="port of the server for Foxglove; 0: any free one"
        ),
    )


def viewers(arm: str = "") -> list[Node]:
    """The live page and the server for Foxglove, by those arguments and `rig`; `arm`: which kind moves, in a word."""
    argument = LaunchConfiguration
    own = {"port": argument("viewer_port"), "control": argument("viewer_control"), "arm": text(arm)}
    return [
        node(
            "viewer",
            {**own, **texts(host="viewer_host", rig="rig")},
            condition=IfCondition(argument("viewer")),
            **AGAIN,
        ),
        node("foxglove", {"port": argument("foxglove_port")}, condition=IfCondition(argument("foxglove")), **AGAIN),
    ]
