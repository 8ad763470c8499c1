"""What happens when a process of a launch ends, and what is said last."""

from __future__ import annotations

import re

from launch import LaunchContext
from launch.actions import LogInfo, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart
from launch.events.process import ProcessExited, ProcessStarted, ProcessStderr

from kc_vla.arm.last_words import LEFT, NO_POWER, PARKED, TOLD_TO_LET_GO
from kc_vla.launching.last_line import LastLine

CANNOT_START = 2
"""Exit code of a node that cannot do its work, whatever is tried: see `kc_vla.ros.process.run_node`."""

MOST_DEATHS = 10
"""Of what moves an arm, after each of which it is started again; then the launch ends, as nobody moves the arm."""
KEEPS_POWER = 3
"""Exit code of a controller that ended in order and left its arm with power: see `kc_vla.ros.arm_link`."""


def last_word(real: bool = False) -> list[RegisterEventHandler]:
    """Say once more, when everything has ended, why a node could not start or how an arm was left.

    What comes between is long. Args: `real`: the arm can be one that falls down.
    """
    _launch.is_real = real
    return [
        RegisterEventHandler(OnProcessStart(on_start=_note_start)),
        RegisterEventHandler(OnProcessIO(on_stderr=_note_complaint)),
        RegisterEventHandler(OnProcessExit(on_exit=_tell_at_last)),
    ]


def end_with(event: ProcessExited, context: LaunchContext) -> Shutdown | None:
    """End the launch with a required node, and with exit code 1 if that node failed."""
    if context.is_shutdown:
        return None
    end_if_it_cannot_start(event, context)
    if event.returncode:
        raise RuntimeError(f"{event.process_name} was required and ended with exit code {event.returncode}")
    return Shutdown(reason=f"{event.process_name} has done its work")


def end_if_it_cannot_start(event: ProcessExited, context: LaunchContext) -> None:
    """Let a node that has died start again, unless that cannot help."""
    if context.is_shutdown:
        return
    if event.returncode and _moves_an_arm(event):
        _launch.deaths += 1
        if _launch.deaths > MOST_DEATHS:
            raise RuntimeError(f"{event.process_name} has died {_launch.deaths} times: see what it says above")
    if event.returncode == CANNOT_START:
        _launch.running.discard(event.pid)
        _launch.cannot_start = (event.process_name, event.pid)
        raise RuntimeError(f"{event.process_name} cannot start: see what it says above")


class _Launch:
    """What the handlers of a launch know: of a process that this is, a launch.

    Attributes:
        running: processes, by their pid.
        complaints: what each says on its standard error.
        cannot_start: name and pid of the process that ended the launch because it could not start.
        left: name, pid and exit code of the process that left an arm with power.
        parks: pid of the process that has ended in order, and may have parked an arm.
        died: name and exit code of what moved an arm and has died, since when nothing has parked it.
        deaths: how often that happened.
        is_real: the arm can be one that falls down.
    """

    def __init__(self) -> None:
        self.running: set[int | None] = set()
        self.complaints: dict[int | None, LastLine] = {}
        self.cannot_start: tuple[str, int | None] | None = None
        self.left: tuple[str, int | None, int] | None = None
        self.parks: int | None = None
        self.died: tuple[str, int] | None = None
        self.deaths = 0
        self.is_real = False


_launch = _Launch()


def _note_start(event: ProcessStarted, context: LaunchContext) -> None:
    _launch.running.add(event.pid)


def _note_complaint(event: ProcessStderr) -> None:
    _launch.complaints.setdefault(event.pid, LastLine()).take(event.text)


def _tell_at_last(event: ProcessExited, context: LaunchContext) -> LogInfo | None:
    _launch.running.discard(event.pid)
    if event.returncode == KEEPS_POWER or (context.is_shutdown and event.returncode < 0 and _moves_an_arm(event)):
        _launch.left = event.process_name, event.pid, event.returncode
    elif event.returncode == 0 and _moves_an_arm(event):
        _launch.parks = event.pid
    elif event.returncode not in (0, CANNOT_START) and _moves_an_arm(event):
        _launch.died, _launch.parks = (event.process_name, event.returncode), None
    elif _launch.cannot_start is None:
        _launch.complaints.pop(event.pid, None)
    words = _last_words()
    return LogInfo(msg=words) if words and not _launch.running else None


def _moves_an_arm(event: ProcessExited) -> bool:
    return event.process_name.startswith("arm_controller")


def _last_words() -> str:
    """Asked for at the end: a process can be told to have ended before the last of what it wrote is read."""
    if _launch.left is not None:
        name, pid, code = _launch.left
        killed = f"{name} was killed (signal {-code}): the arm holds where it is, and keeps its power if it has any"
        return _complaint(pid) if code == KEEPS_POWER else killed
    if _launch.cannot_start is not None:
        name, pid = _launch.cannot_start
        return f"{name} cannot start: {_complaint(pid)}"
    said = _complaint(_launch.parks) if _launch.parks is not None else ""
    if said.startswith((PARKED, NO_POWER, TOLD_TO_LET_GO, LEFT)):
        return said
    if _launch.died is not None and _launch.is_real:
        name, code = _launch.died
        return f"{name} died (exit code {code}), and nothing has parked its arm since: it may be raised, with power"
    return ""


def _complaint(pid: int | None) -> str:
    """The last of a process, without the severity, the time and the name that ROS's log puts before it."""
    said = _launch.complaints[pid].text if pid in _launch.complaints else ""
    return re.sub(r"^\[[A-Z]+\] \[[\d.]+\] \[[\w.]+\]: ", "", said) or "see above"
