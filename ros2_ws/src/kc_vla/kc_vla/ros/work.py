"""Puts a worker beside a node: what it computes or waits for never holds up the node's own thread."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from rclpy.task import Future

from kc_vla.core.errors import StackError
from kc_vla.inference.worker import AtOnce, Runner, Worker
from kc_vla.ros.base import StackNode

T = TypeVar("T")
_LOOK_S = 0.1
"""How often deadlines are looked at, s."""


def runner(
    node: StackNode,
    at_once: bool,
    name: str,
    room: int = 1,
    deadline_s: float = math.inf,
    refusals: tuple[type[Exception], ...] = (),
) -> Runner:
    """Return what does the jobs of a node that is starting: `AtOnce`, or a worker with these settings.

    The node gets the outcomes through its executor, like of a message; a fault in a job ends it, like one in a
    callback. `node.stop` must close it.
    """
    if at_once:
        return AtOnce()
    worker = Worker(name, node.from_any_thread(lambda: worker.deliver()), room, deadline_s, refusals)
    if deadline_s < math.inf:
        node.every(_LOOK_S, worker.deliver)
    return worker


async def answer(work: Runner, run: Callable[[], T]) -> T:
    """Have `run` done by `work` and return what it returned, in a coroutine of the node.

    Raises:
        NoAnswerError: it is not known; the text says why.
        Exception: what `run` raised.
    """
    told: Future = Future()
    work.submit(run, told.set_result)
    outcome = await told
    return outcome.result()  # type: ignore[no-any-return]


Service = tuple[type, str, Callable[[Any], Any], Callable[[Any, Any], None]]
"""Its type, which has `success` and `message`; its name; what works on the request; and what puts that into the
response."""


def serve(node: StackNode, work: Runner, services: Iterable[Service]) -> None:
    """Offer the services of a node that is starting, each worked on by `work`; why it cannot be is its `message`.

    How long each answer took is a stage of the node's statistics, called as the service is.
    """
    for kind, name, run, fill in services:
        node.serve(kind, name, partial(_respond, node, name.rpartition("/")[2], work, run, fill))


async def _respond(
    node: StackNode,
    stage: str,
    work: Runner,
    run: Callable[[Any], Any],
    fill: Callable[[Any, Any], None],
    request: Any,
    response: Any,
) -> Any:
    began_s = time.monotonic()
    try:
        found = await answer(work, partial(run, request))
    except StackError as error:
        response.message = str(error)
        return response
    node.statistics.add(stage, time.monotonic() - began_s)
    fill(response, found)
    response.success = True
    return response
