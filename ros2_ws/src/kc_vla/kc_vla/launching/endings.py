"""What happens when a process of a launch ends, and what is said last."""

from __future__ import annotations

import re
from typing import Any

from launch import LaunchContext
from launch.actions import EmitEvent, LogInfo, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart
from launch.events.process import ProcessExited, ProcessStarted, ProcessStderr, ShutdownProcess
from launch_ros.actions import Node

from kc_vla.arm.last_words import KEPT, LEFT, NO_POWER, PARKED, TOLD_TO_LET_GO
from kc_vla.launching.last_line import LastLine

_PREFIX = r"^\[[A-Z]+\] \[[\d.]+\] \[[\w.]+\]: "
"""Severity, time and name, which ROS's log puts before what a node says."""
_BEGINNINGS = "|".join(map(re.escape, (PARKED, NO_POWER, TOLD_TO_LET_GO, LEFT)))
_OF_ARM = re.compile(f"{_PREFIX}({_BEGINNINGS}|.*{re.escape(KEPT)})".encode())
"""What a controller says last of its arm; of its own end, or its middleware's, more may follow."""

CANNOT_START = 2
"""Exit code of a node that cannot do its work, whatever is tried: see `kc_vla.ros.process.run_node`."""

MOST_DEATHS = 10
"""Number of deaths of a node that moves an arm before the launch ends; after each it is started again."""
KEEPS_POWER = 3
"""Exit code of a controller that ended in order and left its arm with power: see `kc_vla.ros.arm_link`."""


def last_word(real: bool = False) -> list[RegisterEventHandler]:
    """Say once more, when everything has ended, why a node could not start or how an arm was left.

    What comes between is long. Args: `real`: the arm can be one that falls down.
    """
    _launch.is_real = _launch.is_real or real
    return [
        _RegisterOnce(OnProcessStart(on_start=_note_start)),
        _RegisterOnce(OnProcessIO(on_stderr=_note_complaint)),
        _RegisterOnce(OnProcessExit(on_exit=_tell_at_last)),
    ]


class _RegisterOnce(RegisterEventHandler):
    """Where a launch includes several stacks, the first one's handlers hear the processes of all."""

    def execute(self, context: LaunchContext) -> None:
        """Register the handler unless there is such a one."""
        kind = type(self.event_handler).__name__
        if kind not in _launch.hears:
            _launch.hears.add(kind)
            super().execute(context)


def end_with(event: ProcessExited, context: LaunchContext) -> Shutdown | list[EmitEvent] | None:
    """End the launch with a required node, and with exit code 1 if that node failed.

    Where the launch runs other stacks too, each in a namespace of its own, only the stack of that node ends.
    """
    if context.is_shutdown or _is_done(event.action):
        return None
    end_if_it_cannot_start(event, context)
    if event.returncode:
        raise RuntimeError(f"{event.process_name} was required and ended with exit code {event.returncode}")
    own = _stack_of(event.action)
    within = [action for pid, action in _launch.actions.items() if pid != event.pid and _is_within(action, own)]
    if not own or len(within) == len(_launch.actions.keys() - {event.pid}):
        return Shutdown(reason=f"{event.process_name} has done its work")
    _launch.done.add(own)
    return [EmitEvent(event=ShutdownProcess(process_matcher=lambda action: action in within))]


def _stack_of(action: Any) -> str:
    """Return the namespace of a node, as "/name"; empty for the root, or where it is not known."""
    return str(action.node_name).rpartition("/")[0] if _has_namespace(action) else ""


def _has_namespace(action: Any) -> bool:
    return isinstance(action, Node) and str(action.node_name).startswith("/")


def _is_done(action: Any) -> bool:
    return any(_is_within(action, stack) for stack in _launch.done)


def _is_within(action: Any, namespace: str) -> bool:
    return _has_namespace(action) and str(action.node_name).startswith(f"{namespace}/")


