"""A node as a process: from its start to its end, whatever asks it to end."""

from __future__ import annotations

import faulthandler
import gc
import os
import sys
import threading

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.signals import SignalHandlerOptions

from kc_vla.core.deadline import exit_after
from kc_vla.core.home import check_log_folder
from kc_vla.core.interruptions import interruptions
from kc_vla.ros.base import CANNOT_START, StackNode
from kc_vla.ros.parameters import BadParameterError

_SIGNAL_POLL_S = 0.1
"""How long a node without anything to do takes to see a signal, s."""
_HURRY, _AT_ONCE = 2, 3
"""So many times a process has to be asked to end for a quick end, and for one at once."""
_START_S = 3.0
"""How long a node that is asked to end while it starts may take to come to an end in order, s."""
_TEARDOWN_S = 6.0
"""How long the middleware may take to end, s: a process that was killed may hold what it waits for, for ever. Launchers
kill 10 s after an interrupt."""


def run_node(kind: type[StackNode]) -> None:
    """Run one node as a process until it is interrupted, terminated or done; exit status `CANNOT_START` if it cannot.

    Signals are looked at between callbacks, so that none is cut off in its middle and the node can still talk when it
    puts its things in order. A second one hurries it, a third ends the process at once, whatever it does. One that
    starts ends in order too where it can: what ends at once leaves the locks that the middleware's processes share as
    they are, and the others, which end or start at the same time, wait for them for seconds.
    """
    interruptions.count()
    faulthandler.enable()  # a crash inside the middleware says where it was called from
    try:
        check_log_folder()
    except OSError as error:
        print(error, file=sys.stderr)
        sys.exit(CANNOT_START)
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        exit_code = _run(kind)
    except BadParameterError as error:
        print(error, file=sys.stderr)
        exit_code = CANNOT_START
        _end_in_time(exit_code)
    finally:
        rclpy.try_shutdown()
    # The middleware's threads run until the last entity of the node is gone, and entities hold one another: they are
    # collected here, in order, and not by the teardown of the interpreter, in which such a thread may crash.
    gc.unfreeze()
    gc.collect()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)


def _run(kind: type[StackNode]) -> int:
    """Return the exit code of a node that has run and put its things in order."""
    asked = 0
    too_long = threading.Timer(_START_S, os._exit, [0])
    too_long.daemon = True

    def end_start(count: int) -> None:
        nonlocal asked
        if count >= _HURRY:
            os._exit(0)
        first, asked = not asked, count
        if first:
            too_long.start()

    def end(count: int) -> None:
        nonlocal asked
        asked = count
        if count >= _AT_ONCE:
            _leave_at_once(node.get_name(), node.abandoned)

    interruptions.tell(end_start)
    node = kind()  # type: ignore[call-arg]  # each node knows its name
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    exit_code = 1  # of an exception
    try:
        if node.parameters.autostart and not asked:
            node.trigger_configure()
            if node.trigger_activate() != TransitionCallbackReturn.SUCCESS:
                exit_code = CANNOT_START
                return exit_code
        interruptions.tell(end)
        too_long.cancel()
        gc.collect()
        gc.freeze()  # a full collection of what is loaded by now would take several control periods
        while not (node.done or asked) or (node.works and node.lingers()):
            executor.spin_once(timeout_sec=_SIGNAL_POLL_S)
            node.hurried = asked >= _HURRY
        exit_code = node.exit_code
        return exit_code
    finally:
        too_long.cancel()
        node.end()
        name, left = node.get_name(), node.abandoned
        interruptions.tell(lambda count: _leave_at_once(name, left) if count >= _AT_ONCE else None)  # holds no node
        _end_in_time(exit_code)
        executor.shutdown()  # before what it waits for is gone
        node.destroy_node()


def _end_in_time(exit_code: int) -> None:
    """Leave the middleware, and log where it hangs if it does not end: all that this process had to do is done."""
    faulthandler.dump_traceback_later(_TEARDOWN_S)
    exit_after(_TEARDOWN_S + 0.5, exit_code)


def _leave_at_once(name: str, left: str) -> None:
    os.write(2, f"{name} was ended at once. {left}\n".encode())
    os._exit(1)
