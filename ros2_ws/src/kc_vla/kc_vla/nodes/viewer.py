"""Node `viewer`: serves the live page of a running stack; without a token the page is read-only.

It only looks on: images, joints and commands are listened to while a page is open and taken when it asks for them,
what comes with every frame wakes nobody here, no publisher waits for this node, and its process takes what time
the others leave.
"""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass
from functools import partial

import cv2
from diagnostic_msgs.msg import DiagnosticArray
from std_msgs.msg import Bool, String

from kc_vla.core import topics
from kc_vla.core.ports import LIVE_PAGE
from kc_vla.live import board as shown
from kc_vla.live import messages
from kc_vla.live.board import LiveBoard
from kc_vla.live.feed import Feed
from kc_vla.live.images import LiveImages
from kc_vla.live.server import create_app
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.health import within
from kc_vla.ros.keyframe_thumbs import KeyframeThumbs
from kc_vla.ros.live_streams import LiveStreams
from kc_vla.ros.parameters import parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.robot import RobotParameters
from kc_vla.ros.shown_crops import follow_crops
from kc_vla.ros.stop_request import StopRequest
from kc_vla.web.access import HERE
from kc_vla.web.serving import THIS_MACHINE, ListenError, PageThread, listening_there_or_elsewhere
from kc_vla_msgs.msg import (
    Driver,
    EpisodeResult,
    EpisodeStatus,
    KeyframeEvent,
    KeyframeIndex,
)

_NICE = 10
"""Niceness of this process, which must not take time from a control loop."""


def _check_host(host: str) -> None:
    if host in ("", "0.0.0.0", "::"):
        raise ValueError("name one address of this machine: by that name alone the page is served")


@dataclass(frozen=True)
class ViewerParameters(RobotParameters):
    """Parameters of the node."""

    host: str = parameter("127.0.0.1", "address to listen at; 127.0.0.1: only this machine", check=_check_host)
    port: int = parameter(LIVE_PAGE, "port of the page; 0: any free one", low=0, high=65535)
    control: bool = parameter(False, "true: a page with the token, which the log shows once, can stop the arm")
    rate: float = parameter(10.0, "most updates of a page per second", low=0.5, high=60.0)
    arm: str = parameter("", "kind of arm to show: real, emulated, simulated; empty: unknown")
    crops: str = parameter("", "folder of the crops of short_term_memory; empty: none are shown")
    longest: int = parameter(640, "size of a side of the shown images, px", low=16, high=4096)


class ViewerNode(StackNode):
    """The node `viewer`, which serves the live page of a running stack."""

    Parameters = ViewerParameters
    parameters: ViewerParameters

    def __init__(self) -> None:
        super().__init__("viewer")

    def start(self) -> None:
        """Listen, and serve from a thread."""
        values = self.parameters
        robot = values.loaded_robot()
        self._board = LiveBoard()
        self._board.tell("robot", messages.robot_part(robot, values.arm))
        self._index = KeyframeIndex()
        self._streams = LiveStreams(self, self._board, robot.views, self._on_index)
        self._pictures = LiveImages(self._streams.picture, values.longest, 0.5 / values.rate)
        on_watched = self.from_any_thread(self._watch)
        self._feed = Feed(self._board, self._pictures, robot.views, values.rate, on_watched, self._streams.look)
        self._thumbs = KeyframeThumbs(self, lambda: self._feed.watched, self._on_thumb)
        self._listen_always()
        token = secrets.token_urlsafe(16) if values.control else ""
        crops = follow_crops(self, values.crops, partial(self._board.tell, "crops"))
        app = create_app(self._feed, token, StopRequest(self), (values.host, f"[{values.host}]", *HERE), crops)
        try:
            listener = listening_there_or_elsewhere(values.host, values.port, "live page", self.get_logger().warning)
        except ListenError as error:
            raise StartError(str(error)) from error
        self._page = PageThread(app, listener)
        name = "localhost" if values.host in THIS_MACHINE else values.host
        warning = "  (whoever has this address can stop the arm)" if token else ""
        print(
            f"live page: open http://{name}:{self._page.port}{'/#token=' + token if token else ''}{warning}", flush=True
        )

    def stop(self) -> None:
        """Close the page."""
        self._page.close()

    def details(self) -> dict[str, object]:
        """Return who looks."""
        return (
            {"pages": self._feed.pages, "port": self._page.port, "control": self.parameters.control}
            if self.works
            else {}
        )

    # -- what is heard ------------------------------------------------------------------------------------------

    def _listen_always(self) -> None:
        """Subscribe to what is small and what a page that comes later wants to know of before."""
        tell = self._board.tell
        self.subscribe(EpisodeStatus, topics.EPISODE_STATUS, self._on_episode, qos.STATUS)
        self.subscribe(
            EpisodeResult, topics.EPISODE_RESULT, lambda each: tell("result", messages.result_part(each)), qos.STATUS
        )
        self.subscribe(Driver, topics.DRIVER, lambda each: tell("driver", messages.driver_part(each)), qos.EVENT_LOG)
        self.subscribe(Bool, topics.STOPPED, lambda each: tell("stopped", bool(each.data)), qos.EVENT_LOG)
        self.subscribe(KeyframeEvent, topics.KEYFRAME_EVENT, self._on_event, qos.EVENT_LOG)
        self.subscribe(DiagnosticArray, topics.DIAGNOSTICS, self._on_health, qos.WATCHED)
        self.subscribe(String, topics.PLANNER_STEPS, self._on_step, qos.EVENT_LOG)
        self.subscribe(String, topics.PLANNER_BELIEF, self._on_belief, qos.STATUS)

    def _watch(self) -> None:
        """Subscribe to all the rest while a client looks."""
        if self._feed.watched == self._streams.watched:
            return
        if self._feed.watched:
            self._streams.watch()
        else:
            self._streams.unwatch()
            self._pictures.clear()

    def _on_event(self, event: KeyframeEvent) -> None:
        self._streams.add(event, shown.EVENTS, messages.event_row)

    def _on_step(self, message: String) -> None:
        if (row := messages.step_row(message.data)) is not None:
            self._board.add(shown.STEPS, row)

    def _on_belief(self, message: String) -> None:
        if (part := messages.belief_part(message.data)) is not None:
            self._board.tell("belief", part)

    def _on_episode(self, status: EpisodeStatus) -> None:
        if status.episode_id != self._board.episode:
            self._thumbs.begin(status.episode_id)
            self._board.begin(status.episode_id)
        self._board.tell("episode", messages.episode_part(status))
        self._tell_keyframes()  # their list may have come before

    def _on_index(self, index: KeyframeIndex) -> None:
        self._index = index
        self._thumbs.follow(index)
        self._tell_keyframes()

    def _tell_keyframes(self) -> None:
        index = self._index
        if index.episode_id == self._board.episode:
            self._board.tell("keyframes", messages.keyframes_part(index))

    def _on_thumb(self, frame: int, picture: str) -> None:
        self._board.add(shown.THUMBS, {"frame": frame, "picture": picture})

    def _on_health(self, told: DiagnosticArray) -> None:
        now = time.monotonic()
        for each in within(self, told).status:
            values = {pair.key: pair.value for pair in each.values}
            level = each.level[0] if isinstance(each.level, bytes) else int(each.level)
            self._board.tell(f"node {each.name[:80]}", shown.health(level, each.message, values, now))


def main() -> None:
    """Run the node."""
    os.nice(_NICE)
    cv2.setNumThreads(1)  # to share the work on a small picture costs half as much again, and the others' cores
    run_node(ViewerNode)
