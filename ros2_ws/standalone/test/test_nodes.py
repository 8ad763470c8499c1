"""Nodes: the command lines that they get, and what a node of rclpy makes of its parameters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import yaml
from running import Running

# Prints its arguments and the parameter files among them.
SHOW = """
import json, sys
files = [open(b).read() for a, b in zip(sys.argv, sys.argv[1:]) if a == '--params-file']
print('SHOWN ' + json.dumps({'argv': sys.argv[1:], 'files': files}), flush=True)
"""
# A node that prints the parameters that it was given.
PARAMETERS = """
import json, rclpy
from rclpy.node import Node
rclpy.init()
node = Node('own_name', automatically_declare_parameters_from_overrides=True)
values = {name: p.value if isinstance(p.value, (bool, int, float, str)) else list(p.value)
          for name, p in node._parameters.items()}
print('SHOWN ' + json.dumps({'name': node.get_fully_qualified_name(), 'topic': node.resolve_topic_name('image'),
                             'values': values}), flush=True)
rclpy.try_shutdown()
"""


def shown(running: Running) -> dict:
    found = json.loads(running.match(r"SHOWN (.*)$")[1])
    assert running.wait() == 0
    return found


def words_without_files(argv: list[str]) -> list[str]:
    return ["<file>" if before == "--params-file" else word for before, word in zip(["", *argv], argv, strict=False)]


def test_command_line_as_upstream_makes_it(launch: Callable[..., Running], package: Callable[..., Path]) -> None:
    package(show=SHOW)
    running = launch(
        "Node(package='demo', executable='show', name='cam', namespace='left', output='screen',"
        "arguments=['--fast', LaunchConfiguration('seed')], ros_arguments=['--log-level', 'debug'],"
        "parameters=[{'rate': 5, 'seed': LaunchConfiguration('seed')}],"
        "remappings=[('image', ['/', LaunchConfiguration('seed'), '/image'])])",
        "seed:=7",
    )
    found = shown(running)
    assert words_without_files(found["argv"]) == [
        *("--fast", "7"),
        *("--ros-args", "--log-level", "debug"),
        *("--ros-args", "-r", "__node:=cam", "-r", "__ns:=/left"),
        *("--params-file", "<file>"),
        *("-r", "image:=/7/image"),
    ]
    assert yaml.safe_load(found["files"][0]) == {"/left/cam": {"ros__parameters": {"rate": 5, "seed": 7}}}


def test_a_node_without_name_or_namespace_gets_a_wildcard(
    launch: Callable[..., Running], package: Callable[..., Path]
) -> None:
    package(show=SHOW)
    found = shown(launch("Node(package='demo', executable='show', output='screen', parameters=[{'rate': 5}])"))
    assert words_without_files(found["argv"]) == ["--ros-args", "--params-file", "<file>"]
    assert yaml.safe_load(found["files"][0]) == {"/**": {"ros__parameters": {"rate": 5}}}


def test_settings_of_a_scope_reach_its_nodes_only(
    launch: Callable[..., Running], package: Callable[..., Path], tmp_path: Path
) -> None:
    package(show=SHOW)
    file = tmp_path / "common.yaml"
    file.write_text("/**: {ros__parameters: {a: 1}}")
    running = launch(
        "GroupAction([PushRosNamespace('robot'), PushRosNamespace('arm'),"
        "SetParameter('rate', 10), SetUseSimTime(True),"
        f"SetParametersFromFile({str(file)!r}), SetRemap('image', '/shared/image'),"
        "Node(package='demo', executable='show', exec_name='inside', namespace='left', output='screen')]),"
        "Node(package='demo', executable='show', exec_name='outside', output='screen')"
    )
    inside = json.loads(running.match(r"\[inside-1\] SHOWN (.*)$")[1])["argv"]
    outside = json.loads(running.match(r"\[outside-2\] SHOWN (.*)$")[1])["argv"]
    assert running.wait() == 0
    assert inside == [
        *("--ros-args", "-r", "__ns:=/robot/arm/left"),
        *("-p", "rate:=10", "-p", "use_sim_time:=true"),
        *("--params-file", str(file)),
        *("-r", "image:=/shared/image"),
    ]
    assert outside == ["--ros-args"]


def test_rclpy_reads_the_types_back(
    launch: Callable[..., Running], package: Callable[..., Path], tmp_path: Path
) -> None:
    package(node=PARAMETERS)
    file = tmp_path / "p.yaml"
    file.write_text("cam: {ros__parameters: {rate: 1, kept: from_file}}")
    values = {
        "rate": 2,
        "text": "3",
        "yes": ["y", "no", "off"],
        "floats": [1, 2.5],
        "nested": {"on": True},
        "odd": ' a: #b"\n',
    }
    found = shown(
        launch(
            "SetParameter('forced', ParameterValue(LaunchConfiguration('seed', default='3'), value_type=str)),"
            "Node(package='demo', executable='node', name='cam', namespace='', output='screen',"
            f"parameters=[{str(file)!r}, {values!r}], remappings=[('image', 'raw')])"
        )
    )
    assert found["name"] == "/cam"
    assert found["topic"] == "/raw"
    expected = {
        "rate": 2,
        "kept": "from_file",
        "text": "3",
        "yes": ["y", "no", "off"],
        "floats": [1.0, 2.5],
        "nested.on": True,
        "odd": ' a: #b"\n',
        "forced": "3",
    }
    assert {name: found["values"][name] for name in expected} == expected


def test_lifecycle_node_runs_with_name_and_namespace(
    launch: Callable[..., Running], package: Callable[..., Path]
) -> None:
    package(show=SHOW)
    found = shown(
        launch("LifecycleNode(package='demo', executable='show', name='cam', namespace='/a', output='screen')")
    )
    assert found["argv"] == ["--ros-args", "-r", "__node:=cam", "-r", "__ns:=/a"]


def test_parameter_files_of_the_launch_are_removed_at_its_end(
    launch: Callable[..., Running], package: Callable[..., Path], tmp_path: Path
) -> None:
    package(show=SHOW)
    running = launch(
        "Node(package='demo', executable='show', output='screen', parameters=[{'a': 1}])", TMPDIR=str(tmp_path)
    )
    argv = shown(running)["argv"]
    path = Path(argv[argv.index("--params-file") + 1])
    assert tmp_path in path.parents
    assert not path.parent.exists()


def test_mistakes_in_a_node_are_told_in_one_line(launch: Callable[..., Running], package: Callable[..., Path]) -> None:
    package(show=SHOW)
    for entity, message in (
        ("Node(package='demo', executable='nothing')", "executable 'nothing' not found on the libexec directory"),
        ("Node(package='absent', executable='x')", "package 'absent' not found, searched"),
        ("Node(package='demo', executable='show', name='a b')", "invalid node name 'a b'"),
        ("Node(package='demo', executable='show', namespace='a-b')", "invalid namespace '/a-b'"),
        ("Node(package='demo', executable='show', parameters=['/no/file.yaml'])", "'/no/file.yaml' does not exist"),
        ("Node(package='demo', executable='show', parameters=[{'p': None}])", "'p' has a value of type NoneType"),
        ("SetParametersFromFile('/no/file.yaml')", "parameter file '/no/file.yaml' does not exist"),
    ):
        running = launch(entity)
        assert running.wait() == 1, entity
        errors = [line for line in running.output.splitlines() if line.startswith("[ERROR]")]
        assert len(errors) == 1
        assert message in errors[0]
        assert "Traceback" not in running.output


def test_places_in_packages(launch: Callable[..., Running], package: Callable[..., Path]) -> None:
    share = package(show=SHOW)
    running = launch(
        "LogInfo(msg=['share ', FindPackageShare('demo')]), LogInfo(msg=['prefix ', FindPackagePrefix('demo')]),"
        "LogInfo(msg=['exe ', ExecutableInPackage('show', 'demo')]),"
    )
    assert running.wait() == 0
    prefix = share.parent.parent
    for line in (f"share {share}", f"prefix {prefix}", f"exe {prefix}/lib/demo/show"):
        assert line in running.output
