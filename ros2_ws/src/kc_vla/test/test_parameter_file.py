"""`params:=`: a parameter file is taken, anything else is told in one line before a node is started."""

import re
from collections.abc import Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from launch import LaunchContext

from kc_vla.core.share import share
from kc_vla.launching import graph
from kc_vla.launching.declared import SIMULATED, node_names, parameters_of_node
from kc_vla.launching.namespace import namespace_of
from kc_vla.launching.parameter_file import ParameterFileError, check_parameter_file
from kc_vla.launching.parameters import SHIPPED_PARAMETERS, ParameterLayer, parameter_arguments, parameters_of
from kc_vla.ros.base import StackNode


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
    context.launch_configurations |= {"params": str(tmp_path / "none.yaml"), SHIPPED_PARAMETERS: "piper.yaml"}
    with pytest.raises(ParameterFileError, match="does not exist"):
        graph.node("keyframe_buffer").execute(context)


def layered(context: LaunchContext, node: str, view: str = "", files: Sequence[str] = ()) -> dict[str, object]:
    """What `params:=` adds to a node, by name; under the node's full name alone."""
    layer = ParameterLayer(node, [parameters_of(file) for file in files], view)
    (path,) = [Path(layer.perform(context))]
    if path.name == "piper.yaml":
        return {}
    ((name, section),) = yaml.safe_load(path.read_text()).items()
    within = f"{view}/{node}" if view else node
    assert name == f"{namespace_of(context).rstrip('/')}/{within}"
    return dict(section["ros__parameters"])


@pytest.fixture(params=["/", "/left", "/cell/left"])
def context(request: pytest.FixtureRequest) -> LaunchContext:
    context = LaunchContext()
    if request.param != "/":
        context.launch_configurations["ros_namespace"] = request.param
    for action in parameter_arguments("piper.yaml"):
        action.execute(context)
    return context


@pytest.mark.parametrize(
    "key", ["arm_controller", "/**/arm_controller", "/**", "**", "{}/arm_controller", "{}/*", "arm_controller/"]
)
def test_a_file_of_ones_own_reaches_its_node_in_any_namespace(tmp_path: Path, context: LaunchContext, key: str) -> None:
    """Else a slow first run would be none."""
    own = tmp_path / "own.yaml"
    full = key.format(namespace_of(context).rstrip("/")).rstrip("/")
    own.write_text(f"'{full or '/**'}': {{ros__parameters: {{max_speed: 0.3}}}}")
    context.launch_configurations["params"] = str(own)
    assert layered(context, "arm_controller") == {"max_speed": 0.3}
    assert layered(context, "recorder") == {}


def test_what_a_file_says_of_all_nodes_reaches_those_that_have_it(tmp_path: Path, context: LaunchContext) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("/**: {ros__parameters: {sync_tolerance: 0.05, diagnostics_period: 0.5}}")
    context.launch_configurations["params"] = str(own)
    assert layered(context, "recorder") == {"diagnostics_period": 0.5}
    assert layered(context, "keyframe_buffer") == {"sync_tolerance": 0.05, "diagnostics_period": 0.5}
    assert layered(context, "camera", "wrist") == {"diagnostics_period": 0.5}


def test_a_file_of_ones_own_may_have_a_former_name(
    tmp_path: Path, context: LaunchContext, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)
    own = tmp_path / "own.yaml"
    own.write_text("keyframe_selector: {ros__parameters: {source: rules}}\n/**: {ros__parameters: {rig: piper_h}}")
    context.launch_configurations["params"] = str(own)
    assert layered(context, "keyframe_selector") == {"selector": "rules", "robot": "piper_h"}
    assert layered(context, "camera", "wrist") == {}
    assert sorted(capfd.readouterr().err.splitlines()) == [
        "deprecated: the parameter 'rig' of keyframe_selector is called 'robot'",
        "deprecated: the parameter 'source' of keyframe_selector is called 'selector'",
    ]


def test_a_camera_is_meant_by_its_name_or_by_its_view(tmp_path: Path, context: LaunchContext) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("camera: {ros__parameters: {fps: 10.0}}\nwrist/camera: {ros__parameters: {fps: 20.0}}")
    context.launch_configurations["params"] = str(own)
    assert layered(context, "camera", "third_person") == {"fps": 10.0}
    assert layered(context, "camera", "wrist") == {"fps": 20.0}


def test_what_a_policy_asks_of_the_controller_is_over_a_file_of_ones_own(
    tmp_path: Path, context: LaunchContext
) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("/**/arm_controller: {ros__parameters: {execute_steps: 7, max_speed: 0.3}}")
    context.launch_configurations["params"] = str(own)
    found = layered(context, "arm_controller", files=["followed.yaml"])
    assert found == {"execute_steps": 1, "blend_steps": 0, "max_speed": 0.3}


@pytest.mark.parametrize(
    "key", ["/right/arm_controller", "/right/**/arm_controller", "/arm_controller", "/*/*/*/*/arm_controller"]
)
def test_a_key_that_matches_no_node_of_the_launch_is_refused(tmp_path: Path, key: str) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(f"{key}: {{ros__parameters: {{max_speed: 0.3}}}}")
    with pytest.raises(ParameterFileError, match=re.escape(f"'{key}' matches no node of this launch")) as error:
        check_parameter_file(own, "/left")
    assert "whose nodes are in /left: write '/**/arm_controller'" in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "arm_controller: {ros__parameters: {max_sped: 0.3}}",
            "arm_controller has no parameter 'max_sped': did you mean 'max_speed'?",
        ),
        ("/**: {ros__parameters: {max_sped: 0.3}}", "no node has a parameter 'max_sped': did you mean"),
        ("recorder: {ros__parameters: {max_speed: 0.3}}", "recorder has no parameter 'max_speed'"),
        ("household: {ros__parameters: {mising: 0.3}}", "household has no parameter 'mising': did you mean 'missing'?"),
    ],
)
def test_a_parameter_that_no_node_has_is_refused_before_a_node_is_started(tmp_path: Path, text: str, told: str) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(text)
    context = LaunchContext()
    context.launch_configurations["params"] = str(own)
    shipped, argument = parameter_arguments("piper.yaml")
    shipped.execute(context)
    with pytest.raises(ParameterFileError, match=re.escape(told)):
        argument.execute(context)


@pytest.mark.parametrize("name", sorted(node_names() - SIMULATED))
def test_the_parameters_that_a_node_declares_are_known_without_it(name: str) -> None:
    module = import_module(f"kc_vla.nodes.{name}")
    (kind,) = {
        each.Parameters
        for each in vars(module).values()
        if isinstance(each, type) and each.__module__ == module.__name__ and issubclass(each, StackNode)
    }
    known = parameters_of_node(name)
    assert known is not None
    assert known.names - {"use_sim_time", "start_type_description_service"} == {field.name for field in fields(kind)}
    former = {field.metadata["rule"].former: field.name for field in fields(kind) if field.metadata["rule"].former}
    assert known.former == former
