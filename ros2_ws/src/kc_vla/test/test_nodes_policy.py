"""The policy server by itself."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from episode_bag import Script, write_episode
from gated import Gate
from geometry_msgs.msg import PoseStamped
from node_process import Peer, running
from rcl_interfaces.srv import GetParameters
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from sensor_msgs.msg import Image, JointState, Joy

from kc_vla.core import topics
from kc_vla.core.robot import load_robot
from kc_vla.policy.teleop import JoySettings
from kc_vla.ros import qos
from kc_vla.ros.base import CANNOT_START
from kc_vla.ros.convert import image_message, time_message
from kc_vla_msgs.msg import ActionChunk, Driver, EpisodeStatus
from kc_vla_msgs.srv import ExpertChunk, GetKeyframes, PredictChunk

MODULE = "kc_vla.nodes.policy_server"
PANDA = load_robot("panda_sim")
PERIOD_NS, START_NS = 50_000_000, 10**9


class Robot(Peer):
    """A robot with two cameras, and who asks for chunks."""

    def __enter__(self) -> "Robot":
        super().__enter__()
        self._status = self.node.create_publisher(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._streams = {
            topic: self.node.create_publisher(kind, topic, profile)
            for kind, topic, profile in (
                (JointState, topics.JOINT_STATES, qos.STATE),
                (PoseStamped, topics.TOOL_POSE, qos.STATE),
                (Image, topics.image_topic("wrist"), qos.IMAGE),
                (Image, topics.image_topic("third_person"), qos.IMAGE),
            )
        }
        self._client = self.node.create_client(PredictChunk, topics.PREDICT_CHUNK)
        self._diagnostics = self.hear(DiagnosticArray, topics.DIAGNOSTICS, 10)
        self.chunks = self.hear(ActionChunk, topics.POLICY_CHUNK, qos.EVENT)
        return self

    def find(self) -> None:
        """Wait for the node."""
        publishers = [self._status, *self._streams.values()]
        self.until(lambda: all(publisher.get_subscription_count() for publisher in publishers))
        self.until(self._client.service_is_ready)

    def begin(self, episode_id: str, seed: int = 0) -> None:
        """Begin an episode."""
        self._status.publish(
            EpisodeStatus(
                episode_id=episode_id,
                task="counting",
                seed=seed,
                start_time=time_message(START_NS),
                frame_period=PERIOD_NS * 1e-9,
                state=EpisodeStatus.RUNNING,
            )
        )
        self.until(lambda: self.taken_in == 0)

    def show(self, frame: int) -> None:
        """Publish what is seen and felt in a frame."""
        stamp = time_message(START_NS + frame * PERIOD_NS)
        picture = image_message(np.full((8, 8, 3), frame, np.uint8), stamp, "camera")
        arm = JointState(name=list(PANDA.names), position=[0.1] * len(PANDA.names))
        tool = PoseStamped()
        arm.header.stamp = tool.header.stamp = stamp
        for topic, message in zip(self._streams, (arm, tool, picture, picture), strict=True):
            self._streams[topic].publish(message)

    def see(self, frame: int) -> None:
        """Show a frame again and again until the node has taken it in; best effort may lose one."""
        before = self.taken_in
        self.until(lambda: self.show(frame) or self.taken_in > before)

    def ask(self, episode_id: str, frame: int) -> Any:
        """Ask for a chunk, and return the future of the answer."""
        request = PredictChunk.Request(episode_id=episode_id, observation_frame=frame, sequence=frame)
        return self._client.call_async(request)

    def answer(self, future: Any) -> PredictChunk.Response:
        """Wait for it."""
        self.until(future.done)
        return future.result()

    @property
    def health(self) -> DiagnosticStatus | None:
        """The last word of the node on itself."""
        found = [status for array in self._diagnostics for status in array.status if status.name == "policy_server"]
        return found[-1] if found else None

    @property
    def taken_in(self) -> int:
        """How many observations the node has of the episode."""
        values = {} if self.health is None else {value.key: value.value for value in self.health.values}
        return int(values.get("latency/camera_to_observation/count", 0))

    def hears(self, text: str) -> None:
        """Wait until the node says that it is so."""
        self.until(lambda: self.health is not None and text in self.health.message)


@contextmanager
def thinking(tmp_path: Path, **parameters: object) -> Iterator[tuple[Robot, Gate, Any]]:
    """A policy server with the backend `gated`, in an episode "one" of which it has seen frame 0."""
    gate = Gate(tmp_path / "gate")
    given = {"backend": "gated", "script": gate.folder, "diagnostics_period": 0.1, "wait_timeout": 60.0, **parameters}
    with Robot() as robot, running(MODULE, tmp_path / "log", plug="gated_rows", **given) as process:
        robot.find()
        robot.begin("one")
        robot.until(lambda: gate.notes() == ["reset one"])
        robot.see(0)
        yield robot, gate, process


def test_while_the_backend_thinks_the_node_goes_on(tmp_path: Path) -> None:
    with thinking(tmp_path) as (robot, gate, _):
        asked = robot.ask("one", 0)
        robot.until(lambda: "asked one 0" in gate.notes())
        for frame in (1, 2, 3):
            robot.see(frame)  # it tells of the observation in its diagnostics
        request = GetParameters.Request(names=["backend"])
        (backend,) = robot.call(GetParameters, "/policy_server/get_parameters", request).values
        assert backend.string_value == "gated"
        assert not asked.done()
        gate.set("open")
        answer = robot.answer(asked)
    assert (answer.success, answer.chunk.observation_frame, answer.chunk.backend) == (True, 0, "gated")
    assert "remark on one" in (tmp_path / "log").read_text()


def test_a_person_takes_over_from_a_policy_that_thinks_and_what_that_thought_of_is_not_told(tmp_path: Path) -> None:
    keys = JoySettings()
    with thinking(tmp_path, takeover="joy") as (robot, gate, _):
        drivers = robot.hear(Driver, topics.DRIVER, qos.EVENT_LOG)
        gamepad = robot.node.create_publisher(Joy, topics.JOY, qos.STATE)

        def press(*buttons: int, until: Callable[[], Any]) -> None:
            told = Joy(axes=[0.0] * 8, buttons=[int(number in buttons) for number in range(8)])
            robot.until(lambda: gamepad.publish(told) or until())

        thought = robot.ask("one", 0)
        robot.until(lambda: "asked one 0" in gate.notes())
        press(keys.enable, until=lambda: drivers and drivers[-1].driver == Driver.PERSON)
        assert [(told.episode_id, told.sequence, told.driver) for told in drivers] == [("one", 0, 0), ("one", 1, 1)]
        mine = robot.ask("one", 0)
        press(keys.enable, until=mine.done)
        assert mine.result().chunk.backend == "joy"
        assert not thought.done()  # the policy thinks still
        gate.set("open")
        answer = robot.answer(thought)
        assert (answer.success, answer.message) == (False, "another client has control by now")
        press(until=lambda: robot.health is not None and "ready" in str(robot.health.values))
        robot.until(
            lambda: (
                press(until=lambda: True)
                or press(keys.hand_back, until=lambda: True)
                or drivers[-1].driver == Driver.POLICY
            )
        )
        assert robot.answer(robot.ask("one", 0)).chunk.backend == "gated"
    assert "a person has taken over" in (tmp_path / "log").read_text()


def test_frames_that_a_server_has_not_seen_are_nobody_elses_than_the_policys(tmp_path: Path) -> None:
    with thinking(tmp_path, takeover="joy") as (robot, _, _):
        drivers = robot.hear(Driver, topics.DRIVER, qos.EVENT_LOG)
        robot.ask("one", 17)  # it was started again within the episode
        robot.until(lambda: drivers and drivers[-1].driver == Driver.PERSON)
        assert drivers[-1].frame_index == 16


def test_a_person_does_not_take_over_from_a_person(tmp_path: Path) -> None:
    given = {"backend": "joy", "takeover": "joy"}
    with running(MODULE, tmp_path / "log", **given) as process:
        assert process.wait(60) == CANNOT_START
    assert "with the backend 'joy' a person drives already" in (tmp_path / "log").read_text()


def test_whoever_waits_too_long_is_told_so_and_answered_when_the_backend_comes_back(tmp_path: Path) -> None:
    with thinking(tmp_path, wait_timeout=0.5) as (robot, gate, _):
        told = "the policy 'gated' has not answered for 0.5 s"
        answer = robot.answer(robot.ask("one", 0))
        assert (answer.success, answer.message) == (False, told)
        robot.hears(told)
        gate.set("open")
        robot.until(lambda: robot.answer(robot.ask("one", 0)).success)
        robot.hears("ok")
    assert robot.chunks[0].sequence == 0
    assert (tmp_path / "log").read_text().count(told) == 1


def test_of_the_requests_that_wait_the_newest_counts(tmp_path: Path) -> None:
    with thinking(tmp_path) as (robot, gate, _):
        robot.see(1)
        robot.see(2)
        asked = [robot.ask("one", 0)]
        robot.until(lambda: "asked one 0" in gate.notes())
        asked += [robot.ask("one", 1), robot.ask("one", 2)]
        refused = robot.answer(asked[1])
        assert (refused.success, "newer ones took its place" in refused.message) == (False, True)
        gate.set("open")
        assert [robot.answer(asked[k]).success for k in (0, 2)] == [True, True]
    assert gate.notes() == ["reset one", "asked one 0", "asked one 2"]


def test_an_answer_of_an_episode_that_is_over_is_never_used(tmp_path: Path) -> None:
    with thinking(tmp_path) as (robot, gate, _):
        old = robot.ask("one", 0)
        robot.until(lambda: "asked one 0" in gate.notes())
        robot.begin("two")
        answer = robot.answer(old)
        assert (answer.success, "the episode ended before" in answer.message) == (False, True)
        gate.set("open")
        robot.until(lambda: "reset two" in gate.notes())
        robot.see(0)
        assert robot.answer(robot.ask("two", 0)).chunk.episode_id == "two"
        robot.until(lambda: robot.chunks)
    assert [chunk.episode_id for chunk in robot.chunks] == ["two"]
    assert gate.notes() == ["reset one", "asked one 0", "reset two", "asked two 0"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_backend_that_hangs_does_not_keep_the_node_from_ending(tmp_path: Path, how: signal.Signals) -> None:
    with thinking(tmp_path) as (robot, gate, process):
        robot.ask("one", 0)
        robot.until(lambda: "asked one 0" in gate.notes())
        process.send_signal(how)
        assert process.wait(60) == 0
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_what_a_backend_refuses_is_told_in_a_line_and_a_fault_ends_the_node(tmp_path: Path) -> None:
    with thinking(tmp_path) as (robot, gate, process):
        gate.set("refuse")
        gate.set("open")
        answer = robot.answer(robot.ask("one", 0))
        assert (answer.success, answer.message) == (False, "the picture is upside down")
        robot.hears("the picture is upside down")
        assert "Traceback" not in (tmp_path / "log").read_text()
        gate.clear("refuse")
        gate.set("fault")
        robot.ask("one", 0)
        assert process.wait(60) not in (0, CANNOT_START)
    log = (tmp_path / "log").read_text()
    assert "ZeroDivisionError: in the backend" in log
    assert "in infer" in log


def test_a_backend_that_is_in_the_table_can_be_chosen_and_no_other(tmp_path: Path) -> None:
    with running(MODULE, tmp_path / "log", plug="gated_rows", backend="gate") as process:
        assert process.wait(60) == CANNOT_START
    assert "no policy 'gate': did you mean 'gated'?" in (tmp_path / "log").read_text()


def test_the_expert_is_asked_for_the_frame_that_the_chunk_begins_with(tmp_path: Path) -> None:
    asked: list[int] = []

    def plan(request: ExpertChunk.Request, response: ExpertChunk.Response) -> ExpertChunk.Response:
        asked.append(request.observation_frame)
        response.actions = [float(request.observation_frame)] * 7 * request.horizon
        response.success = True
        return response

    def know(request: GetKeyframes.Request, response: GetKeyframes.Response) -> GetKeyframes.Response:
        response.success = request.as_of_frame == 3
        return response

    with Robot() as robot, running(MODULE, tmp_path / "log", horizon=4, diagnostics_period=0.1):
        robot.node.create_service(ExpertChunk, topics.EXPERT_CHUNK, plan)
        robot.node.create_service(GetKeyframes, topics.GET_KEYFRAMES, know)
        robot.find()
        robot.begin("one")
        robot.see(0)
        robot.see(3)
        answer = robot.answer(robot.ask("one", 3))
    assert (answer.message, asked) == ("", [3])
    assert list(answer.chunk.actions) == [3.0] * 7 * 4


def test_a_buffer_whose_answer_is_lost_is_asked_again(tmp_path: Path) -> None:
    void: list[Future] = []

    async def know(request: GetKeyframes.Request, response: GetKeyframes.Response) -> GetKeyframes.Response:
        if not void:
            void.append(Future())
            await void[0]  # as far as the node can tell
        response.success = True
        return response

    def plan(request: ExpertChunk.Request, response: ExpertChunk.Response) -> ExpertChunk.Response:
        response.actions, response.success = [0.5] * 7 * request.horizon, True
        return response

    given = {"horizon": 4, "diagnostics_period": 0.1, "wait_timeout": 60.0}
    with Robot() as robot, running(MODULE, tmp_path / "log", **given):
        robot.node.create_service(ExpertChunk, topics.EXPERT_CHUNK, plan)
        robot.node.create_service(GetKeyframes, topics.GET_KEYFRAMES, know, callback_group=ReentrantCallbackGroup())
        robot.find()
        robot.begin("one")
        robot.see(0)
        answer = robot.answer(robot.ask("one", 0))
        void[0].set_result(None)
    assert (answer.message, list(answer.chunk.actions)) == ("", [0.5] * 7 * 4)


def test_a_bag_that_is_played_to_another_episode_is_told(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", Script(size=8, steps=10))
    log = tmp_path / "log"
    with Robot() as robot, running(MODULE, log, backend="replay", bag=bag):
        robot.find()
        robot.begin("e", seed=77)
        robot.until(
            lambda: "this episode is task:=counting seed:=77: the actions of the one are not for" in log.read_text()
        )


def test_the_joints_of_another_robot_than_the_chosen_one_are_told(tmp_path: Path) -> None:
    with thinking(tmp_path, robot="piper") as (robot, _, _):
        answer = robot.answer(robot.ask("one", 0))
        assert not answer.success
        assert "the robot 'piper' has joint1, joint2" in answer.message
        robot.hears("choose the robot file of this robot")
