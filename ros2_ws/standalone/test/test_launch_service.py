"""Launching from Python, and events between launch entities."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from running import Running

SLEEPER = "ExecuteProcess(cmd=['sleep', '1000'], name='sleeper')"


def test_shutdown_from_another_thread(environment: dict[str, str], tmp_path: Path) -> None:
    script = tmp_path / "service.py"
    script.write_text(
        "import threading\n"
        "from launch import LaunchDescription, LaunchService\n"
        "from launch.actions import ExecuteProcess\n"
        "from launch.actions import RegisterEventHandler\n"
        "from launch.event_handlers import OnProcessStart\n"
        "service = LaunchService()\n"
        "def started(event, context):\n"
        "    threading.Thread(target=service.shutdown).start()\n"
        f"sleeper = {SLEEPER}\n"
        "service.include_launch_description(LaunchDescription(["
        "RegisterEventHandler(OnProcessStart(target_action=sleeper, on_start=started)), sleeper]))\n"
        "code = service.run()\n"
        "print('code', code, 'returned', sleeper.return_code, 'pid', sleeper.process_details['pid'] > 0)\n"
    )
    result = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert "code 0 returned -2 pid True" in result.stdout


def test_one_process_can_be_shut_down_by_an_event(launch: Callable[..., Running]) -> None:
    running = launch(
        "sleeper, TimerAction(period=0.2, actions=[EmitEvent(event=ShutdownProcess("
        "process_matcher=matches_action(sleeper)))]), ExecuteProcess(cmd=['sh', '-c', 'sleep 1; echo unharmed'],"
        "output='screen')",
        setup=f"from launch.events.process import ShutdownProcess\nsleeper = {SLEEPER}",
    )
    assert running.wait() == 0
    assert "sending signal 'SIGINT' to process[sleeper-1]" in running.output
    assert "[sh-2] unharmed" in running.output


def test_a_signal_can_be_sent_by_an_event(launch: Callable[..., Running]) -> None:
    running = launch(
        "sleeper, RegisterEventHandler(OnProcessStart(target_action=sleeper, on_start=[EmitEvent("
        "event=SignalProcess(signal_number='SIGUSR1', process_matcher=matches_action(sleeper)))]))",
        setup=f"from launch.events.process import SignalProcess\nsleeper = {SLEEPER}",
    )
    assert running.wait() == 0
    assert "sending signal 'SIGUSR1' to process[sleeper-1]" in running.output
    assert "exit code -10" in running.output


def test_a_shutdown_event_names_its_reason(launch: Callable[..., Running]) -> None:
    running = launch(
        f"{SLEEPER}, RegisterEventHandler(OnShutdown(on_shutdown=told)),"
        "RegisterEventHandler(OnProcessStart(on_start=[EmitEvent(event=Bye(reason='enough'))]))",
        setup="""
        from launch.events import Shutdown as Bye
        def told(event, context):
            return [LogInfo(msg=f'because of {event.reason}, shutting down: {context.is_shutdown}')]
        """,
    )
    assert running.wait() == 0
    assert "because of enough, shutting down: True" in running.output


def test_a_handler_that_wants_one_event_gets_one(launch: Callable[..., Running]) -> None:
    running = launch(
        "ExecuteProcess(cmd=['true']), ExecuteProcess(cmd=['true']),"
        "RegisterEventHandler(OnProcessExit(on_exit=[LogInfo(msg='heard')], handle_once=True))"
    )
    assert running.wait() == 0
    assert running.output.count("heard") == 1


def test_an_action_cannot_be_executed_twice(launch: Callable[..., Running]) -> None:
    running = launch("sleeper, sleeper", setup=f"sleeper = {SLEEPER}")
    assert running.wait() == 1
    assert "the action of process 'sleeper-1' was executed more than once" in running.output


def test_what_is_no_entity_is_refused(launch: Callable[..., Running]) -> None:
    running = launch("OpaqueFunction(function=wrong)", setup="def wrong(context): return ['text']")
    assert running.wait() == 1
    assert "expected a launch action or description, got 'text'" in running.output


def test_an_error_behind_a_process_is_told_to_leave_it_running_elsewhere(launch: Callable[..., Running]) -> None:
    """The stand-in ends it; who develops under it shall know what ROS 2's own launch does."""
    running = launch(
        "ExecuteProcess(cmd=['sleep', '60']), OpaqueFunction(function=fail)",
        setup="def fail(context): raise RuntimeError('no such port')",
    )
    assert running.wait() == 1
    running.match(r"^\[WARNING\] \[launch\]: 1 processes were started before this error; ROS 2's own launch leaves")
