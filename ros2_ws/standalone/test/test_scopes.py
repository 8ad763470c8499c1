"""Scopes of groups, includes and namespaces, seen by what a process is started with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def show(label: str) -> str:
    return (
        f"LogInfo(msg=['{label}: x=', LaunchConfiguration('x', default='unset'),"
        "' env=', EnvironmentVariable('KC_TEST', default_value='unset')]),"
    )


def test_scoped_group_restores_configurations_and_environment(launch: Callable) -> None:
    running = launch(
        "SetLaunchConfiguration('x', '1'), SetEnvironmentVariable('KC_TEST', 'a'),"
        "GroupAction([SetLaunchConfiguration('x', '2'), SetEnvironmentVariable('KC_TEST', 'b'),"
        f"{show('inside')}]), {show('after')}"
    )
    assert running.wait() == 0
    assert "inside: x=2 env=b" in running.output
    assert "after: x=1 env=a" in running.output


def test_unscoped_group_keeps_its_changes(launch: Callable) -> None:
    running = launch(
        "SetLaunchConfiguration('x', '1'),"
        f"GroupAction([SetLaunchConfiguration('x', '2')], scoped=False), {show('after')}"
    )
    assert running.wait() == 0
    assert "after: x=2" in running.output


def test_group_without_forwarding_begins_with_its_own_configurations_only(launch: Callable) -> None:
    running = launch(
        "SetLaunchConfiguration('x', '1'), SetLaunchConfiguration('y', '5'),"
        "GroupAction([LogInfo(msg=['y is ', LaunchConfiguration('y', default='unset')]),"
        f"{show('inside')}], forwarding=False,"
        f"launch_configurations={{'x': ['n', LaunchConfiguration('y')]}}), {show('after')}"
    )
    assert running.wait() == 0
    assert "y is unset" in running.output
    assert "inside: x=n5" in running.output
    assert "after: x=1" in running.output


def test_unset_environment_variable(launch: Callable) -> None:
    running = launch(f"UnsetEnvironmentVariable('KC_TEST'), {show('now')}", KC_TEST="outer")
    assert running.wait() == 0
    assert "now: x=unset env=unset" in running.output


def test_condition_of_a_group_and_of_a_declaration(launch: Callable) -> None:
    running = launch(
        "GroupAction([LogInfo(msg='wrong')], condition=IfCondition('false')),"
        "LogInfo(msg='right', condition=UnlessCondition('false')),"
    )
    assert running.wait() == 0
    assert "right" in running.output
    assert "wrong" not in running.output


def test_include_gives_arguments_and_knows_its_folder(
    launch: Callable, launch_file: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    launch_file(
        "DeclareLaunchArgument('task'),"
        "LogInfo(msg=['inner task ', LaunchConfiguration('task'), ' in ', ThisLaunchFileDir()])",
        name="inner/inner.launch.py",
    )
    running = launch(
        "DeclareLaunchArgument('seed', default_value='3'),"
        "IncludeLaunchDescription(PythonLaunchDescriptionSource([ThisLaunchFileDir(), '/inner/inner.launch.py']),"
        "launch_arguments={'task': ['count', LaunchConfiguration('seed')]}.items()),"
        "LogInfo(msg=['outer in ', ThisLaunchFileDir()])"
    )
    assert running.wait() == 0
    assert f"inner task count3 in {folder}" in running.output
    assert f"outer in {tmp_path}\n" in running.output + "\n"


def test_include_without_a_required_argument_names_it(launch: Callable, launch_file: Callable[..., Path]) -> None:
    launch_file("DeclareLaunchArgument('task', description='what to do')", name="inner.launch.py")
    running = launch(
        "IncludeLaunchDescription(PythonLaunchDescriptionSource([ThisLaunchFileDir(), '/inner.launch.py']))"
    )
    assert running.wait() == 1
    assert "needs the argument 'task' (what to do)" in running.output


def test_opaque_function_returns_entities(launch: Callable) -> None:
    running = launch(
        "DeclareLaunchArgument('cameras', default_value='2'), OpaqueFunction(function=cameras)",
        "cameras:=3",
        setup="""
        def cameras(context):
            count = int(LaunchConfiguration('cameras').perform(context))
            return [LogInfo(msg=f'camera {i}') for i in range(count)]
        """,
    )
    assert running.wait() == 0
    assert [f"camera {i}" in running.output for i in range(4)] == [True, True, True, False]
