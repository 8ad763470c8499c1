"""Node `robot_session`: one episode on a real robot: announces the task, logs what happens, and ends the episode."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.duration import Duration
from rclpy.qos import QoSProfile
from sensor_msgs.msg import CameraInfo, JointState, Joy
from std_srvs.srv import Trigger

from kc_vla.core import topics
from kc_vla.core.episode import start_in_step
from kc_vla.core.namespaces import suffix_of
from kc_vla.core.tasks import UnknownTaskError, find_task
from kc_vla.policy.takeover import Marks
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.console_logger import ConsoleLogger
from kc_vla.ros.convert import nanoseconds, time_message
from kc_vla.ros.health import within
from kc_vla.ros.links import Links
from kc_vla.ros.parameters import parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.robot import RobotParameters
from kc_vla_msgs.msg import EpisodeResult, EpisodeStatus

JUDGED = "as a person judged"
"""The one stage of an episode that a person called a success or a failure."""
_POLL_S = 0.1
_ACKNOWLEDGED_S = 1.0
"""So long the others may take to hear the end of the episode before this node goes."""
_NOTICE_NS = 500_000_000
"""So long before its first frame an episode is announced: nobody may miss that frame."""
_OFFERED = {"keyframe_selector": topics.KEYFRAME_SCORE}
_POLICY_SERVER = "policy_server"
_SAID_ONCE = (topics.KEYFRAME_SCORE, topics.KEYFRAME_EVENT, topics.POLICY_CHUNK, topics.ARM_COMMAND)
"""Topics that must have found their subscribers before the first frame."""


@dataclass(frozen=True)
class SessionParameters(RobotParameters):
    """Parameters of the node."""

    instruction: str = parameter("", "instruction for the policy; empty: that of the task table")
    task: str = parameter("counting", "task: a name in the task table, or any name if an instruction is given")
    robot: str = parameter("piper", "the robot: a name of robots/, or its YAML file", former="rig")
    frame_rate: float = parameter(
        0.0, "control steps per second, that of the cameras; 0: as the robot file has it", low=0.0, high=200.0
    )
    duration: float = parameter(0.0, "s after which the episode ends; 0: only the service episode/end ends it", low=0.0)
    mover: str = parameter(
        _POLICY_SERVER, "node that answers the arm's requests for chunks", choices=(_POLICY_SERVER, "skill_server")
    )
    recorded: bool = parameter(False, "true: wait for the recorder before the episode begins")
    startup_timeout: float = parameter(60.0, "s to wait for the other nodes", low=1.0, high=3600.0)


class RobotSessionNode(StackNode):
    """The node `robot_session`, which runs one episode on a real robot."""

    Parameters = SessionParameters
    parameters: SessionParameters

    def __init__(self) -> None:
        super().__init__("robot_session")

    def start(self) -> None:
        """Wait for the stack, then begin."""
        try:
            self._instruction = self.parameters.instruction or find_task(self.parameters.task).instruction
        except UnknownTaskError as error:
            raise StartError(f"{error}, or say with instruction:= what the task of that name is") from error
        robot = self.parameters.loaded_robot()
        self._rate = self.parameters.frame_rate or robot.control_rate
        cameras = {view: f"the {view.replace('_', '-')} camera" for view in robot.views}
        # What must have been heard, not only offered, before the first frame: that frame is a keyframe.
        self._frames = cameras[robot.views[0]]
        published: dict[str, tuple[type, str, QoSProfile]] = {
            **{told: (CameraInfo, topics.camera_info_topic(view), qos.IMAGE) for view, told in cameras.items()},
            "arm_controller": (JointState, topics.JOINT_STATES, qos.STATE),
        }
        self._published = tuple(published)
        # What a recorder, if any, must have heard: a frame that it knows nothing more of cannot be learnt from.
        self._recorded = (*map(topics.image_topic, robot.views), topics.JOINT_STATES, topics.TOOL_POSE)
        self._served = {"keyframe_buffer": topics.GET_KEYFRAMES, self.parameters.mover: topics.PREDICT_CHUNK}
        self._status: EpisodeStatus | None = None
        self._statuses = self.advertise(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self._results = self.advertise(EpisodeResult, topics.EPISODE_RESULT, qos.STATUS)
        self._links = Links(self, _SAID_ONCE)
        self._narrator = ConsoleLogger(self)
        self._heard: dict[str, int] = {}  # newest stamp of each, ns
        self._recorder_hears: frozenset[str] = frozenset()
        self._waiting = [
            self.subscribe(kind, topic, partial(self._hear, name), profile)
            for name, (kind, topic, profile) in published.items()
        ]
        self._waiting.append(self.subscribe(DiagnosticArray, topics.DIAGNOSTICS, self._on_diagnostics, qos.EVENT))
        self._wait_until = time.monotonic() + self.parameters.startup_timeout
        self._end_at = float("inf")
        self.serve(Trigger, topics.END_EPISODE, self._end_by_service)
        self._marks = Marks()
        self.subscribe(Joy, topics.JOY, self._on_joy, qos.STATE)
        self.every(_POLL_S, self._poll)

    def stop(self) -> None:
        """End the episode, so that everything holds."""
        self._finish("interrupted")
        for publisher in (self._results, self._statuses):  # what was said last goes with its publisher
            publisher.wait_for_all_acked(Duration(seconds=_ACKNOWLEDGED_S))

    def details(self) -> dict[str, object]:
        """Return which episode runs."""
        status = getattr(self, "_status", None)
        return {"episode": status.episode_id if status is not None else "none yet"}

    def _poll(self) -> None:
        if self._status is not None:
            if time.monotonic() >= self._end_at:
                self._finish("time is up")
                self.done = True
            return
        missing = [name for name in self._published if name not in self._heard]
        missing += [name for name, topic in _OFFERED.items() if self.count_publishers(topic) == 0]
        missing += [name for name, service in self._served.items() if self.count_services(service) == 0]
        if self.parameters.recorded or self.count_nodes("recorder"):
            missing += [f"the recorder's {topic}" for topic in self._recorded if topic not in self._recorder_hears]
        missing = missing or self._links.missing((*_OFFERED, *self._served, "arm_controller"))
        if not missing:
            for subscription in self._waiting:  # a robot's states are many, and of no more use here
                self.unsubscribe(subscription)
            self._begin()
        elif time.monotonic() > self._wait_until:
            self.problem(f"{', '.join(missing)} did not start: see the lines of that node above", ERROR)
            self.exit_code = 1
            self.done = True

    def _hear(self, name: str, message: CameraInfo | JointState) -> None:
        self._heard[name] = nanoseconds(message.header.stamp)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in within(self, message).status:
            if status.name == "recorder":
                told = {pair.key: pair.value for pair in status.values}
                self._recorder_hears = frozenset(told.get("hears", "").split())

    def _begin(self) -> None:
        values, now = self.parameters, self.get_clock().now()
        period_ns = round(1e9 / self._rate)
        start_ns = start_in_step(now.nanoseconds + _NOTICE_NS, self._heard[self._frames], period_ns)
        status = EpisodeStatus(
            episode_id=f"{values.task}-{datetime.now():%Y%m%d-%H%M%S}{suffix_of(self.get_namespace())}",
            task=values.task,
            instruction=self._instruction,
            start_time=time_message(start_ns),
            frame_period=1.0 / self._rate,
            state=EpisodeStatus.RUNNING,
        )
        status.header.stamp = now.to_msg()
        self._status = status
        if values.duration:
            self._end_at = time.monotonic() + (start_ns - now.nanoseconds) * 1e-9 + values.duration
        self._narrator.begin(status.episode_id, status.instruction)
        self._statuses.publish(status)

    def _on_joy(self, message: Joy) -> None:
        success = self._marks.offer(message.buttons)
        if success is not None and self._status is not None:
            self._finish("a person called it a success" if success else "a person called it a failure", success)
            self.done = True

    def _finish(self, reason: str, success: bool | None = None) -> None:
        status = self._status
        if status is None or status.state == EpisodeStatus.FINISHED:
            return
        now = self.get_clock().now()
        elapsed_s = now.nanoseconds * 1e-9 - status.start_time.sec - status.start_time.nanosec * 1e-9
        result = EpisodeResult(
            episode_id=status.episode_id,
            task=status.task,
            success=bool(success),
            reason=f"nobody judged it ({reason})" if success is None else reason,
            steps=round(elapsed_s / status.frame_period),
            duration=elapsed_s,
        )
        if success is not None:  # one stage, so that it counts as judged
            result.stages, result.completed_stages = [JUDGED], int(success)
            result.completion_rate = float(success)
        result.header.stamp = now.to_msg()
        self._results.publish(result)
        status.state, status.header.stamp = EpisodeStatus.FINISHED, now.to_msg()
        self._statuses.publish(status)
        self._narrator.say(f"episode {status.episode_id} ended after {elapsed_s:.1f} s: {reason}")

    def _end_by_service(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._finish("ended by hand")
        self.done = True
        response.success, response.message = True, "ended"
        return response


def main() -> None:
    """Run the node."""
    run_node(RobotSessionNode)
