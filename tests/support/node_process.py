"""Runs one node as a process of its own and talks to it, for tests of nodes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

WAIT_S = 60.0
_ASK_AGAIN_S = 10.0
_BEGIN = "from kc_vla.ros.entry import run; run({!r})"
"""As the entry points of the nodes do it."""
_PLUG = "import {}; "


class Peer:
    """A node of the test's own in this process; use it as a context manager."""

    def __enter__(self) -> Peer:
        """Start it."""
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = Node("test_peer", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def until(self, done: Callable[[], Any]) -> Any:
        """Serve callbacks until `done()` is true and return what it said; fail the test if it never is."""
        end = time.monotonic() + WAIT_S
        while not (found := done()):
            assert time.monotonic() < end, "waited in vain"
            self._executor.spin_once(timeout_sec=0.05)
        return found

    def call(self, kind: type, service: str, request: Any) -> Any:
        """Return the answer of a service, waited for.

        A server answers into the void where it has not found this client yet: it is asked again.
        """
        client = self.node.create_client(kind, service)
        try:
            self.until(client.service_is_ready)
            answers = []
            for _ in range(round(WAIT_S / _ASK_AGAIN_S)):
                answers.append(client.call_async(request))
                asked = time.monotonic()
                self.until(lambda: any(a.done() for a in answers) or time.monotonic() > asked + _ASK_AGAIN_S)  # noqa: B023
                for answer in answers:
                    if answer.done():
                        return answer.result()
            raise AssertionError(f"no answer of {service} for {WAIT_S:g} s")
        finally:
            self.node.destroy_client(client)

    def hear(self, kind: type, topic: str, profile: Any) -> list[Any]:
        """Return a list to which every message on `topic` is added."""
        heard: list[Any] = []
        self.node.create_subscription(kind, topic, heard.append, profile)
        return heard


def start_node(folder: Path, source: str, **environment: str) -> subprocess.Popen[str]:
    """Write `source`, which has a `main`, into `folder`, and start it as a node, its output in pipes."""
    (folder / "node_of_a_test.py").write_text(source)
    return subprocess.Popen(
        [sys.executable, "-c", _BEGIN.format("node_of_a_test")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def running(module: str, log: Path, plug: str = "", **parameters: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run the node in `module` with `parameters`, its output in `log`; interrupt it at the end if it still runs.

    `plug` is a module that its process imports first.
    """
    arguments = [item for name, value in parameters.items() for item in ("-p", f"{name}:={value}")]
    begin = (_PLUG.format(plug) if plug else "") + _BEGIN.format(module)
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", begin, "--ros-args", *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(WAIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise
