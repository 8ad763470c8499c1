"""Node `household`: the symbolic household as a robot in a home. It does one skill at a time, and reports what is seen.

A skill takes its time, `pace` times as fast as it would be. One that is cancelled stops where it is: the world is as it
was before, but for the time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rclpy.action import CancelResponse, GoalResponse
from std_msgs.msg import String

from kc_vla.core import topics
from kc_vla.planning.interface import CallResult
from kc_vla.planning.skills import Call
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.convert import time_message
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.scene_nodes import area_message
from kc_vla.ros.skills import detections_message, seen_message, set_obstacle
from kc_vla_msgs.action import DoSkill
from kc_vla_msgs.msg import ObjectDetections
from kc_vla_msgs.srv import LookAround
from kc_vla_sim.household.detector import Noise
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.floor_plan import navigation_map_of
from kc_vla_sim.household.overview import overview
from kc_vla_sim.household.scenes import build
from kc_vla_sim.household.session import home_of
from kc_vla_sim.household.simulator import Household

_SLICE_S = 0.05
"""Between two looks at whether a skill was cancelled, s."""


@dataclass(frozen=True)
class HouseholdParameters(NodeParameters):
    """Parameters of the node."""

    scene: str = parameter(
        "home1",
        "home1 to home30 of four rooms, house1 to house30 of two floors, or the number of a floor plan of ALFRED's",
    )
    seed: int = parameter(0, "seed of the places of all objects", low=0, high=2**31 - 1)
    sequence: str = parameter(
        "", "name of a sequence of tasks that comes with the stack, with a scene and a seed of its own"
    )
    pace: float = parameter(20.0, "speed-up of the durations of skills; 0: no waiting", low=0.0, high=1e6)
    missing: float = parameter(0.0, "share of objects that the detector misses", low=0.0, high=1.0)
    wrong_type: float = parameter(0.0, "share of objects with a wrong class", low=0.0, high=1.0)
    wrong_state: float = parameter(0.0, "share of objects with a wrong state", low=0.0, high=1.0)


class HouseholdNode(StackNode):
    """The node `household`, which plays a robot in a symbolic home."""

    Parameters = HouseholdParameters
    parameters: HouseholdParameters

    def __init__(self) -> None:
        super().__init__("household")

    def start(self) -> None:
        """Build the home and open the services."""
        values = self.parameters
        noise = Noise(values.missing, values.wrong_type, values.wrong_state, values.seed)
        try:
            world = build(*home_of(values.sequence, values.scene, values.seed))
        except HouseholdError as error:
            raise StartError(str(error)) from error
        self._home = Household(world, noise)
        self._busy = False
        self._askers = 1
        self._done = 0
        self._detections = self.advertise(ObjectDetections, topics.DETECTIONS, qos.STATE)
        self._truth = self.advertise(String, topics.HOUSEHOLD, qos.STATUS)
        self.serve(LookAround, topics.LOOK_AROUND, self._look_around)
        self._server = self.serve_action(
            DoSkill, topics.DO_SKILL, self._execute, self._accept, lambda goal: CancelResponse.ACCEPT
        )
        self._tell(self._home.look())

    def stop(self) -> None:
        """Close the action server."""
        self._server.destroy()

    def details(self) -> dict[str, object]:
        """Return how far it has come."""
        return {"scene": self.parameters.scene, "skills": self._done} if self.works else {}

    def _look_around(self, request: LookAround.Request, response: LookAround.Response) -> LookAround.Response:
        world = self._home.world
        response.seen = [seen_message(each) for each in self._home.look()]
        response.areas = [area_message(each) for each in navigation_map_of(world.plan).areas.values()]
        response.at = world.at
        return response

    def _accept(self, goal: DoSkill.Goal) -> GoalResponse:
        """Accept a skill while none is being done: a robot has one body."""
        if self._busy:
            self.get_logger().warning(f"{goal.skill} is refused: another skill is being done")
            return GoalResponse.REJECT
        self._busy = True
        return GoalResponse.ACCEPT

    async def _execute(self, goal: Any) -> DoSkill.Result:
        try:
            return await self._do(goal, Call(goal.request.skill, tuple(goal.request.arguments)))
        finally:
            self._busy, self._askers = False, 1

    async def _do(self, goal: Any, call: Call) -> DoSkill.Result:
        """Find out what would come of it, let the time pass, and let it come."""
        home, pace = self._home, self.parameters.pace
        before = home.world
        home.world = before.copy()
        happened = home.do(call)
        after, home.world = home.world, before
        began = self.get_clock().now()
        while pace and (elapsed := (self.get_clock().now() - began).nanoseconds / 1e9 * pace) < happened.seconds:
            if stopped := self._stopped(goal):
                home.world.wait(elapsed)
                seen = home.look()
                self._tell(seen)
                return _result(CallResult(False, stopped, elapsed, 0.0, seen))
            goal.publish_feedback(DoSkill.Feedback(elapsed=elapsed, duration=happened.seconds))
            await self.sleep(min(_SLICE_S, (happened.seconds - elapsed) / pace))
        home.world = after
        self._done += 1
        self._tell(happened.seen or home.look())
        if happened.done:
            goal.succeed()
        else:
            goal.abort()
        return _result(happened)

    def _stopped(self, goal: Any) -> str:
        """Return why a skill is not gone on with; empty where it is."""
        if goal.is_cancel_requested:
            goal.canceled()
            return "it was stopped"
        askers = self.count_clients(f"{self.resolve_service_name(topics.DO_SKILL)}/_action/send_goal")
        self._askers = max(self._askers, askers)
        if askers < self._askers:  # nobody says whose goal it is: who is gone may be the one
            goal.abort()
            self.get_logger().warning(f"{goal.request.skill} is stopped: its client has ended")
            return "whoever asked for it is gone"
        return ""

    def _tell(self, seen: Any) -> None:
        """Publish what is seen, and what is true."""
        stamp = time_message(self.get_clock().now().nanoseconds)
        self._detections.publish(detections_message(seen, stamp))
        self._truth.publish(String(data=json.dumps(overview(self._home.world))))


def _result(happened: CallResult) -> DoSkill.Result:
    result = DoSkill.Result(
        done=happened.done,
        reason=happened.reason,
        duration=happened.seconds,
        walked=happened.walked_m,
        seen=[seen_message(each) for each in happened.seen],
    )
    return set_obstacle(result, happened.obstacle)


def main() -> None:
    """Run the node."""
    run_node(HouseholdNode)
