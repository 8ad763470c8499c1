"""The live page and the server for Foxglove in a launch file: their arguments and their nodes."""

from __future__ import annotations

from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from kc_vla.core.ports import FOXGLOVE, LIVE_PAGE
from kc_vla.launching.arguments import Argument
from kc_vla.launching.graph import AGAIN, crops_folder, node, text, texts
from kc_vla.launching.kinds import PORT, HostAddress, Switch


def viewer_arguments(default: bool) -> tuple[Argument, ...]:
    """Return the argument `viewer:=` and those of the page.

    `default` says whether the page is served where the user says nothing.
    """
    return (
        Argument(
            "viewer",
            Switch(),
            default_value=str(default).lower(),
            description="true: serve a live page of the running graph; the log has its address",
        ),
        Argument(
            "viewer_port", PORT, default_value=str(LIVE_PAGE), description="port of the live page; 0: any free one"
        ),
        Argument(
            "viewer_host",
            HostAddress(),
            default_value="127.0.0.1",
            description="address at which the live page is served; 127.0.0.1: only to this machine",
        ),
        Argument(
            "viewer_control",
            Switch(),
            default_value="false",
            description="true: the live page has an emergency stop, for everybody who has the page's address with "
            "the token",
        ),
        Argument(
            "foxglove",
            Switch(),
            default_value="false",
            description="true: serve all topics read-only to Foxglove or Lichtblick on this machine",
        ),
        Argument(
            "foxglove_port",
            PORT,
            default_value=str(FOXGLOVE),
            description="port of the server for Foxglove; 0: any free one",
        ),
    )


def viewers(arm: str = "") -> list[Node]:
    """Return the live page and the server for Foxglove, by those arguments and `robot`.

    `arm` says in a word which kind of robot moves.
    """
    argument = LaunchConfiguration
    own = {"port": argument("viewer_port"), "control": argument("viewer_control"), "arm": text(arm)}
    return [
        node(
            "viewer",
            {**own, "crops": crops_folder(), **texts(host="viewer_host", robot="robot")},
            condition=IfCondition(argument("viewer")),
            **AGAIN,
        ),
        node("foxglove", {"port": argument("foxglove_port")}, condition=IfCondition(argument("foxglove")), **AGAIN),
    ]
