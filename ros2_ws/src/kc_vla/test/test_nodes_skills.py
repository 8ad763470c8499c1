"""The skill server by itself: an arm without physics follows it, and what goes wrong ends a skill in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_kitchen import LOOK_EVERY, ROBOT, FakeKitchen
from geometry_msgs.msg import Vector3
from node_process import Peer, running
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.base import CANNOT_START
from kc_vla.ros.convert import attributes_message, pose_message, time_message
from kc_vla.skills.perceived import PerceivedThing
from kc_vla_msgs.action import DoSkill
from kc_vla_msgs.msg import EpisodeStatus, ObjectDetection, ObjectDetections
from kc_vla_msgs.srv import LookAround, PredictChunk

MODULE = "kc_vla.nodes.skill_server"
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
        make = self.node.create_publisher
        self._status = make(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._joints = make(JointState, topics.JOINT_STATES, qos.STATE)
        self._detections = make(ObjectDetections, topics.DETECTIONS, qos.STATE)
        self.stopped = make(Bool, topics.STOPPED, qos.EVENT_LOG)
        self._chunks = self.node.create_client(PredictChunk, topics.PREDICT_CHUNK)
        self.planner = ActionClient(self.node, DoSkill, topics.DO_SKILL)
        self._asked: Any = None
        return self

    def begin(self) -> None:
        """Wait for the node, and begin an episode."""
        publishers = (self._status, self._joints, self._detections, self.stopped)
        self.until(lambda: all(each.get_subscription_count() for each in publishers))
        self.until(lambda: self._chunks.service_is_ready() and self.planner.server_is_ready())
        self._status.publish(
            EpisodeStatus(
                episode_id="one",
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
            request = PredictChunk.Request(episode_id="one", observation_frame=self.kitchen.index)
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


@contextmanager
def working(tmp_path: Path, **parameters: object) -> Iterator[Workplace]:
    with Workplace() as place, running(MODULE, tmp_path / "log", **parameters):
        place.begin()
        yield place


def test_skills_are_done_and_what_goes_wrong_is_said_in_a_line(tmp_path: Path) -> None:
    with working(tmp_path, silence=1.0) as place:
        around = place.look()
        assert {each.detection.object_id for each in around.seen} == {"worktop", "drawer_1", "apple_1", "cabinet_1"}
        assert around.at == around.areas[0].id

        taken = place.do("PickupObject", "apple_1")
        assert (taken.done, taken.reason) == (True, "")
        assert next(each for each in taken.seen if each.detection.object_id == "apple_1").relation == "held"

        # an emergency stop in the middle: it holds, and what is in the hand stays known
        result = place.start("OpenObject", "drawer_1").get_result_async()
        place.until(lambda: place.work() or np.abs(place.kitchen.joints - place.kitchen.sent[0]).max() > 0.05)
        place.stopped.publish(Bool(data=True))
        place.until(lambda: place.work() or result.done())
        assert result.result().result.reason == "the emergency stop was set: the arm holds"
        refused = place.do("PutObject", "apple_1", "worktop")
        assert refused.reason == "the emergency stop is set: release it first"
        assert next(each for each in refused.seen if each.detection.object_id == "apple_1").relation == "held"
        place.stopped.publish(Bool(data=False))

        # an arm controller that asks for nothing
        place.sends = False
        silent = place.do("PutObject", "apple_1", "worktop")
        place.sends = True
        assert silent.reason == "arm_controller has not asked for set-points for 1 s: is it alive?"

        # a planner that stops it
        goal = place.start("PutObject", "apple_1", "worktop")
        result = goal.get_result_async()
        goal.cancel_goal_async()
        place.until(lambda: place.work() or result.done())
        assert result.result().result.reason == "it was stopped"
        assert place.do("PutObject", "apple_1", "worktop").done


@pytest.mark.nightly
def test_a_moved_thing_a_blind_detector_and_a_planner_that_is_gone_end_a_skill(tmp_path: Path) -> None:
    with working(tmp_path) as place:
        place.sees = False
        blind = place.do("OpenObject", "drawer_1")
        assert blind.reason.startswith("perception has reported nothing for 4 s")
        place.sees = True

        before = dict(place.kitchen.things)
        result = place.start("PickupObject", "apple_1").get_result_async()
        place.until(lambda: place.work() or place.kitchen.width > 0.07)
        del place.kitchen.things["apple_1"]
        place.until(lambda: place.work() or result.done())
        assert result.result().result.reason == "there is nothing between the fingers where apple_1 was seen"
        place.kitchen.things = before

        place.start("OpenObject", "drawer_1")
        place.planner.destroy()
        log = tmp_path / "log"
        place.until(lambda: place.work() or "the client that asked for it is gone" in log.read_text())
        for _ in range(20):
            place.until(lambda: place.work() or True)
        still = place.kitchen.joints.copy()
        for _ in range(20):
            place.until(lambda: place.work() or True)
        assert np.abs(place.kitchen.joints - still).max() < 0.05


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"real": True}, "a real arm is not moved by skills without a calibrated camera"),
        ({"hand_eye": "/no/such/file.yaml"}, "/no/such/file.yaml"),
    ],
)
def test_a_real_arm_needs_a_calibrated_camera(tmp_path: Path, parameters: dict[str, object], words: str) -> None:
    with running(MODULE, tmp_path / "log", **parameters) as process:
        assert process.wait(60) == CANNOT_START
    assert words in (tmp_path / "log").read_text()