def end_if_it_cannot_start(event: ProcessExited, context: LaunchContext) -> None:
    """Let a node that has died start again, unless that cannot help."""
    if context.is_shutdown or _is_done(event.action):
        return
    if event.returncode and _moves_an_arm(event):
        _launch.deaths += 1
        if _launch.deaths > MOST_DEATHS:
            raise RuntimeError(f"{event.process_name} has died {_launch.deaths} times: read its messages above")
    if event.returncode == CANNOT_START:
        _launch.actions.pop(event.pid, None)
        _launch.cannot_start = (event.process_name, event.pid)
        raise RuntimeError(f"{event.process_name} cannot start: see what it says above")


class _Launch:
    """What the handlers of a launch know: of a process that this is, a launch.

    Attributes:
        actions: what started each process that runs, by its pid.
        complaints: what each says on its standard error.
        arms: what each that moves an arm says of it.
        cannot_start: name and pid of the process that ended the launch because it could not start.
        left: name, pid and exit code of the process that left an arm with power.
        parks: pid of the process that has ended in order, and may have parked an arm.
        died: name and exit code of what moved an arm and has died, since when nothing has parked it.
        deaths: how often that happened.
        hears: kinds of the handlers that are registered.
        done: namespaces of the stacks that have ended, of several in this launch.
        is_real: the arm can be one that falls down.
    """

    def __init__(self) -> None:
        self.actions: dict[int | None, Any] = {}
        self.complaints: dict[int | None, LastLine] = {}
        self.arms: dict[int | None, LastLine] = {}
        self.cannot_start: tuple[str, int | None] | None = None
        self.left: tuple[str, int | None, int] | None = None
        self.parks: int | None = None
        self.died: tuple[str, int] | None = None
        self.deaths = 0
        self.hears: set[str] = set()
        self.done: set[str] = set()
        self.is_real = False


_launch = _Launch()


def _note_start(event: ProcessStarted, context: LaunchContext) -> None:
    _launch.actions[event.pid] = event.action


def _note_complaint(event: ProcessStderr) -> None:
    _launch.complaints.setdefault(event.pid, LastLine()).take(event.text)
    if _moves_an_arm(event):
        _launch.arms.setdefault(event.pid, LastLine(_OF_ARM)).take(event.text)


def _tell_at_last(event: ProcessExited, context: LaunchContext) -> LogInfo | None:
    _launch.actions.pop(event.pid, None)
    if event.returncode == KEEPS_POWER or (context.is_shutdown and event.returncode < 0 and _moves_an_arm(event)):
        _launch.left = event.process_name, event.pid, event.returncode
    elif event.returncode == 0 and _moves_an_arm(event):
        _launch.parks = event.pid
    elif event.returncode not in (0, CANNOT_START) and _moves_an_arm(event):
        _launch.died, _launch.parks = (event.process_name, event.returncode), None
    elif _launch.cannot_start is None:
        _launch.complaints.pop(event.pid, None)
    words = _last_words()
    return LogInfo(msg=words) if words and not _launch.actions else None


def _moves_an_arm(event: ProcessExited | ProcessStderr) -> bool:
    return event.process_name.startswith("arm_controller")


def _last_words() -> str:
    """Return what a user has to know at the end; empty if nothing.

    It is worked out then, for a process can be reported to have ended before the last of what it wrote is read.
    """
    if _launch.left is not None:
        name, pid, code = _launch.left
        killed = f"{name} was killed (signal {-code}): the arm holds where it is, and keeps its power if it has any"
        return (_said(_launch.arms, pid) or _complaint(pid)) if code == KEEPS_POWER else killed
    if _launch.cannot_start is not None:
        name, pid = _launch.cannot_start
        return f"{name} cannot start: {_complaint(pid)}"
    if said := _said(_launch.arms, _launch.parks):
        return said
    if _launch.died is not None and _launch.is_real:
        name, code = _launch.died
        return f"{name} died (exit code {code}), and nothing has parked its arm since: it may be raised, with power"
    return ""


def _complaint(pid: int | None) -> str:
    return _said(_launch.complaints, pid) or "see above"


def _said(lines: dict[int | None, LastLine], pid: int | None) -> str:
    """Return the last line of a process, without what ROS's log puts before it; empty if there is none."""
    return re.sub(_PREFIX, "", lines[pid].text) if pid in lines else ""
