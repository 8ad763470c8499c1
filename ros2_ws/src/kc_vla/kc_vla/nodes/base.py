"""The base of every node: lifecycle, checked parameters, diagnostics, statistics, the running episode.

A node writes `start` (make its entities) and its callbacks; everything made through `subscribe`, `advertise`,
`serve`, `call` and `every` exists while the node is active and is destroyed when it is deactivated.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, ClassVar

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rcl_interfaces.msg import SetParametersResult
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from kc_vla.episode import Episode
from kc_vla.latency import Statistics
from kc_vla.nodes import qos, topics
from kc_vla.nodes.convert import episode_from
from kc_vla.nodes.log_budget import LogBudget
from kc_vla.nodes.parameters import BadParameterError, NodeParameters, change, declare
from kc_vla_msgs.msg import EpisodeStatus

CANNOT_START = 2
"""Exit status of a node with a bad parameter or a `StartError`: starting it again would not help."""
SIGNAL_POLL_S = 0.1
"""How long a node without anything to do takes to see a signal, s."""
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class StartError(RuntimeError):
    """The node cannot do its work; the text says why and what to do."""


class StackNode(LifecycleNode):
    """A lifecycle node of the stack."""

    Parameters: ClassVar[type[NodeParameters]] = NodeParameters

    def __init__(self, name: str) -> None:
        super().__init__(name)
        try:
            self.parameters = declare(self, self.Parameters)
        except BadParameterError as error:
            raise BadParameterError(f"{self.get_fully_qualified_name().lstrip('/')}: {error}") from None
        self.add_on_set_parameters_callback(self._change_parameters)
        self.statistics = Statistics()
        self.episode: Episode | None = None
        self.done = False  # True ends the process, with `exit_code`
        self.exit_code = 0
        self._problem: tuple[Any, str] = (OK, "")
        self._log_budget = LogBudget()
        self._made: list[tuple[Callable[[Any], Any], Any]] = []
        # A callback that awaits an answer must not keep the others out. One thread runs them all, so none needs a lock.
        self._together = ReentrantCallbackGroup()
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._diagnostics = self.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, 10)
        self._timer(self.parameters.diagnostics_period, self.publish_diagnostics)

    # -- what a node writes -------------------------------------------------------------------------------------

    def start(self) -> None:
        """Make the entities and load what the work needs; raise `StartError` if it cannot be done."""

    def stop(self) -> None:
        """Give back what `start` took, apart from the entities."""

    def lingers(self) -> bool:
        """Whether there is still something to hear after this process was told to end; asked again and again."""
        return False

    def on_episode(self, episode: Episode) -> None:
        """An episode begins, or ends (`episode.running`); called only if `watch_episodes` was."""

    def on_parameters(self) -> None:
        """`self.parameters` has changed."""

    def details(self) -> dict[str, object]:
        """Return what else the diagnostics tell."""
        return {}

    # -- what a node uses ---------------------------------------------------------------------------------------

    def subscribe(
        self, kind: type, topic: str, callback: Callable[..., None], profile: QoSProfile, raw: bool = False
    ) -> Any:
        """Listen to a topic while active, or until `unsubscribe`; `callback(message)` or `callback(message, info)`."""
        entity = self.create_subscription(kind, topic, callback, profile, raw=raw, callback_group=self._together)
        self._made.append((self.destroy_subscription, entity))
        return entity

    def unsubscribe(self, entity: Any) -> None:
        """Listen no more; `entity` is what `subscribe` returned. Not from its own callback."""
        self._made.remove((self.destroy_subscription, entity))
        self.destroy_subscription(entity)

    def advertise(self, kind: type, topic: str, profile: QoSProfile) -> Any:
        """Return a publisher that exists while active."""
        entity = self.create_publisher(kind, topic, profile)
        self._made.append((self.destroy_publisher, entity))
        return entity

    def serve(self, kind: type, name: str, callback: Callable[[Any, Any], Any]) -> None:
        """Offer a service while active; the callback may be a coroutine."""
        entity = self.create_service(kind, name, callback, callback_group=self._together)
        self._made.append((self.destroy_service, entity))

    def call(self, kind: type, name: str) -> Any:
        """Return a service client that exists while active."""
        entity = self.create_client(kind, name, callback_group=self._together)
        self._made.append((self.destroy_client, entity))
        return entity

    def every(self, period: float, callback: Callable[[], None]) -> None:
        """Call back every `period` seconds of steady (wall) time while active."""
        self._made.append((self.destroy_timer, self._timer(period, callback)))

    def fail(self, reason: str) -> None:
        """End the process with exit code 1, after the callback that runs."""
        self.problem(reason, ERROR)
        self.exit_code, self.done = 1, True

    async def ask(self, client: Any, request: Any, timeout: float) -> Any | None:
        """Return the answer to a service call, or None if none comes within `timeout` seconds."""
        future = client.call_async(request)

        def give_up() -> None:
            client.remove_pending_request(future)
            future.cancel()

        timer = self._timer(timeout, give_up)
        try:
            await future
        finally:
            self.destroy_timer(timer)
        return None if future.cancelled() else future.result()

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` of steady time pass."""
        done: Future = Future()
        timer = self._timer(seconds, lambda: done.set_result(None))
        await done
        self.destroy_timer(timer)

    def watch_episodes(self) -> None:
        """Keep `self.episode` up to date and call `on_episode`."""
        self.subscribe(EpisodeStatus, topics.EPISODE_STATUS, self._on_status, qos.STATUS)

    def problem(self, text: str, level: Any = WARN) -> None:
        """Tell a problem in the diagnostics until `problem("")`, and once in the log, as far as its budget goes."""
        if text and text != self._problem[1] and self._log_budget.take():
            if level == ERROR:  # two lines of code: rclpy refuses two severities from one
                self.get_logger().error(text)
            else:
                self.get_logger().warning(text)
        self._problem = (level, text) if text else (OK, "")

    def publish_diagnostics(self) -> None:
        """Publish health, latencies and losses."""
        level, text = self._problem
        values: dict[str, object] = dict(self.details())
        for stage, summary in self.statistics.percentiles().items():
            values[f"latency/{stage}/count"] = summary.count
            values[f"latency/{stage}/p50_ms"] = f"{summary.p50 * 1e3:.3f}"
            values[f"latency/{stage}/p99_ms"] = f"{summary.p99 * 1e3:.3f}"
            values[f"latency/{stage}/max_ms"] = f"{summary.maximum * 1e3:.3f}"
        for topic, count in self.statistics.dropped.items():
            values[f"dropped/{topic}"] = count
        status = DiagnosticStatus(
            level=level,
            name=self.get_fully_qualified_name().lstrip("/"),
            message=text or "ok",
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(message)

    # -- lifecycle ----------------------------------------------------------------------------------------------

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start the work."""
        try:
            self.start()
        except StartError as error:
            self.problem(str(error), ERROR)
            self._destroy_made()
            return TransitionCallbackReturn.FAILURE
        except Exception:
            traceback.print_exc()  # the lifecycle turns every exception into a state, and says nothing
            raise
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the work."""
        self._end()
        return super().on_deactivate(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the work, whatever the state."""
        self._end()
        return super().on_shutdown(state)

    def _timer(self, period: float, callback: Callable[[], None]) -> Any:
        return self.create_timer(period, callback, clock=self._steady, callback_group=self._together)

    def _end(self) -> None:
        if self._made:
            self.stop()
        self._destroy_made()
        self.episode = None

    def _destroy_made(self) -> None:
        while self._made:
            destroy, entity = self._made.pop()
            destroy(entity)

    def _on_status(self, message: EpisodeStatus) -> None:
        episode = episode_from(message)
        if episode is None:
            self.get_logger().warning("episode status with a frame period of 0 or less: ignored")
            return
        if episode == self.episode:
            return
        if self.episode is None or episode.id != self.episode.id:
            self.statistics.clear()
        self.episode = episode
        self.on_episode(episode)
        if not episode.running:
            self.publish_diagnostics()

    def _change_parameters(self, parameters: list[Parameter]) -> SetParametersResult:
        changed, result = change(self.parameters, parameters)
        if changed != self.parameters:
            self.parameters = changed
            self.on_parameters()
        return result


def seconds_since(source_timestamp_ns: int) -> float:
    """Return the wall time since a message was published, s (`info["source_timestamp"]` of a callback)."""
    return (time.time_ns() - source_timestamp_ns) / 1e9


def run_node(kind: type[StackNode]) -> None:
    """Run one node as a process until it is interrupted, terminated or done; exit status `CANNOT_START` if it cannot.

    Signals are looked at between callbacks, so that none is cut off in its middle and the node can still talk when it
    puts its things in order. A second SIGTERM ends the process at once.
    """
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = kind()  # type: ignore[call-arg]  # each node knows its name
    except BadParameterError as error:
        print(error, file=sys.stderr)
        rclpy.try_shutdown()
        sys.exit(CANNOT_START)
    executor = SingleThreadedExecutor()
    executor.add_node(node)

    def stop(signal_number: int, frame: object) -> None:
        node.done = True
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    try:
        if node.parameters.autostart:
            node.trigger_configure()
            if node.trigger_activate() != TransitionCallbackReturn.SUCCESS:
                sys.exit(CANNOT_START)
        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGTERM, stop)
        gc.collect()
        gc.freeze()  # a full collection of what is loaded by now would take several control periods
        while not node.done or (node._made and node.lingers()):
            executor.spin_once(timeout_sec=SIGNAL_POLL_S)
    finally:
        node._end()
        executor.shutdown()  # before what it waits for is gone
        node.destroy_node()
        rclpy.try_shutdown()
    sys.exit(node.exit_code)
