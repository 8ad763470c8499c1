"""Nodes of tests as processes of their own, ended between two callbacks and never inside of one."""

from __future__ import annotations

import signal
import threading

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

_POLL_S = 0.1


def init() -> None:
    """Begin without rclpy's handlers: an exception out of one may strike while a message is converted."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)


def spin_until_interrupted(node: Node) -> None:
    """Run a node until the process is interrupted or terminated."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not ended.is_set():
        executor.spin_once(timeout_sec=_POLL_S)
