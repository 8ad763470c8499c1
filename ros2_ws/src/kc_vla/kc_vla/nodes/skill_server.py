"""Node `skill_server`: the planner's skills carried out by the arm.

It answers the arm controller's requests for chunks: with the set-points of the skill that is being done, and between
skills with the pose in which the arm stands. The arm controller keeps its limits and its stops.
"""

from __future__ import annotations

import time
from collections import deque
from functools import partial
from typing import Any

import numpy as np
from rclpy.action import CancelResponse, GoalResponse
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String

from kc_vla.core import topics
from kc_vla.core.chunk import ActionType, Chunk
from kc_vla.core.episode import Episode
from kc_vla.core.errors import StackError
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.views import UnionView
from kc_vla.memory.regions import regions_of
from kc_vla.planning.skills import Call
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.convert import BadMessageError, chunk_message, nanoseconds
from kc_vla.ros.perceived import reading_from, things_from
from kc_vla.ros.process import run_node
from kc_vla.ros.skill_messages import area_messages, result_message
from kc_vla.ros.skill_parameters import SkillParameters
from kc_vla.ros.skills import seen_message
from kc_vla.ros.work import answer, runner
from kc_vla.skills.interface import ArmReading
from kc_vla.skills.skill_run import LONGEST_GAP, SkillOutcome, SkillRun
from kc_vla.skills.station import AREA, SkillStation, posture_with, workplace_map
from kc_vla.skills.watch import NewestReading, SkillWatch
from kc_vla_msgs.action import DoSkill
from kc_vla_msgs.msg import ActionChunk, ObjectDetections
from kc_vla_msgs.srv import LookAround, PredictChunk

_POLL_S = 0.02
_FEEDBACK_S = 0.2
_WAITING = 50
"""Detections that wait for the skill to look at them."""


