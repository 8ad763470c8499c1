"""Detections for a memory: one message at a time goes to its worker, so that a question waits for no more than one."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geometry_msgs.msg import PoseStamped

from kc_vla.calibration.reading import load_camera
from kc_vla.cameras.errors import CalibrationError
from kc_vla.core import topics
from kc_vla.core.errors import StackError
from kc_vla.inference.worker import JobOutcome, Runner
from kc_vla.memory.intake import Intake, IntakeError, Taken
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.convert import BadMessageError, check_stamp
from kc_vla.ros.parameters import parameter
from kc_vla.ros.robot import RobotParameters
from kc_vla_msgs.msg import ObjectDetections

Job = Callable[[], Any]


@dataclass(frozen=True)
class DetectionParameters(RobotParameters):
    """The parameters of a node that receives detections."""

    detections: bool = parameter(True, "true: use the topic detections and the services; false: only the services")
    frame: str = parameter("", "frame of positions, e.g. map; empty: that of the robot's base")
    camera: str = parameter(
        "", "file with a camera's pose (kc-vla calibrate hand-eye), for detections in the frame of this camera"
    )
    lens: str = parameter("", "file with the lens of this camera, from which follows what is in view")

    def intake(self, node: StackNode) -> Intake:
        """Return what looks at each message, and hears where the flange is if the camera is on it.

        Raises:
            StartError: there is no such robot; or a file is missing, or holds something that cannot be.
        """
        try:
            camera = load_camera(_path(self.camera), _path(self.lens) if self.lens else None) if self.camera else None
        except (CalibrationError, StackError) as error:
            raise StartError(str(error)) from error
        intake = Intake(self.frame or self.loaded_robot().base_frame, camera)
        if camera is not None and camera.in_hand:
            node.subscribe(PoseStamped, topics.TOOL_POSE, intake.flange.put, qos.STATE)
        return intake


def taken_from(message: ObjectDetections, intake: Intake, now_ns: int) -> Taken:
    """Return what a message says.

    Raises:
        IntakeError: it is in a frame that is not known here, too long, or its stamp is none or lies ahead.
    """
    taken = intake.take(message)
    try:
        check_stamp(taken.stamp_ns, now_ns)
    except BadMessageError as error:
        raise IntakeError(f"detections are left out: {error}") from error
    return taken


class DetectionFeed:
    """The subscription to detections, which hands a worker one message at a time."""

    def __init__(
        self,
        node: StackNode,
        work: Runner,
        job_of: Callable[[ObjectDetections], Job],
        done: Callable[[JobOutcome[Any]], None],
        room: int,
        period_s: float = 0.0,
        heard: Callable[[ObjectDetections], None] = lambda message: None,
    ) -> None:
        """Listen.

        Args:
            node: that is starting.
            work: does the jobs.
            job_of: makes the job of a message, on the node's thread; a StackError that refuses it is reported as a
                problem.
            done: called with the result, on the node's thread too.
            room: messages that wait; the oldest goes.
            period_s: between two of them, s; 0: as they come.
            heard: called with every message, also with those that are left out.
        """
        self._node, self._work, self._job_of, self._done = node, work, job_of, done
        self._waiting: deque[ObjectDetections] = deque(maxlen=room)
        self._busy, self._at_once, self._heard = False, not period_s, heard
        self._began_s = 0.0
        node.subscribe(ObjectDetections, topics.DETECTIONS, self._put, qos.STATE)
        if period_s:
            node.every(period_s, self._next)

    def _put(self, message: ObjectDetections) -> None:
        self._heard(message)
        if len(self._waiting) == self._waiting.maxlen and self._at_once:
            self._node.statistics.drop(topics.DETECTIONS)
        self._waiting.append(message)
        if self._at_once:
            self._next()

    def _next(self) -> None:
        while self._waiting and not self._busy:
            try:
                job = self._job_of(self._waiting.popleft())
            except StackError as error:
                self._node.problem(str(error))
                continue
            self._busy, self._began_s = True, time.monotonic()
            self._work.submit(job, self._finish)

    def _finish(self, outcome: JobOutcome[Any]) -> None:
        self._busy = False
        self._node.statistics.add("detections", time.monotonic() - self._began_s)
        self._done(outcome)
        if self._at_once:
            self._next()


def _path(name: str) -> Path:
    return Path(name).expanduser()
