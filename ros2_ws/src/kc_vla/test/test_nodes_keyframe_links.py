"""Keyframes become memories in the nodes: the buffer commits, the long-term memory links, a robot is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from node_process import Peer, running
from sensor_msgs.msg import Image, JointState
from served_memory import ServedMemory
from shown_keyframes import cube

from kc_vla.core import topics
from kc_vla.memory.asking.answering import Asker
from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.robot.robot_memory import LONG as ONLY_LONG
from kc_vla.memory.things import ObservedThing
from kc_vla.ros import qos
from kc_vla.ros.convert import image_message, time_message
from kc_vla.ros.skills import detection_message
from kc_vla_msgs.msg import EpisodeStatus, KeyframeEvent, KeyframeIndex, KeyframeScore, ObjectDetections
from kc_vla_msgs.srv import GetLinkedKeyframes, InjectKeyframe

BUFFER, LONG = "kc_vla.nodes.keyframe_buffer", "kc_vla.nodes.long_term_memory"
PERIOD_NS, START_NS = 50_000_000, 100 * 10**9
VIEWS = ("third_person", "wrist")
GROUNDS = NavigationMap([Area("table", "ground", (0.0, 0.0, 0.0), {}, "workplace")])


class Scene(Peer):
    """Cameras, an arm, a selector and a detector, frame by frame."""

    def __enter__(self) -> Scene:
        super().__enter__()
        make = self.node.create_publisher
        self._status = make(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._images = {view: make(Image, topics.image_topic(view), qos.IMAGE) for view in VIEWS}
        self._joints = make(JointState, topics.JOINT_STATES, qos.STATE)
        self._tool = make(PoseStamped, topics.TOOL_POSE, qos.STATE)
        self._events = make(KeyframeEvent, topics.KEYFRAME_EVENT, qos.EVENT_LOG)
        self._scores = make(KeyframeScore, topics.KEYFRAME_SCORE, qos.EVENT)
        self._detections = make(ObjectDetections, topics.DETECTIONS, qos.STATE)
        self.index = self.hear(KeyframeIndex, topics.KEYFRAME_INDEX, qos.STATUS)
        self._count = 0
        return self

    def begin(self) -> None:
        """Wait for the nodes, and begin an episode."""
        heard = (*self._images.values(), self._joints, self._tool, self._events, self._scores, self._detections)
        self.until(lambda: all(each.get_subscription_count() for each in heard))
        self.until(lambda: self._status.get_subscription_count() >= 1)
        status = EpisodeStatus(episode_id="ep", task="identity", state=EpisodeStatus.RUNNING)
        status.start_time, status.frame_period = time_message(START_NS), PERIOD_NS * 1e-9
        self._status.publish(status)
        self.until(lambda: self.index)

    def show(self, frame: int, *things: ObservedThing, label: str = "") -> None:
        """Publish a frame, a committed keyframe where it has a label, and wait until buffer and memory have it."""
        stamp = time_message(START_NS + frame * PERIOD_NS)
        detections = ObjectDetections(episode_id="ep", detections=[detection_message(each) for each in things])
        detections.header.stamp, detections.header.frame_id = stamp, "base"
        self._detections.publish(detections)
        joints = JointState(name=["joint"], position=[0.0], velocity=[0.0])
        pose = PoseStamped()
        joints.header.stamp = pose.header.stamp = stamp
        pose.pose.orientation.w = 1.0
        if label:
            event = KeyframeEvent(episode_id="ep", sequence=self._count, type=KeyframeEvent.COMMITTED, label=label)
            event.frame_index = event.decided_at_frame = frame
            event.phase, event.source, event.header.stamp = self._count, "oracle", stamp
            self._events.publish(event)
            self._count += 1
        score = KeyframeScore(episode_id="ep", frame_index=frame, events=self._count, source="oracle")
        score.header.stamp = stamp

        def is_taken() -> bool:
            for view in reversed(VIEWS):
                self._images[view].publish(image_message(np.zeros((8, 8, 3), np.uint8), stamp, view))
            self._joints.publish(joints)
            self._tool.publish(pose)
            self._scores.publish(score)
            return bool(self.index) and self.index[-1].newest_frame >= frame

        self.until(is_taken)
        self.linked()  # the memory keeps up: of more than five messages that wait, the first are lost
        if frame == 0:  # a reader that had not found this peer yet has missed it
            self._detections.publish(detections)
            self.linked()

    def linked(self) -> dict[int, Any]:
        """Return the linked keyframes by their frames."""
        answer = self.call(GetLinkedKeyframes, topics.LINKED_KEYFRAMES, GetLinkedKeyframes.Request())
        assert answer.success, answer.message
        return {each.frame_index: each for each in answer.keyframes}


def test_a_committed_keyframe_is_a_memory_of_where_things_were(tmp_path: Path) -> None:
    store = str(tmp_path / "memory.db")
    left, right, aside = (0.5, 0.2), (0.5, -0.2), (0.7, 0.0)
    with Scene() as scene, running(BUFFER, tmp_path / "buffer", robot="panda_sim", capacity=4):
        with running(LONG, tmp_path / "long", store=store, frame="base", robot="panda_sim", embedding="''"):
            scene.begin()
            assert not scene.linked()  # it serves by now, and loses no detections
            scene.show(0, cube("a", *left), cube("b", *right), label="start")
            scene.show(1, cube("a", *aside), cube("b", *right))
            scene.show(4, cube("a", *aside), cube("b", *right), label="a aside")
            for frame in range(5, 10):
                scene.show(frame, cube("a", *right), cube("b", *left))
            scene.until(lambda: set(scene.linked()) == {0, 4})
            start = scene.linked()[0]
            assert (start.label, start.episode_id, start.header.frame_id) == ("start", "ep", "base")
            places = {each.detection.object_id: each.detection.pose.position.x for each in scene.linked()[4].seen}
            assert places == {"a": 0.7, "b": 0.5}
        with running(LONG, tmp_path / "again", store=store, frame="base", robot="panda_sim", embedding="''"):
            assert set(scene.linked()) == {0, 4}  # of the store
            keep = InjectKeyframe.Request(episode_id="ep", frame_index=4, keep=True)
            assert scene.call(InjectKeyframe, topics.INJECT_KEYFRAME, keep).success
            with ServedMemory(fresh_s=0.0) as served:
                memory = served.open("home", GROUNDS, ONLY_LONG)
                answer = Asker(memory, lambda: HomeSurroundings({})).ask("which cube was on the left at the start?")
                assert [(each.object_id, each.keyframe) for each in answer.found] == [("a", "ep/0")]
                keyframes = {each.frame: each for each in memory.linked().keyframes}
                assert set(keyframes) == {0, 4}
                for each in keyframes.values():
                    scene.until(lambda each=each: memory.keep(each) == "")  # the memory may look for the buffer still


def test_a_frame_in_which_a_thing_has_come_to_rest_elsewhere_becomes_a_keyframe(tmp_path: Path) -> None:
    store, left, right = str(tmp_path / "memory.db"), (0.5, 0.2), (0.5, -0.2)
    settings = {"store": store, "frame": "base", "robot": "panda_sim", "embedding": "''", "keyframes_of_changes": True}
    buffer = running(BUFFER, tmp_path / "buffer", robot="panda_sim", capacity=8)
    with Scene() as scene, buffer, running(LONG, tmp_path / "long", **settings):
        scene.begin()
        assert not scene.linked()  # it serves by now, and loses no detections
        scene.show(0, cube("a", *left), label="start")
        for frame in range(1, 40):
            scene.show(frame, cube("a", *(left if frame < 15 else right)))
        scene.until(lambda: "a moved" in {each.label for each in scene.linked().values()})
        moved = next(each for each in scene.linked().values() if each.label == "a moved")
        assert [each.detection.pose.position.y for each in moved.seen] == [right[1]]
        assert moved.frame_index >= 25  # half a second at rest
