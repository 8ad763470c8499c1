"""Node `episode_runner`: runs episodes from reset to result, says what happens, and leaves the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclpy.action import CancelResponse, GoalResponse

from kc_vla.core import topics
from kc_vla.core.tasks import UnknownTaskError, find_task
from kc_vla.execution.episodes import ALL_TASKS, EpisodeRuns, RunError, planned
from kc_vla.planning.instruction import given_instructions
from kc_vla.planning.interface import PlanningError
from kc_vla.reports.run.table_log import RunTableLog
from kc_vla.reports.run_table import OutputFolderError, require_writable
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.console_logger import ConsoleLogger
from kc_vla.ros.instructed_episode import InstructedEpisode
from kc_vla.ros.links import Links
from kc_vla.ros.parameters import parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.report_builder import REPORTS, ReportBuilder
from kc_vla.ros.robot import RobotParameters
from kc_vla_msgs.action import RunTask
from kc_vla_msgs.msg import EpisodeResult
from kc_vla_msgs.srv import ResetSimulation

NO_TASK = "none"
POLICY_SERVER = "policy_server"
SERVED = {
    "maniskill_bridge": topics.RESET_SIMULATION,
    POLICY_SERVER: topics.PREDICT_CHUNK,
    "keyframe_buffer": topics.GET_KEYFRAMES,
}
PUBLISHED = {
    "keyframe_selector": topics.KEYFRAME_SCORE,
    "arm_controller": topics.ARM_COMMAND,
    "recorder": topics.RECORDER_STATUS,
}
"""The nodes that an episode needs, and how to see that they are there."""
HEARD = (
    topics.JOINT_STATES,
    topics.KEYFRAME_SCORE,
    topics.KEYFRAME_EVENT,
    topics.POLICY_CHUNK,
    topics.ARM_COMMAND,
)
"""Said once, from the first frame on, as images are: an episode does not begin before all who listen would hear."""


@dataclass(frozen=True)
class RunnerParameters(RobotParameters):
    """Parameters of the node."""

    task: str = parameter(
        "counting", "name in the task table; all: each that is simulated; none: wait for the action run_task"
    )
    seed: int = parameter(0, "seed of the first episode; the next ones count up", low=0, high=2**32 - 1)
    episodes: int = parameter(1, "number of episodes of each task", low=1, high=100000)
    output_folder: str = parameter("runs", "folder for episodes and reports")
    instruction: str = parameter("", "instruction for the planner, after which the episode ends; empty: none")
    sequence: str = parameter(
        "", "file with an instruction in each line, which the planner gets one after another, in place of instruction"
    )
    report: str = parameter("full", "report of each episode; full: video, contact sheet and summary", choices=REPORTS)
    mover: str = parameter(
        POLICY_SERVER, "node that answers the arm's requests for chunks", choices=(POLICY_SERVER, "skill_server")
    )
    startup_timeout: float = parameter(120.0, "s to wait for the other nodes", low=1.0, high=3600.0)
    episode_timeout: float = parameter(3600.0, "s of wall time that an episode may take", low=1.0, high=86400.0)


class EpisodeRunnerNode(StackNode):
    """The node `episode_runner`, which runs episodes from reset to result."""

    Parameters = RunnerParameters
    parameters: RunnerParameters

    def __init__(self) -> None:
        super().__init__("episode_runner")

    def start(self) -> None:
        """Check the task and begin."""
        values = self.parameters
        self._output = Path(values.output_folder).expanduser().resolve()
        try:
            if values.task not in (NO_TASK, ALL_TASKS):
                find_task(values.task)
            require_writable(self._output)
            self._instructions = given_instructions(values.instruction, values.sequence)
        except (UnknownTaskError, OutputFolderError, PlanningError) as error:
            raise StartError(str(error)) from error
        self._results: dict[str, EpisodeResult] = {}  # the newest only
        self._busy = values.task != NO_TASK
        self._episodes = list(planned(values.task, values.seed, values.episodes)) if self._busy else []
        self._reset = self.call(ResetSimulation, topics.RESET_SIMULATION)
        self._planner = InstructedEpisode(self, self._instructions) if self._instructions else None
        self._links = Links(self, (*map(topics.image_topic, values.loaded_robot().views), *HEARD))
        self._narrator = ConsoleLogger(self)
        self._table = RunTableLog(self._output, len(self._episodes), self._narrator.say)
        self._runs = EpisodeRuns(self, self._narrator, values.startup_timeout, values.episode_timeout)
        self._reporter = ReportBuilder(self, self._narrator, self._output, values.report)
        self.subscribe(EpisodeResult, topics.EPISODE_RESULT, self._on_result, qos.STATUS)
        if not self._busy:
            self._narrator.say(
                "ready for the action run_task, which reports its episode; simulator/reset only records one"
            )
        self._server = self.serve_action(
            RunTask, topics.RUN_TASK, self._execute, self._accept, lambda goal: CancelResponse.REJECT
        )
        if self._busy:
            self.soon(self._run_all)

    def stop(self) -> None:
        """Close the action server; give up a report that is being made; say what came of the episodes before."""
        self._server.destroy()
        if self._planner is not None:
            self._planner.close()
        self._reporter.close()
        self._table.tell()

    # -- running ------------------------------------------------------------------------------------------------

    async def _run_all(self) -> None:
        """Run what the parameters ask for, then end the process."""
        try:
            await self._runs.until_ready()
            for task, seed in self._episodes:
                if self._planner is not None:
                    self.soon(self._planner.go_through)
                self._table.add(await self._report(await self._runs.run(task, seed)))
        except RunError as error:
            self.problem(str(error), ERROR)
            self._table.stop(str(error))
            self.exit_code = 1
        self._table.tell()
        if not self._table.all_succeeded or self._reporter.failed:
            self.exit_code = 1
        self.done = True

    async def _report(self, result: EpisodeResult) -> dict[str, Any]:
        """Return the line of an episode for the table; the planner says whether its instructions are done."""
        line = await self._reporter.report(result)
        if self._planner is None:
            return line
        return line | {"success": self._planner.success, "reason": self._planner.reason or result.reason}

    # -- what a run asks of the stack, see `kc_vla.execution.episodes.Stack` --------------------------------------

    def missing(self) -> list[str]:
        """Return who is not there yet, or has not found the others."""
        served = {self.parameters.mover if node == POLICY_SERVER else node: name for node, name in SERVED.items()}
        missing = [node for node, service in served.items() if self.count_services(service) == 0]
        if not missing and not self._reset.service_is_ready():  # seen, but a request would be lost still
            missing.append("maniskill_bridge")
        missing += [node for node, topic in PUBLISHED.items() if self.count_publishers(topic) == 0]
        return missing or self._links.missing((*served, *PUBLISHED))

    def is_alone(self) -> bool:
        """Return whether no other stack can be seen in this namespace."""
        return self.count_nodes(self.get_name()) <= 1

    async def reset(self, task: str, seed: int, request_id: str, patience_s: float) -> Any | None:
        """Ask the simulator for an episode."""
        return await self.ask(
            self._reset, ResetSimulation.Request(task=task, seed=seed, request_id=request_id), patience_s
        )

    def result(self, episode_id: str) -> EpisodeResult | None:
        """Return how an episode ended, if it has."""
        return self._results.get(episode_id)

    # -- messages -----------------------------------------------------------------------------------------------

    def _on_result(self, result: EpisodeResult) -> None:
        self._results = {result.episode_id: result}

    def _accept(self, goal: RunTask.Goal) -> GoalResponse:
        """Accept a goal while nothing runs."""
        if self._busy:
            self._narrator.say(f"goal '{goal.task}', seed {goal.seed}, refused: an episode is running")
            return GoalResponse.REJECT
        self._busy = True
        return GoalResponse.ACCEPT

    async def _execute(self, goal: Any) -> RunTask.Result:
        """Run one episode for the action `run_task`."""
        try:
            await self._runs.until_ready()
            result = await self._runs.run(goal.request.task, int(goal.request.seed))
            await self._reporter.report(result)
        except RunError as error:
            self._narrator.say(f"stopped: {error}")
            goal.abort()
            return RunTask.Result(result=EpisodeResult(reason=str(error)))
        finally:
            self._busy = False
        goal.succeed()
        return RunTask.Result(result=result)


def main() -> None:
    """Run the node."""
    run_node(EpisodeRunnerNode)
