"""Node `home_session`: sends instructions one after another, and reports the cost of each with and without a memory.

Each is also played, beside, in a copy of the home as it was, by a robot without a memory. An instruction whose planner
ends is over; the next one is for the planner that is started again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rclpy.duration import Duration
from std_msgs.msg import String

from kc_vla.core import topics
from kc_vla.core.namespaces import suffix_of
from kc_vla.core.untrusted import parsed_json
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.instruction_giver import InstructionGiver
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node
from kc_vla_msgs.msg import EpisodeResult, EpisodeStatus
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.home_report import TABLE, table, write_report
from kc_vla_sim.household.journey import Journey
from kc_vla_sim.household.overview import restored
from kc_vla_sim.household.played_instructions import PlayedInstructions
from kc_vla_sim.household.scenes import build
from kc_vla_sim.household.session import Judge, home_of, wanted
from kc_vla_sim.household.world import World

_LOOK_S, _SETTLE_S, _ACKNOWLEDGED_S = 0.1, 0.3, 1.0
_RECORDER_S = 10.0
"""The bag is opened within so long, or there is no recorder."""


@dataclass(frozen=True)
class HomeSessionParameters(NodeParameters):
    """Parameters of the node."""

    instruction: str = parameter("", "instruction")
    sequence: str = parameter(
        "", "several instructions: the name of a sequence of the stack, or a file with an instruction in each line"
    )
    scene: str = parameter("home1", "scene of the household")
    seed: int = parameter(0, "seed of the places of all objects", low=0, high=2**31 - 1)
    memory: str = parameter("both", "memories of the planner, for the report")
    output_folder: str = parameter("runs", "folder for the report, in a folder of its own")
    startup_timeout: float = parameter(60.0, "s to wait for the household and the planner", low=1.0, high=3600.0)


class HomeSessionNode(StackNode):
    """The node `home_session`, which gives instructions and records what each took."""

    Parameters = HomeSessionParameters
    parameters: HomeSessionParameters

    def __init__(self) -> None:
        super().__init__("home_session")

    def start(self) -> None:
        """Find out what is to be done, and begin once household and planner are there."""
        values = self.parameters
        try:
            self._wanted = wanted(values.instruction, values.sequence)
            scene, seed = home_of(values.sequence, values.scene, values.seed)
            self._world = build(scene, seed)
        except HouseholdError as error:
            raise StartError(str(error)) from error
        if not self._wanted.instructions:
            raise StartError("nothing is to be done: give an instruction or a sequence")
        self._id = f"home-{scene}-{seed}-{datetime.now():%Y%m%d-%H%M%S}{suffix_of(self.get_namespace())}"
        self._folder = Path(values.output_folder).expanduser() / self._id
        self._judge = Judge(self._wanted.tasks)
        self._played = PlayedInstructions()
        self._told: dict[str, Any] = {}
        self._recorded = ""
        self._way: list[str] = []
        self._running: EpisodeStatus | None = None
        self._planner = InstructionGiver(self, values.startup_timeout)
        self.subscribe(String, topics.HOUSEHOLD, self._on_truth, qos.STATUS)
        self.subscribe(String, topics.RECORDER_STATUS, self._on_recorder, qos.STATUS)
        self._statuses = self.advertise(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._results = self.advertise(EpisodeResult, topics.EPISODE_RESULT, qos.STATUS)
        self.soon(self._go_through)

    def stop(self) -> None:
        """End the session: what was done is reported, and the bag closed."""
        self._finish("interrupted")
        for publisher in (self._results, self._statuses):
            publisher.wait_for_all_acked(Duration(seconds=_ACKNOWLEDGED_S))
        self._played.close()
        self._report()
        self._planner.close()

    def details(self) -> dict[str, object]:
        """Return how far it has come."""
        return {"instructions": f"{self._played.count} of {len(self._wanted.instructions)}"} if self.works else {}

    async def _go_through(self) -> None:
        if not await self._until(lambda: self._told and self._planner.ready, self.parameters.startup_timeout):
            self.fail("household or planner did not start: see the lines of that node above")
            return
        self._begin()
        if not await self._until(self._is_recorded, _RECORDER_S):
            self.problem("no recorder records this session, or not from its beginning: see its lines above")
        reasons = [await self._one(each) for each in self._wanted.instructions]
        self._finish("success" if not any(reasons) else next(filter(None, reasons)))
        while not self._played.whole:
            await self.sleep(_LOOK_S)
        self.exit_code, self.done = int(any(reasons)), True

    async def _one(self, instruction: str) -> str:
        """Give an instruction; return why it failed."""
        world = self._now()
        judge = self._judge.begin(world)
        self._played.begin(world, instruction, judge)
        self._way = [world.at]
        result = await self._planner.give(instruction)
        await self.sleep(_SETTLE_S)  # what is true then comes on a topic of its own
        after = self._now()
        goal = self._judge.end(after)
        journey = Journey(
            self.parameters.memory,
            result.success,
            result.reason,
            after.time_s - world.time_s,
            after.walked_m - world.walked_m,
            result.explorations,
            result.skills,
            tuple(self._way),
            goal,
            result.planner,
            tuple(result.notes),
        )
        self._played.end(journey)
        return result.reason if goal is not False else result.reason or "the goal was missed"

    def _is_recorded(self) -> bool:
        """Return whether the bag is open and what the planner publishes will be in it.

        The first instruction must not be missing.
        """
        told = self.get_subscriptions_info_by_topic(self.resolve_topic_name(topics.PLANNER_STEPS))
        return self._recorded == self._id and any(each.node_name == "recorder" for each in told)

    def _on_recorder(self, message: String) -> None:
        self._recorded = str(parsed_json(message.data).get("episode_id", ""))

    async def _until(self, holds: Any, patience: float) -> bool:
        until = time.monotonic() + patience
        while not holds():
            if time.monotonic() > until:
                return False
            await self.sleep(_LOOK_S)
        return True

    def _on_truth(self, message: String) -> None:
        self._told = parsed_json(message.data)
        at = self._told.get("robot", "")
        if self._way and at in self._world.plan.areas and at != self._way[-1]:
            self._way.append(at)

    def _now(self) -> World:
        """Return the home as it is."""
        return restored(self._world, self._told)

    # -- the episode, for a recorder, and the report ------------------------------------------------------------

    def _begin(self) -> None:
        now = self.get_clock().now().to_msg()
        status = EpisodeStatus(episode_id=self._id, task="household", seed=self.parameters.seed, start_time=now)
        status.instruction, status.frame_period = "; ".join(self._wanted.instructions)[:1000], 1.0
        status.state, status.header.stamp = EpisodeStatus.RUNNING, now
        self._running = status
        self._statuses.publish(status)

    def _finish(self, reason: str) -> None:
        status, self._running = self._running, None
        if status is None:
            return
        result = EpisodeResult(episode_id=status.episode_id, task=status.task, seed=status.seed, reason=reason)
        result.success, status.state = reason == "success", EpisodeStatus.FINISHED
        result.header.stamp = status.header.stamp = self.get_clock().now().to_msg()
        self._results.publish(result)
        self._statuses.publish(status)

    def _report(self) -> None:
        pairs = self._played.pairs
        if not pairs:
            return
        asked = len(self._wanted.instructions)
        print("", *table(pairs, asked), "", sep="\n", flush=True)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_report(self._folder, self._world, pairs, asked)
            print(f"report: {self._folder / TABLE}, with a plot of the paths", flush=True)
        except OSError as error:
            self.problem(f"the report is not written: {error}", ERROR)


def main() -> None:
    """Run the node."""
    run_node(HomeSessionNode)
