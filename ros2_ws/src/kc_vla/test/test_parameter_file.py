"""`params:=`: a parameter file is taken, anything else is told in one line before a node is started."""

from pathlib import Path

import pytest
from launch import LaunchContext

from kc_vla.core.share import share
from kc_vla.launching import graph
from kc_vla.launching.parameter_file import ParameterFileError, check_parameter_file


@pytest.mark.parametrize("name", ["maniskill.yaml", "piper.yaml", "household.yaml"])
def test_those_that_come_with_the_stack_are_taken(name: str) -> None:
    check_parameter_file(share("launch") / "params" / name)


@pytest.mark.parametrize(
    "text",
    [
        "/**:\n  ros__parameters: {use_sim_time: true}",
        "room:\n  camera:\n    ros__parameters:\n      fps: 30\n  arm_controller: {ros__parameters: {rate: 1.0}}",
        "camera:\n  ros__parameters:\n    # fps: 30\n",
    ],
)
def test_names_namespaces_and_wildcards_are_taken(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.yaml").write_text(text)
    check_parameter_file(tmp_path / "p.yaml")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("root:x:0:0:root:/root:/bin/bash\nbin:x:1:1:bin\n", "is no parameter file: it must name nodes, each with"),
        ("", "is no parameter file"),
        ("camera: {fps: 30}", "is no parameter file"),
        ("ros__parameters: {fps: 30}", "is no parameter file"),
        ("camera: {ros__parameters: [30]}", "is no parameter file"),
        ("camera: {ros__parameters: {fps: 30}, more: 1}", "is no parameter file"),
        ("a: &a {ros__parameters: {x: 1}}\nb: *a", "has the alias *a"),
        ("[" * 100_000, "is nested too deeply"),
        ("camera: [", "is no YAML at line "),
        (
            "keyframe_selektor: {ros__parameters: {threshold: 0.3}}",
            "no node 'keyframe_selektor': did you mean",
        ),
        ("room: {toaster: {ros__parameters: {x: 1}}}", "there is no node 'toaster': there are arm_controller, "),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(text)
    with pytest.raises(ParameterFileError) as error:
        check_parameter_file(path)
    assert str(path) in str(error.value)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path, told in (
        (tmp_path / "none.yaml", "none.yaml' does not exist"),
        (tmp_path, "Is a directory"),
        (Path("/dev/zero"), "is no ordinary file"),
    ):
        with pytest.raises(ParameterFileError, match=told):
            check_parameter_file(path)


def test_no_node_is_started_with_one_that_is_none(tmp_path: Path) -> None:
    context = LaunchContext()
    context.launch_configurations |= {"params": str(tmp_path / "none.yaml"), graph.SHIPPED_PARAMETERS: "piper.yaml"}
    with pytest.raises(ParameterFileError, match="does not exist"):
        graph.node("keyframe_buffer").execute(context)


@pytest.mark.parametrize("launch_file", ["maniskill.yaml", "piper.yaml", "household.yaml"])
def test_a_file_of_ones_own_lies_over_the_one_that_comes_with_the_stack(tmp_path: Path, launch_file: str) -> None:
    """Else a file of one line would take the limits of a robot with it."""
    own = tmp_path / "own.yaml"
    own.write_text("arm_controller: {ros__parameters: {execute_steps: 7}}")
    context = LaunchContext()
    shipped, argument = graph.parameter_arguments(launch_file)
    shipped.execute(context)
    argument.execute(context)
    files = graph.parameter_files()
    assert [Path(file.perform(context)).name for file in files] == [launch_file, launch_file]
    context.launch_configurations["params"] = str(own)
    assert [Path(file.perform(context)).name for file in files] == [launch_file, "own.yaml"]
