"""A launch file takes the robot by `robot:=` and the selector by `selector:=`, and both by their former names."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from launch import LaunchContext

from kc_vla.launching.arguments import Argument, ArgumentError
from kc_vla.launching.policies import selector_argument
from kc_vla.launching.renamed import robot_arguments


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)


def executed(arguments: Sequence[Argument], given: dict[str, str]) -> dict[str, str]:
    context = LaunchContext()
    context.launch_configurations.update(given)
    for argument in arguments:
        argument.execute(context)
    return context.launch_configurations


def declared(default: str | None, **given: str) -> str:
    return executed(robot_arguments(default, "the robot"), given)["robot"]


def test_the_robot_is_named_by_either(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert declared("piper") == "piper"
    assert declared("piper", robot="piper_x") == declared(None, robot="piper_x") == "piper_x"
    assert capfd.readouterr().err == ""
    assert declared("piper", rig="piper_h") == declared(None, rig="piper_h") == "piper_h"
    assert declared("piper", rig="piper_h", robot="piper_h") == "piper_h"
    assert capfd.readouterr().err == "deprecated: rig:=piper_h is called robot:=piper_h\n"


def test_a_robot_is_named_once_and_must_be_there() -> None:
    with pytest.raises(ArgumentError, match="rig:=piper and robot:=piper_x: name the robot once, by robot:="):
        declared("piper", rig="piper", robot="piper_x")
    for name in ("rig", "robot"):
        with pytest.raises(ArgumentError, match=f"{name}:=nobody: no robot 'nobody': there are "):
            declared("piper", **{name: "nobody"})


def test_the_selector_is_named_by_either(capfd: pytest.CaptureFixture[str]) -> None:
    def chosen(**given: str) -> str:
        return executed(selector_argument("piper"), given)["selector"]

    assert (chosen(), chosen(selector="rules")) == ("auto", "rules")
    assert capfd.readouterr().err == ""
    assert chosen(source="rules") == "rules"
    assert capfd.readouterr().err == "deprecated: source:=rules is called selector:=rules\n"
    with pytest.raises(
        ArgumentError, match="source:=rules and selector:=events: name the selector once, by selector:="
    ):
        chosen(source="rules", selector="events")
    with pytest.raises(ArgumentError, match="source:=ruels: it is one of auto, learned, "):
        chosen(source="ruels")
