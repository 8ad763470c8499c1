"""How the process of a node ends when it is asked to, from its first second on."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from node_process import start_node

NODE = """
import ctypes
import time
from kc_vla.ros.base import StackNode
from kc_vla.ros.process import run_node


class Node(StackNode):
    def __init__(self):
        super().__init__("slow")

    def start(self):
        self.every(1.0, lambda: None)
        print("starts", flush=True)
        time.sleep({start})
        print("started", flush=True)

    def stop(self):
        print("stopped", flush=True)

    def destroy_node(self):
        ctypes.PyDLL(None).sleep({teardown})  # which keeps the interpreter's lock, as the middleware does
        super().destroy_node()


def main():
    run_node(Node)
"""


@pytest.fixture
def starting(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Return a function that runs a node and waits until it starts."""

    def run(start: float = 0.0, teardown: int = 0) -> subprocess.Popen[str]:
        process = start_node(tmp_path, NODE.format(start=start, teardown=teardown))
        assert process.stdout is not None
        assert process.stdout.readline() == "starts\n"
        return process

    return run


def test_one_that_is_interrupted_as_it_starts_ends_in_order(starting: Callable[..., subprocess.Popen[str]]) -> None:
    process = starting(start=1.0)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("started\nstopped\n", "")
    assert process.returncode == 0


@pytest.mark.parametrize("asked", [1, 2])
def test_a_start_that_takes_long_keeps_nobody_waiting(
    starting: Callable[..., subprocess.Popen[str]], asked: int
) -> None:
    process = starting(start=600.0)
    for number in (signal.SIGINT, signal.SIGTERM)[:asked]:
        process.send_signal(number)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


def test_a_middleware_that_does_not_end_is_left_and_it_is_told_where_it_hung(
    starting: Callable[..., subprocess.Popen[str]],
) -> None:
    """It waits for what a process held that was killed."""
    process = starting(teardown=600)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert said == "stopped\n"
    assert "in destroy_node" in errors
    assert process.returncode == 0
