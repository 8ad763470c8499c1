"""The base of every node: lifecycle, checked parameters, diagnostics, statistics, the running episode.

A node writes `start` (make its entities) and its callbacks; everything made through `subscribe`, `advertise`,
`serve`, `call` and `every` exists while the node is active and is destroyed when it is deactivated.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from rcl_interfaces.msg import SetParametersResult
from rclpy.action import ActionServer
from rclpy.callback_groups import CallbackGroup, ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.task import Future

from kc_vla.core import topics
from kc_vla.core.episode import Episode
from kc_vla.core.latency import Statistics
from kc_vla.ros import qos
from kc_vla.ros.convert import episode_from
from kc_vla.ros.health import ERROR as ERROR
from kc_vla.ros.health import WARN, Health
from kc_vla.ros.links import links_of
from kc_vla.ros.parameters import BadParameterError, NodeParameters, change, declare
from kc_vla_msgs.msg import EpisodeStatus

CANNOT_START = 2
"""Exit status of a node with a bad parameter or a `StartError`: starting it again would not help."""


_RESULT_KEPT_S = 30


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
        self.hurried = False  # it was told to end again: there is no time for what `lingers` waits for
        self.abandoned = ""  # what to say of what is left behind if the process is ended at once
        self._health = Health(self, self.statistics)
        self._made: list[tuple[Callable[[Any], Any], Any]] = []
        # A callback that awaits an answer must not keep the others out. One thread runs them all, so none needs a lock.
        self._together = ReentrantCallbackGroup()
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer(self.parameters.diagnostics_period, self.publish_diagnostics)

    # -- what a node writes -------------------------------------------------------------------------------------

    def start(self) -> None:
        """Make the entities and load what the work needs; raise `StartError` if it cannot be done."""

    def stop(self) -> None:
        """Release what `start` acquired, except publishers, subscriptions and services."""

    def lingers(self) -> bool:
        """Return whether there is still something to hear after this process was asked to end.

        It is called again and again.
        """
        return False

    def on_episode(self, episode: Episode) -> None:
        """Handle that an episode begins, or ends (`episode.running`); called only if `watch_episodes` was."""

    def on_parameters(self) -> None:
        """React to a change of `self.parameters`."""

    def refuses(self, parameter: Parameter) -> str:
        """Return why a parameter, perhaps one of ROS itself, must not change now; empty if it may."""
        return ""

    def details(self) -> dict[str, object]:
        """Return what else the diagnostics report."""
        return {}

    def hardware(self) -> str:
        """Return what hardware the diagnostics are about: a device, else the robot, else "none" for a program alone."""
        return Path(getattr(self.parameters, "robot", "")).stem or "none"

    # -- what a node uses ---------------------------------------------------------------------------------------

    def subscribe(
        self,
        kind: type,
        topic: str,
        callback: Callable[..., Any],
        profile: QoSProfile,
        raw: bool = False,
        group: CallbackGroup | None = None,
    ) -> Any:
        """Listen to a topic while active, or until `unsubscribe`; `callback(message)` or `callback(message, info)`."""
        together = group or self._together
        entity = self.create_subscription(kind, topic, callback, profile, raw=raw, callback_group=together)
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

    def serve_action(self, kind: type, name: str, execute: Any, accept: Any, cancel: Any) -> Any:
        """Serve an action and return its server, which `stop` destroys; `cancel` answers who wants to cancel.

        A result is kept for half a minute: rclpy's quarter of an hour makes a node grow with each goal.
        """
        group = self._together
        callbacks = {"execute_callback": execute, "goal_callback": accept, "cancel_callback": cancel}
        return ActionServer(self, kind, name, **callbacks, callback_group=group, result_timeout=_RESULT_KEPT_S)

    def call(self, kind: type, name: str) -> Any:
        """Return a service client that exists while active."""
        entity = self.create_client(kind, name, callback_group=self._together)
        self._made.append((self.destroy_client, entity))
        return entity

    def every(self, period: float, callback: Callable[[], Any]) -> None:
        """Call back every `period` seconds of steady (wall) time while active."""
        self._made.append((self.destroy_timer, self._timer(period, callback)))

    def from_any_thread(self, callback: Callable[[], Any]) -> Callable[[], None]:
        """Return what another thread calls to have `callback()` called here while active; two calls may become one."""
        entity = self.create_guard_condition(callback, callback_group=self._together)
        self._made.append((self.destroy_guard_condition, entity))
        return entity.trigger

    def soon(self, callback: Callable[[], Any]) -> None:
        """Have `callback()`, which may be a coroutine, called as soon as this node is served, while active."""
        self.from_any_thread(callback)()

    def fail(self, reason: str) -> None:
        """End the process with exit code 1, after the callback that runs."""
        self.problem(reason, ERROR)
        self.exit_code, self.done = 1, True

    def cannot_start(self, reason: str) -> None:
        """End the process, after the callback that runs, as one that another start would not help."""
        self.problem(reason, ERROR)
        self.exit_code, self.done = CANNOT_START, True

    async def ask(self, client: Any, request: Any, timeout: float, again: float | None = None) -> Any | None:
        """Return the answer to a service call, or None if none comes within `timeout` seconds.

        A server answers into the void where it has not found this client yet: what may be asked twice is asked again
        after every `again` seconds, and the first answer counts.
        """
        asked = [client.call_async(request)]
        answer: Future = asked[0]

        def pass_on(done: Future) -> None:
            if not (answer.done() or done.cancelled()):
                answer.set_result(done.result())

        def ask_again() -> None:
            asked.append(client.call_async(request))
            asked[-1].add_done_callback(pass_on)

        timers = [self._timer(timeout, lambda: answer.cancel())]
        if again is not None:
            answer = Future()
            asked[0].add_done_callback(pass_on)
            timers.append(self._timer(again, ask_again))
        try:
            await answer
        finally:
            for timer in timers:
                self.destroy_timer(timer)
            for each in asked:
                client.remove_pending_request(each)
        return None if answer.cancelled() else answer.result()

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` of steady time pass."""
        done: Future = Future()
        timer = self._timer(seconds, lambda: done.set_result(None))
        await done
        self.destroy_timer(timer)

    def watch_episodes(self) -> None:
        """Keep `self.episode` up to date and call `on_episode`."""
        self.subscribe(EpisodeStatus, topics.EPISODE_STATUS, self._on_status, qos.STATUS)

    def count_nodes(self, name: str) -> int:
        """Return how many nodes of that name are in this node's namespace."""
        return self.get_node_names_and_namespaces().count((name, self.get_namespace()))

    def problem(self, text: str, level: Any = WARN) -> None:
        """Report a problem in the diagnostics until `problem("")`, and once in the log, as far as its budget goes."""
        self._health.problem(text, level)

    def note(self, text: str) -> None:
        """Warn once, in the log alone, about a problem that is over."""
        self._health.note(text)

    def publish_diagnostics(self) -> None:
        """Publish health, links, latencies and losses."""
        publishers = (entity for destroy, entity in self._made if destroy == self.destroy_publisher)
        subscriptions = (entity for destroy, entity in self._made if destroy == self.destroy_subscription)
        self._health.publish({**links_of(publishers, subscriptions), **self.details()}, self.hardware())

    @property
    def works(self) -> bool:
        """Return whether it has started and not stopped yet."""
        return bool(self._made)

    def end(self) -> None:
        """Stop the work, if it has begun."""
        if self._made:
            self.stop()
        self._destroy_made()
        self.episode = None

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
        self.end()
        return super().on_deactivate(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the work, whatever the state."""
        self.end()
        return super().on_shutdown(state)

    def _timer(self, period: float, callback: Callable[[], Any]) -> Any:
        return self.create_timer(period, callback, clock=self._steady, callback_group=self._together)

    def _destroy_made(self) -> None:
        while self._made:
            destroy, entity = self._made.pop()
            destroy(entity)

    def _on_status(self, message: EpisodeStatus) -> None:
        episode = episode_from(message)
        if episode is None:
            self._health.note("episode status with a frame period of 0 or less: ignored")
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
        if reason := next(filter(None, map(self.refuses, parameters)), ""):
            return SetParametersResult(successful=False, reason=reason)
        changed, result = change(self.parameters, parameters)
        if changed != self.parameters:
            self.parameters = changed
            self.on_parameters()
        return result


def seconds_since(source_timestamp_ns: int) -> float:
    """Return the wall time since a message was published, s (`info["source_timestamp"]` of a callback)."""
    return (time.time_ns() - source_timestamp_ns) / 1e9
