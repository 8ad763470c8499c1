"""`ros2 launch` and `ros2 run` as a user types them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from running import Running

ARGUMENTS = (
    "DeclareLaunchArgument('seed', default_value='3', description='Seed of the episode'),"
    "DeclareLaunchArgument('task', choices=['counting', 'pushing'], default_value='counting'),"
    "LogInfo(msg=['task ', LaunchConfiguration('task'), ' seed ', LaunchConfiguration('seed')])"
)


def test_package_and_file(
    ros2: Callable[..., Running], launch_file: Callable[..., Path], package: Callable[..., Path]
) -> None:
    share = package()
    (share / "launch").mkdir()
    launch_file(ARGUMENTS).rename(share / "launch/demo.launch.py")
    running = ros2("launch", "demo", "demo.launch.py", "seed:=5", "task:=pushing", "seed:=9")
    assert running.wait() == 0
    assert "task pushing seed 9" in running.output


def test_show_args(launch: Callable[..., Running]) -> None:
    running = launch(ARGUMENTS, "--show-args")
    assert running.wait() == 0
    assert running.output == (
        "Arguments (pass arguments as '<name>:=<value>'):\n\n"
        "    'seed':\n        Seed of the episode\n        (default: '3')\n\n"
        "    'task':\n        One of: ['counting', 'pushing']\n        (default: 'counting')"
    )


def test_show_args_of_a_launch_file_without_any(launch: Callable[..., Running]) -> None:
    running = launch("", "-s")
    assert running.wait() == 0
    assert "No arguments." in running.output


def test_print_launches_nothing(launch: Callable[..., Running]) -> None:
    running = launch("GroupAction([ExecuteProcess(cmd=['echo', 'hello'])], condition=IfCondition('true'))", "--print")
    assert running.wait() == 0
    assert "GroupAction if IfCondition('true')\n        ExecuteProcess(cmd=['echo', 'hello'])" in running.output
    assert "process started" not in running.output


def test_undeclared_argument_is_a_warning_with_a_hint(launch: Callable[..., Running]) -> None:
    running = launch(ARGUMENTS, "sede:=4")
    assert running.wait() == 0
    assert "does not declare the launch argument 'sede'; did you mean 'seed'?" in running.output
    assert "seed 3" in running.output


def test_arguments_of_the_launch_system_are_no_typos(launch: Callable[..., Running]) -> None:
    running = launch(ARGUMENTS, "sigterm_timeout:=1")
    assert running.wait() == 0
    assert "does not declare" not in running.output


def test_a_choice_that_is_none(launch: Callable[..., Running]) -> None:
    running = launch(ARGUMENTS, "task:=cooking")
    assert running.wait() == 1
    assert '"task" provided value "cooking" is not valid' in running.output
    assert "Traceback" not in running.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def generate_launch_description():\n    return undefined", "test.launch.py:2: NameError: name 'undefined'"),
        ("import no_such_module", "test.launch.py:1: ModuleNotFoundError"),
        ("def f(:", "SyntaxError"),
        ("x = 1", "does not define generate_launch_description"),
        ("def generate_launch_description():\n    return 3", "has to return a LaunchDescription, got int"),
    ],
)
def test_broken_launch_files(ros2: Callable[..., Running], tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "test.launch.py"
    path.write_text(text)
    running = ros2("launch", path)
    assert running.wait() == 1
    assert message in running.output
    assert len(running.output.splitlines()) == 1


def test_debug_shows_the_traceback(launch: Callable[..., Running]) -> None:
    running = launch("OpaqueFunction(function=broken)", "-d", setup="def broken(context): return 1 / 0")
    assert running.wait() == 1
    assert "Traceback" in running.output
    assert "division by zero" in running.output


def test_wrong_names(ros2: Callable[..., Running], package: Callable[..., Path], launch_file: Callable) -> None:
    share = package(tool="print(1)")
    for folder in ("a", "b"):
        (share / folder).mkdir()
        (share / folder / "twice.launch.py").touch()
    path = launch_file(ARGUMENTS)
    for words, message in (
        (["launch", "absent", "x.launch.py"], "package 'absent' not found"),
        (["launch", "demo", "x.launch.py"], "no launch file 'x.launch.py' (it has: twice.launch.py)"),
        (["launch", "demo", "twice.launch.py"], "'twice.launch.py' more than once"),
        (["launch", "/no/such.launch.py"], "no launch file '/no/such.launch.py'"),
        (["launch", path, "seed=3"], "malformed launch argument 'seed=3', expected format '<name>:=<value>'"),
        (["run", "absent", "x"], "package 'absent' not found"),
        (["run", "demo", "x"], "has no executable 'x' (it has: tool)"),
        (["bag", "record"], "nothing to record: name topics, or give --all"),
    ):
        running = ros2(*words)
        assert running.wait() == 1, words
        assert running.output.startswith("ros2: ")
        assert message in running.output
        assert len(running.output.splitlines()) == 1


def test_run_passes_arguments_and_exit_code(ros2: Callable[..., Running], package: Callable[..., Path]) -> None:
    package(tool="import sys; print(sys.argv[1:]); sys.exit(7)")
    running = ros2("run", "demo", "tool", "--ros-args", "-p", "a:=1", "-h")
    assert running.wait() == 7
    assert "['--ros-args', '-p', 'a:=1', '-h']" in running.output


def test_run_becomes_the_executable(ros2: Callable[..., Running], package: Callable[..., Path]) -> None:
    package(tool="import os, time; print('pid', os.getpid(), flush=True); time.sleep(1000)")
    running = ros2("run", "--prefix", "env X=1", "demo", "tool")
    assert int(running.match(r"^pid (\d+)")[1]) == running.process.pid
    running.send(signal.SIGTERM)
    assert running.wait() == -signal.SIGTERM


def test_launch_starts_without_the_client_library(launch_file: Callable[..., Path], environment: dict) -> None:
    code = (
        "import sys; from kc_vla_standalone.cli import main; main(['launch', sys.argv[1]]);"
        "print('heavy', sorted({m.partition('.')[0] for m in sys.modules} & {'rclpy', 'numpy', 'rosidl_parser'}))"
    )
    path = launch_file("Node(executable='/bin/true', parameters=[{'a': 1}])")
    result = subprocess.run(
        [sys.executable, "-c", code, path], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert "heavy []" in result.stdout


def test_installed_packages(ros2: Callable[..., Running], package: Callable[..., Path]) -> None:
    share = package(tool="print(1)")
    for words, pattern in (
        (["pkg", "list"], r"(?m)^demo$"),
        (["pkg", "prefix", "demo"], re.escape(str(share.parent.parent))),
        (["pkg", "prefix", "--share", "demo"], re.escape(str(share))),
        (["pkg", "executables", "demo"], r"^demo tool$"),
        (["pkg", "executables", "demo", "--full-path"], re.escape(os.sep) + r"lib/demo/tool$"),
    ):
        running = ros2(*words)
        assert running.wait() == 0, words
        assert re.search(pattern, running.output), running.output


@pytest.mark.parametrize("words", [["launch", "{file}"], ["topic", "list"]])
def test_without_a_home_one_line_says_what_to_set(launch_file: Callable[..., Path], words: list[str]) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "ROS_HOME", "ROS_LOG_DIR")}
    begin = "import sys; from kc_vla_standalone.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", begin, *(word.format(file=launch_file(ARGUMENTS)) for word in words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ros2: HOME is not set: set it, or ROS_HOME, to a folder that can be written\n"
