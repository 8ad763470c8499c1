"""`arm:=` of piper.launch.py takes every driver that is installed, and looks at its options before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from launch import LaunchContext, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetLaunchConfiguration
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from launch_ros.actions import Node
from plugin import install

from kc_vla.core.options import OptionError
from kc_vla.core.tables import TableError
from kc_vla.launching import endings

Read = Callable[..., dict[str, dict[str, str]]]
ROOT = Path(__file__).parents[2]
ROW = """
from dataclasses import dataclass
from kc_vla.arm.kinds import ArmKind
from kc_vla.core.options import option

@dataclass(frozen=True)
class Options:
    address: str = option("of its controller")

MINE = ArmKind("an arm", Options, lambda wiring, options: None, lambda robot, options: options.address)
"""


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Read:
    """Read the launch file; return the parameters of the nodes that it starts for the arm."""
    (tmp_path / "my_arm.py").write_text(ROW)
    install(tmp_path, monkeypatch, "kc_vla.arms", {"mine": "my_arm:MINE", "broken": "no_such_package:ARM"})
    monkeypatch.setattr(endings, "_launch", endings._Launch())
    context = LaunchContext()
    found: dict[str, dict[str, Any]] = {}

    prepare = Node.__init__

    def noting(node: Node, **given: Any) -> None:
        prepare(node, **given)
        if given["executable"] in ("arm_controller", "stop_relay"):
            values = [value for value in given["parameters"] if isinstance(value, dict)]
            found[given["executable"]] = {name: value for each in values for name, value in each.items()}

    monkeypatch.setattr(Node, "__init__", noting)

    def visit(entities: Iterable[LaunchDescriptionEntity]) -> None:
        for entity in entities:
            if isinstance(entity, DeclareLaunchArgument | OpaqueFunction | SetLaunchConfiguration):
                visit(entity.visit(context) or ())

    def read(**arguments: str) -> dict[str, dict[str, Any]]:
        context.launch_configurations.update({"policy": "joy", **arguments})
        visit(get_launch_description_from_python_launch_file(str(ROOT / "launch/piper.launch.py")).entities)
        evaluated = {"arm": str, **{name: lambda value: value.evaluate(context) for name in ("robot", "driver")}}
        return {
            node: {name: evaluated.get(name, str)(value) for name, value in given.items()}
            for node, given in found.items()
        }

    return read


def test_a_driver_of_another_package_is_started_with_its_options(
    read: Read,
) -> None:
    nodes = read(arm="mine", driver="{address: 10.0.0.5}")
    for name in ("arm_controller", "stop_relay"):  # the record of a stop is that of this arm
        given = nodes[name]
        assert (given["arm"], given["driver"], given["robot"]) == ("mine", "{address: 10.0.0.5}", "piper")
        assert "channel" not in given


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"arm": "mine"}, OptionError, "option 'address' is missing"),
        ({"arm": "mine", "driver": "{adress: a}"}, OptionError, "did you mean 'address'"),
        ({"arm": "mine", "driver": "10.0.0.5"}, RuntimeError, "write them as"),
        ({"arm": "broken"}, TableError, "'broken' of package 'elsewhere' cannot be loaded from no_such_package:ARM"),
        ({"arm": "nobodys"}, Exception, "nobodys"),
    ],
)
def test_what_the_driver_cannot_take_ends_the_launch_before_anything_starts(
    read: Read, arguments: dict[str, str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        read(**arguments)
