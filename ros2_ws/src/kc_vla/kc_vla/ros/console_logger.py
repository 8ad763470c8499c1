"""Says what happens in an episode, one line per event that a person cares about."""

from __future__ import annotations

import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

from kc_vla.core import topics
from kc_vla.core.repeated_lines import RepeatedLines
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.health import within
from kc_vla_msgs.msg import ArmCommand, Driver, EpisodeResult, KeyframeEvent

_LEVELS = {DiagnosticStatus.WARN: "warning", DiagnosticStatus.ERROR: "error"}


class ConsoleLogger:
    """Listens on behalf of a node and prints."""

    def __init__(self, node: StackNode) -> None:
        self._node = node
        self._episode = ""
        self._period = 0.05
        self._held = ""
        self._problems: dict[str, str] = {}
        self._lines = RepeatedLines()
        self._early: list[KeyframeEvent] = []  # of an episode that this node has not heard of yet
        node.subscribe(KeyframeEvent, topics.KEYFRAME_EVENT, self._on_keyframe, qos.EVENT_LOG)
        node.subscribe(ArmCommand, topics.ARM_COMMAND, self._on_command, qos.EVENT)
        node.subscribe(Driver, topics.DRIVER, self._on_driver, qos.EVENT_LOG)
        node.subscribe(DiagnosticArray, topics.DIAGNOSTICS, self._on_diagnostics, qos.EVENT)

    def say(self, text: str) -> None:
        """Print one line."""
        print(text, flush=True)

    def begin(self, episode_id: str, instruction: str) -> None:
        """Begin an episode."""
        self._episode, self._held = episode_id, ""
        self.say(f"episode {episode_id}: {instruction}")
        early, self._early = self._early, []
        for event in early:
            self._on_keyframe(event)

    def end(self, result: EpisodeResult) -> None:
        """End the episode."""
        if not result.stages:
            self.say(f"{self._when(result.steps)}  ended: {result.reason}")
            return
        outcome = "succeeded" if result.success else f"failed: {result.reason}"
        self.say(
            f"{self._when(result.steps)}  {outcome} "
            f"({result.completed_stages} of {len(result.stages)} stages: {result.completion_rate:.0%})"
        )

    def _when(self, frame: int) -> str:
        return f"  frame {frame:4d}  {frame * self._period:6.2f} s"

    def _on_keyframe(self, event: KeyframeEvent) -> None:
        if event.episode_id != self._episode:
            self._early = [*self._early[-9:], event]
            return
        what = {
            KeyframeEvent.PROVISIONAL: "candidate",
            KeyframeEvent.COMMITTED: "confirmed",
        }.get(event.type)
        if what is not None:
            at = "" if event.frame_index == event.decided_at_frame else f" (frame {event.frame_index})"
            self.say(f"{self._when(event.decided_at_frame)}  keyframe {event.phase} '{event.label}' {what}{at}")

    def _on_driver(self, told: Driver) -> None:
        if told.episode_id == self._episode and told.sequence > 0:
            who = f"a person drives ({told.device})" if told.driver == Driver.PERSON else "the policy drives"
            self.say(f"{self._when(told.frame_index)}  {who}")

    def _on_command(self, command: ArmCommand) -> None:
        if command.episode_id != self._episode:
            return
        reason = command.reason if command.mode == ArmCommand.HOLD else ""
        if reason != self._held:
            self.say(
                f"{self._when(command.step)}  " + (f"the arm holds: {reason}" if reason else "the arm moves again")
            )
        self._held = reason

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        now = time.monotonic()
        for line in self._lines.due(now):
            self.say(line)
        for status in within(self._node, message).status:
            text = status.message if status.level in _LEVELS else ""
            if text != self._problems.get(status.name, ""):
                if text and self._lines.is_news(said := f"  {_LEVELS[status.level]}: {status.name}: {text}", now):
                    self.say(said)
                self._problems[status.name] = text
