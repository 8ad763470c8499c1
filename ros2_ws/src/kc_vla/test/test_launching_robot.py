"""A launch file takes the robot by `robot:=`, and for one more version by `rig:=`."""

from pathlib import Path

import pytest
from launch import LaunchContext

from kc_vla.launching.arguments import ArgumentError
from kc_vla.launching.robot import robot_arguments


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)


def declared(default: str | None, **given: str) -> str:
    context = LaunchContext()
    context.launch_configurations.update(given)
    for argument in robot_arguments(default, "the robot"):
        argument.execute(context)
    return context.launch_configurations["robot"]


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