class SkillServerNode(StackNode):
    """The node `skill_server`, which has the arm do the skills of the planner."""

    Parameters = SkillParameters
    parameters: SkillParameters

    def __init__(self) -> None:
        super().__init__("skill_server")

    def start(self) -> None:
        """Open the services; skills are done from the first frame of an episode on."""
        values = self.parameters
        self._robot = values.loaded_robot()
        values.check_camera()
        try:
            values.station(self._robot)
        except StackError as error:
            raise StartError(str(error)) from error
        self._station: SkillStation | None = None
        self._arm, self._watch = NewestReading(), SkillWatch()
        self._reports: deque[ObjectDetections] = deque(maxlen=_WAITING)
        self._busy, self._looking, self._skill = False, False, ""
        self._work = runner(self, False, "the skill", room=4, refusals=(StackError,))
        self._chunks = self.advertise(ActionChunk, topics.POLICY_CHUNK, qos.EVENT)
        self._policy = self.call(PredictChunk, topics.SKILL_POLICY)
        self._instructions = self.advertise(String, topics.SKILL_INSTRUCTION, qos.STATUS)
        self._instructed = ""
        self._refused_at: float | None = None
        self.watch_episodes()
        self.subscribe(JointState, topics.JOINT_STATES, self._on_joints, qos.STATE)
        self.subscribe(ObjectDetections, topics.DETECTIONS, self._on_detections, qos.STATE)
        self.subscribe(Bool, topics.STOPPED, self._on_stopped, qos.EVENT_LOG)
        self.serve(PredictChunk, topics.PREDICT_CHUNK, self._predict)
        self.serve(LookAround, topics.LOOK_AROUND, self._look_around)
        self._server = self.serve_action(
            DoSkill, topics.DO_SKILL, self._execute, self._accept, lambda goal: CancelResponse.ACCEPT
        )

    def stop(self) -> None:
        """Close the action server."""
        self._server.destroy()
        self._work.close()

    def on_episode(self, episode: Episode) -> None:
        """Forget the episode before: its things, and what was in the hand."""
        self._arm.begin_episode()
        self._watch.end_episode()
        self._reports.clear()
        self._station = self.parameters.station(self._robot) if episode.running else None

    def details(self) -> dict[str, object]:
        """Return the skill that is done or was last, its stage, which is empty where it is over, and what it holds."""
        station = getattr(self, "_station", None)
        if station is None or station.run is None:
            return {}
        stage = "" if station.run.outcome is not None else station.run.stage
        held = station.context.held_id
        return {"skill": self._skill, "stage": stage, "in_hand": "not known" if held is None else held}

    # -- what comes in ------------------------------------------------------------------------------------------

    def _on_joints(self, message: JointState) -> None:
        episode = self.episode
        if episode is None or not episode.running:
            return
        step = episode.frame_of(nanoseconds(message.header.stamp))
        if step < 0:
            return
        try:
            self._arm.reading = reading_from(message, self._robot, step)
        except BadMessageError as error:
            self.problem(str(error))

    def _on_detections(self, message: ObjectDetections) -> None:
        self._reports.append(message)

    def _on_stopped(self, message: Bool) -> None:
        self._watch.set_stopped(message.data)

    # -- set-points for the arm ---------------------------------------------------------------------------------

    async def _predict(self, request: PredictChunk.Request, response: PredictChunk.Response) -> PredictChunk.Response:
        with self._watch.answering():
            return await self._predicted(request, response)

    async def _predicted(self, request: PredictChunk.Request, response: PredictChunk.Response) -> PredictChunk.Response:
        episode, station = self.episode, self._station
        if episode is None or station is None or not episode.running or episode.id != request.episode_id:
            response.message = f"episode '{request.episode_id}' is not running here"
            return response
        began = time.monotonic()
        wait_s = self.parameters.wait_timeout
        try:
            reading = await self._arm.wait_for(request.observation_frame, wait_s, self.sleep)
            step, joints, widths = await answer(self._work, partial(self._advance, station, reading))
        except StackError as error:
            response.message = str(error)
            return response
        run = station.run
        stage = None if run is None else run.policy
        if run is not None and stage is not None:
            return await self._by_policy(request, response, run, stage.instruction)
        self._instruct("")
        self._refused_at = None
        rows = [
            posture_with(row, len(self._robot.gripper), float(width)) for row, width in zip(joints, widths, strict=True)
        ]
        actions = np.array(rows, np.float32).reshape(len(rows), len(self._robot.names))
        planned = Chunk(int(request.sequence), step, ActionType.JOINT_POSITION, tuple(self._robot.names), actions)
        stamp_ns = episode.start_ns + step * episode.period_ns
        chunk = chunk_message(planned, episode, stamp_ns, "skills", time.monotonic() - began)
        chunk.header.stamp = self.get_clock().now().to_msg()
        chunk.header.frame_id = self._robot.base_frame
        self._chunks.publish(chunk)
        self.statistics.add("predict", time.monotonic() - began)
        response.chunk, response.success = chunk, True
        return response

    async def _by_policy(
        self, request: PredictChunk.Request, response: PredictChunk.Response, run: SkillRun, instruction: str
    ) -> PredictChunk.Response:
        """Have the policy server answer, for the instruction of a skill; the skill fails where it keeps refusing."""
        self._instruct(instruction)
        answered = await self.ask(self._policy, request, self.parameters.wait_timeout)
        if answered is None:
            response.message = f"no policy server answers on {topics.SKILL_POLICY} for '{instruction}': is it alive?"
            answered = response
        now = time.monotonic()
        if answered.success:
            self._refused_at = None
        elif self._refused_at is None:
            self._refused_at = now
        elif now - self._refused_at > self.parameters.wait_timeout:
            await answer(self._work, partial(run.fail, answered.message))
        return answered

    def _instruct(self, instruction: str) -> None:
        """Publish what the policy is to do now, if that has changed; an empty text ends it."""
        if instruction != self._instructed:
            self._instructed = instruction
            self._instructions.publish(String(data=instruction))

    def _advance(self, station: SkillStation, reading: ArmReading) -> tuple[int, Any, Any]:
        """Go on with the skill; on the worker's thread."""
        self._look(station)
        joints, widths = station.advance(reading, LONGEST_GAP, lambda: self._arm.reading or reading)
        return station.context.arm.step, joints, widths

    def _look(self, station: SkillStation) -> None:
        """Take in what was detected; on the worker's thread, which alone uses the scene."""
        while self._reports:
            message = self._reports.popleft()
            stamp_s = nanoseconds(message.header.stamp) * 1e-9
            try:
                things, wrong = things_from(message, self._robot.base_frame, stamp_s)
                views = regions_of(message.regions, None, ())
            except (BadMessageError, GraphError) as error:
                station.wrong = str(error)
                continue
            station.wrong = wrong
            context, view = station.context, UnionView(views) if views else None
            context.scene.take(things, stamp_s, view, context.held_ids, frozenset(message.gone))

    # -- skills -------------------------------------------------------------------------------------------------

    async def _look_around(self, request: LookAround.Request, response: LookAround.Response) -> LookAround.Response:
        """Report what is seen; only once an episode runs and something was seen."""
        while self._station is None or (not self._reports and not self._station.context.scene.all()):
            await self.sleep(_FEEDBACK_S)
        while self._looking:  # those that waited for an episode are many: the worker does one after another
            await self.sleep(_POLL_S)
        station = self._station
        if station is None:
            return response

        def seen() -> Any:
            self._look(station)
            return station.seen()

        self._looking = True
        try:
            response.seen = [seen_message(each) for each in await answer(self._work, seen)]
        finally:
            self._looking = False
        response.areas = area_messages(workplace_map(station.context.reach))
        response.at = AREA
        return response

    def _accept(self, goal: DoSkill.Goal) -> GoalResponse:
        """Accept a skill while none is being done: a robot has one body."""
        if self._busy or self._station is None:
            why = "another skill is being done" if self._busy else "no episode is running"
            self.get_logger().warning(f"{goal.skill} is refused: {why}")
            return GoalResponse.REJECT
        self._busy = True
        return GoalResponse.ACCEPT

    async def _execute(self, goal: Any) -> DoSkill.Result:
        try:
            return await self._do(goal, Call(goal.request.skill, tuple(goal.request.arguments)))
        finally:
            self._busy = False

    async def _do(self, goal: Any, call: Call) -> DoSkill.Result:
        """Begin a skill, and wait until it is over; the arm controller's requests carry it on."""
        station = self._station
        began_ns, told_at = self.get_clock().now().nanoseconds, 0.0
        self._watch.begin()
        if station is None:
            goal.abort()
            return DoSkill.Result(done=False, reason="no episode is running")
        self._skill = str(call)
        run: SkillRun = await answer(self._work, partial(station.begin, call))
        while run.outcome is None:
            if why := self._interrupted(goal):
                await answer(self._work, partial(run.fail, why))
                break
            elapsed = (self.get_clock().now().nanoseconds - began_ns) * 1e-9
            if time.monotonic() - told_at > _FEEDBACK_S:
                told_at = time.monotonic()
                goal.publish_feedback(DoSkill.Feedback(elapsed=elapsed))
            await self.sleep(_POLL_S)
        outcome = run.outcome or SkillOutcome(False, "it was stopped")
        seconds = (self.get_clock().now().nanoseconds - began_ns) * 1e-9
        self.problem(station.wrong)
        told = ", ".join(filter(None, ("done", outcome.remark))) if outcome.done else outcome.reason
        self.get_logger().info(f"{call}: {told} ({seconds:.1f} s)")
        if goal.is_cancel_requested:
            goal.canceled()
        elif outcome.done:
            goal.succeed()
        else:
            goal.abort()
        seen = await answer(self._work, station.seen)
        return result_message(outcome, seconds, seen, station.context.held_id)

    def _interrupted(self, goal: Any) -> str:
        """Return why a skill is not gone on with; empty where it is."""
        clients = self.count_clients(f"{self.resolve_service_name(topics.DO_SKILL)}/_action/send_goal")
        return self._watch.why_interrupted(goal.is_cancel_requested, clients, self.parameters.silence)


def main() -> None:
    """Run the node."""
    run_node(SkillServerNode)
