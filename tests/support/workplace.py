"""An arm without physics at its place, for tests of what moves it: it answers as arm controller and detector do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from fake_kitchen import LOOK_EVERY, ROBOT, FakeKitchen
from geometry_msgs.msg import Vector3
from node_process import Peer
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.convert import attributes_message, pose_message, time_message
from kc_vla.skills.perceived import PerceivedThing
from kc_vla_msgs.action import DoSkill
from kc_vla_msgs.msg import EpisodeStatus, ObjectDetection, ObjectDetections
from kc_vla_msgs.srv import LookAround, PredictChunk

PERIOD_NS, START_NS = 50_000_000, 10**9


def detection_of(each: PerceivedThing) -> ObjectDetection:
    """Return a thing as a detector publishes it."""
    x, y, z = each.size.tolist()
    return ObjectDetection(
        object_id=each.object_id,
        object_type=each.object_type,
        state=each.state,
        pose=pose_message([*each.position, *each.rotation.as_quat()]),
        size=Vector3(x=x, y=y, z=z),
        confidence=1.0,
        attributes=attributes_message(each.attributes),
    )


class Workplace(Peer):
    """An arm controller and a detector in a kitchen without physics, and a planner that asks for skills."""

    def __enter__(self) -> Workplace:
        """Begin an episode."""
        super().__enter__()
        self.kitchen = FakeKitchen()
        self.sends = self.sees = True
        self.episode = ""
        make = self.node.create_publisher
        self._status = make(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._joints = make(JointState, topics.JOINT_STATES, qos.STATE)
        self._detections = make(ObjectDetections, topics.DETECTIONS, qos.STATE)
        self.stopped = make(Bool, topics.STOPPED, qos.EVENT_LOG)
        self._chunks = self.node.create_client(PredictChunk, topics.PREDICT_CHUNK)
        self.planner = ActionClient(self.node, DoSkill, topics.DO_SKILL)
        self._asked: Any = None
        return self

    def begin(self, episode_id: str = "one") -> None:
        """Wait for the node, and begin an episode with a kitchen as it is at first."""
        self.kitchen, self.episode, self._asked = FakeKitchen(), episode_id, None
        self.sends = self.sees = True
        publishers = (self._status, self._joints, self._detections, self.stopped)
        self.until(lambda: all(each.get_subscription_count() for each in publishers))
        self.until(lambda: self._chunks.service_is_ready() and self.planner.server_is_ready())
        self._status.publish(
            EpisodeStatus(
                episode_id=episode_id,
                task="kitchen",
                start_time=time_message(START_NS),
                frame_period=PERIOD_NS * 1e-9,
                state=EpisodeStatus.RUNNING,
            )
        )
        self.until(lambda: self.work() or self.kitchen.index > 2)

    def work(self) -> None:
        """Show the present frame, and do what the answer to it says."""
        if not self.sends:
            return
        stamp = time_message(START_NS + self.kitchen.index * PERIOD_NS)
        if self._asked is None:
            state = JointState(name=list(ROBOT.names), position=[*self.kitchen.joints, *[self.kitchen.width / 2] * 2])
            state.header.stamp = stamp
            if self.sees and self.kitchen.index % LOOK_EVERY == 0:
                report = ObjectDetections(detections=[detection_of(each) for each in self.kitchen.shown()])
                report.header.stamp, report.header.frame_id = stamp, "panda_link0"
                self._detections.publish(report)
            self._joints.publish(state)
            request = PredictChunk.Request(episode_id=self.episode, observation_frame=self.kitchen.index)
            self._asked = self._chunks.call_async(request)
        elif self._asked.done():
            answer, self._asked = self._asked.result(), None
            if not answer.success:
                return
            rows = np.array(answer.chunk.actions).reshape(answer.chunk.horizon, answer.chunk.dimension)
            offset = self.kitchen.index - answer.chunk.observation_frame
            for row in rows[offset : offset + 4]:
                if self.kitchen.each_step is not None:
                    self.kitchen.each_step(self.kitchen)
                self.kitchen.follow(row[:7].astype(float), float(row[7:].sum()))

    def look(self) -> LookAround.Response:
        """Ask what is seen."""
        client = self.node.create_client(LookAround, topics.LOOK_AROUND)
        self.until(client.service_is_ready)
        asked = client.call_async(LookAround.Request())
        self.until(lambda: self.work() or asked.done())
        return asked.result()

    def start(self, skill: str, *arguments: str) -> Any:
        """Send a goal, and return its handle."""
        sent = self.planner.send_goal_async(DoSkill.Goal(skill=skill, arguments=list(arguments)))
        self.until(lambda: self.work() or sent.done())
        return sent.result()

    def do(self, skill: str, *arguments: str, meanwhile: Callable[[], Any] = lambda: None) -> DoSkill.Result:
        """Have a skill done to its end."""
        result = self.start(skill, *arguments).get_result_async()
        self.until(lambda: meanwhile() or self.work() or result.done())
        return result.result().result
