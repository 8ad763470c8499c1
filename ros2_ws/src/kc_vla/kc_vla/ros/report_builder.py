"""Makes the report of an episode once its bag is closed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from std_msgs.msg import String

from kc_vla.core import topics
from kc_vla.core.interruptions import interruptible_children
from kc_vla.reports.files import SUMMARY
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode
from kc_vla.ros.console_logger import ConsoleLogger
from kc_vla_msgs.msg import EpisodeResult

REPORTS = ("full", "summary", "none")
"""What can be made of an episode."""
BAG_TIMEOUT_S = 15.0
"""How long the recorder may take to close a bag."""


class ReportBuilder:
    """Listens to the recorder on behalf of a node.

    Attributes:
        failed: True if a report was wanted and could not be made.
    """

    def __init__(self, node: StackNode, narrator: ConsoleLogger, output: Path, wanted: str) -> None:
        """Prepare to make reports.

        Args:
            node: that runs the episodes.
            narrator: of the episodes.
            output: the folder of the episodes.
            wanted: one of `REPORTS`; of "none" only the bag is named.
        """
        self._node = node
        self._narrator = narrator
        self._output = output
        self._wanted = wanted
        self._recorded: dict[str, dict[str, Any]] = {}
        self._worker: subprocess.Popen[str] | None = None
        self.failed = False
        node.subscribe(String, topics.RECORDER_STATUS, self._on_recorder, qos.STATUS)

    async def report(self, result: EpisodeResult) -> dict[str, Any]:
        """Write what is wanted; return the episode's line of the table of all episodes."""
        line: dict[str, Any] = {
            "episode": result.episode_id,
            "task": result.task,
            "seed": result.seed,
            "success": result.success,
            "reason": result.reason,
            "steps": result.steps,
            "completion_rate": result.completion_rate,
        }
        recorder = await self._closed_bag(result.episode_id)
        if recorder is None or recorder["state"] != "closed":
            return self._fail(line, (recorder or {}).get("error") or "the recorder has not closed a bag")
        bag = Path(recorder["bag"])
        if self._wanted == "none":
            self._narrator.say(f"bag: {bag}")
            return line | {"folder": str(bag.parent)}
        folder = self._output / result.episode_id
        problem = await self._make(bag, folder)
        if problem:
            return self._fail(line, problem)
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        keyframes = {f"keyframes_{name}": summary["keyframes"][name] for name in ("equal", "wanted", "right")}
        return line | keyframes | {"folder": str(bag.parent)}

    def close(self) -> None:
        """Give up a report that is being made."""
        if self._worker is not None:
            self._worker.terminate()

    def _fail(self, line: dict[str, Any], why: str) -> dict[str, Any]:
        self.failed = True
        self._narrator.say(f"no report: {why}")
        return line

    async def _make(self, bag: Path, folder: Path) -> str:
        """Make the report and say what it is; return what went wrong, or nothing.

        A process of its own: neither its time nor its memory burdens this node, which goes on talking.
        """
        command = [sys.executable, "-m", "kc_vla.cli", "report", str(bag), "--output", str(folder)]
        command += ["--summary-only"] if self._wanted == "summary" else []
        with interruptible_children():
            self._worker = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while self._worker.poll() is None:
            await self._node.sleep(0.1)
        said, complaint = self._worker.communicate()
        failed, self._worker = self._worker.returncode, None
        for text in said.splitlines():
            self._narrator.say(text)
        if not failed:
            return ""
        return complaint.strip().splitlines()[-1] if complaint.strip() else f"it ended with exit code {failed}"

    async def _closed_bag(self, episode_id: str) -> dict[str, Any] | None:
        """Return the recorder's last word on an episode, or None if it has none."""
        deadline = time.monotonic() + BAG_TIMEOUT_S
        while self._node.count_publishers(topics.RECORDER_STATUS) and time.monotonic() < deadline:
            status = self._recorded.get(episode_id)
            if status is not None and status["state"] in ("closed", "failed"):
                return status
            await self._node.sleep(0.05)
        return self._recorded.get(episode_id)

    def _on_recorder(self, message: String) -> None:
        status = json.loads(message.data)
        self._recorded = {status["episode_id"]: status}
