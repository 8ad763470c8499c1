"""The live page's node among other nodes: what it shows of them, when it listens, and what it stops."""

from __future__ import annotations

import json
import math
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from live_client import LivePage
from node_process import Peer, running
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from vision_msgs.msg import Detection2D, Detection2DArray, ObjectHypothesisWithPose

from kc_vla.core import topics
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.media.images import file_pixels
from kc_vla.ros import qos
from kc_vla.ros.convert import image_message
from kc_vla_msgs.msg import (
    ActionChunk,
    ArmCommand,
    Driver,
    EpisodeResult,
    EpisodeStatus,
    Keyframe,
    KeyframeEvent,
    KeyframeIndex,
    KeyframeScore,
    View,
)
from kc_vla_msgs.srv import GetKeyframes

MODULE = "kc_vla.nodes.viewer"
PICTURE = image_message(np.full((48, 64, 3), 90, np.uint8), Time(), "camera")
STATUS = EpisodeStatus(
    episode_id="e-1", task="counting", instruction="Push it.", frame_period=0.05, state=EpisodeStatus.RUNNING, seed=3
)
SAID = (
    (topics.KEYFRAME_SCORE, KeyframeScore(episode_id="e-1", frame_index=4, score=0.25, threshold=0.5), qos.EVENT),
    (topics.KEYFRAME_SCORE, KeyframeScore(episode_id="e-0", frame_index=900, score=1.0), qos.EVENT),
    (
        topics.KEYFRAME_EVENT,
        KeyframeEvent(episode_id="e-1", type=KeyframeEvent.COMMITTED, label="start"),
        qos.EVENT_LOG,
    ),
    (
        topics.KEYFRAME_INDEX,
        KeyframeIndex(
            episode_id="e-1", frame_indices=[0], phases=[0], labels=["start"], scores=[1.0], committed=[True]
        ),
        qos.STATUS,
    ),
    (topics.JOINT_STATES, JointState(name=["panda_joint1"], position=[0.5]), qos.STATE),
    (
        topics.POLICY_CHUNK,
        ActionChunk(episode_id="e-1", horizon=1, dimension=2, names=["dx", "dy"], actions=[0.1, 0.2]),
        qos.EVENT,
    ),
    (topics.ARM_COMMAND, ArmCommand(episode_id="e-1", step=4, names=["dx", "dy"], values=[0.1, 0.2]), qos.EVENT),
    (topics.STOPPED, Bool(data=False), qos.EVENT_LOG),
    (
        topics.DRIVER,
        Driver(episode_id="e-1", sequence=1, frame_index=7, driver=Driver.PERSON, device="joy"),
        qos.EVENT_LOG,
    ),
    (topics.EPISODE_RESULT, EpisodeResult(episode_id="e-1", success=True, reason="success"), qos.STATUS),
    (
        topics.DIAGNOSTICS,
        DiagnosticArray(
            status=[
                DiagnosticStatus(
                    name="selector",
                    level=DiagnosticStatus.WARN,
                    message="slow",
                    values=[KeyValue(key="latency/score/p99_ms", value="20.1")],
                )
            ]
        ),
        10,
    ),
)


class Graph(Peer):
    """Says what the other nodes would."""

    def say_all(self) -> None:
        for publisher, message in self.publishers:
            publisher.publish(message)

    def __enter__(self) -> Graph:
        super().__enter__()
        self.status = self.node.create_publisher(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self.status.publish(STATUS)
        self.cameras = [self.node.create_publisher(Image, topics.image_topic(v), qos.IMAGE) for v in DEFAULT_VIEWS]
        self.publishers = [(self.node.create_publisher(type(each), topic, q), each) for topic, each, q in SAID]
        self.publishers += [(camera, PICTURE) for camera in self.cameras]
        return self

    def listeners(self) -> int:
        return sum(camera.get_subscription_count() for camera in self.cameras)


@pytest.fixture
def graph() -> Iterator[Graph]:
    with Graph() as found:
        yield found


@pytest.fixture
def viewer(graph: Graph, tmp_path: Path) -> Iterator[Callable[..., tuple[int, str]]]:
    """Starts the node; returns the port and the token."""
    with ExitStack() as alive:

        def start(**parameters: object) -> tuple[int, str]:
            log = tmp_path / "viewer.log"
            alive.enter_context(running(MODULE, log, **{"port": 0, **parameters}))
            found = graph.until(lambda: re.search(r"open http://localhost:(\d+)(?:/#token=(\S+))?", log.read_text()))
            return int(found[1]), found[2] or ""

        yield start


@pytest.fixture
def open_page(viewer: Callable[..., tuple[int, str]]) -> Iterator[Callable[..., LivePage]]:
    opened: list[LivePage] = []

    def open_it(port: int) -> LivePage:
        opened.append(LivePage(port))
        return opened[-1]

    yield open_it
    for page in opened:
        page.close()


def see(graph: Graph, page: LivePage, done: Callable[[], Any], say: Callable[[], None] = lambda: None) -> None:
    def look() -> Any:
        say()
        page.poll()
        return done()

    graph.until(look)


def post_stop(graph: Graph, port: int, token: str) -> dict[str, Any]:
    """Press the button, while the graph goes on."""
    answers: list[Any] = []

    def ask() -> None:
        request = urllib.request.Request(f"http://localhost:{port}/api/stop", method="POST", headers={"X-Token": token})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                answers.append(json.load(answer))
        except urllib.error.HTTPError as error:
            answers.append({"status": error.code})

    thread = threading.Thread(target=ask)
    thread.start()
    graph.until(lambda: answers)
    thread.join()
    found: dict[str, Any] = answers[0]
    return found


def test_a_page_shows_what_the_nodes_say(
    graph: Graph, viewer: Callable[..., tuple[int, str]], open_page: Callable[..., LivePage]
) -> None:
    page = open_page(viewer()[0])
    wanted = {"scores", "events", "chunks", "commands"}
    parts = {"robot", "episode", "result", "keyframes", "joints", "stopped", "driver", "node selector"}
    see(
        graph,
        page,
        lambda: wanted <= page.series.keys() and parts <= page.parts.keys() and len(page.pictures) == 2,
        graph.say_all,
    )
    assert page.parts["episode"]["instruction"] == "Push it."
    assert page.parts["result"]["success"]
    assert page.parts["driver"] == {"id": "e-1", "person": True, "device": "joy", "frame": 7}
    assert page.parts["joints"] == {"panda_joint1": 0.5}
    assert page.parts["node selector"]["values"] == {"latency/score/p99_ms": "20.1"}
    assert {row[0] for row in page.series["scores"]} == {4}  # none of another episode
    assert page.series["events"][0]["kind"] == "committed"
    assert page.series["commands"][0]["values"] == page.series["chunks"][0]["actions"][0]
    graph.status.publish(EpisodeStatus(episode_id="e-2", frame_period=0.05, state=EpisodeStatus.RUNNING))
    see(graph, page, lambda: page.parts["episode"]["id"] == "e-2")
    see(graph, page, lambda: not page.series["scores"])


def test_what_is_detected_is_drawn_into_the_images(
    graph: Graph, viewer: Callable[..., tuple[int, str]], open_page: Callable[..., LivePage]
) -> None:
    page = open_page(viewer()[0])
    publisher = graph.node.create_publisher(Detection2DArray, topics.boxes_topic("wrist"), qos.IMAGE)
    detection = Detection2D(id="mug_1-6af0", results=[ObjectHypothesisWithPose()])
    detection.bbox.center.position.x, detection.bbox.center.position.y = 32.0, 30.0
    detection.bbox.size_x, detection.bbox.size_y = 20.0, 10.0
    lost = Detection2D()
    lost.bbox.size_x = math.nan

    def say() -> None:
        publisher.publish(Detection2DArray(detections=[lost, detection]))
        graph.say_all()

    def colors() -> float:
        """How much the last image of the camera differs from the even gray that it publishes."""
        return float(np.ptp(file_pixels(page.pictures["wrist"][-1]))) if page.pictures["wrist"] else 0.0

    see(graph, page, lambda: page.pictures["third_person"] and colors() > 100.0, say)
    assert np.ptp(file_pixels(page.pictures["third_person"][-1])) < 10


def test_pictures_are_listened_to_while_a_page_is_open(
    graph: Graph, viewer: Callable[..., tuple[int, str]], open_page: Callable[..., LivePage]
) -> None:
    port, _ = viewer()
    score = next(publisher for publisher, message in graph.publishers if isinstance(message, KeyframeScore))
    graph.until(score.get_subscription_count)  # it is there, and listens to what a page that comes later wants
    assert graph.listeners() == 0
    first, second = open_page(port), open_page(port)
    see(graph, first, lambda: graph.listeners() == 2)
    first.close()
    of_the_arm = {"commands", "chunks"}
    see(
        graph,
        second,
        lambda: second.pictures["wrist"] and of_the_arm <= second.series.keys() and "joints" in second.parts,
        graph.say_all,
    )
    assert graph.listeners() == 2
    second.close()
    graph.until(lambda: graph.listeners() == 0)
    third = open_page(port)
    see(graph, third, lambda: third.series["scores"])  # what the arm did is over, and is not shown as if it were now
    assert not of_the_arm & third.series.keys()
    assert "joints" not in third.parts
    see(graph, third, lambda: third.pictures["wrist"] and of_the_arm <= third.series.keys(), graph.say_all)


def test_a_picture_that_cannot_be_shown_is_told_and_the_others_go_on(
    graph: Graph, viewer: Callable[..., tuple[int, str]], open_page: Callable[..., LivePage]
) -> None:
    page = open_page(viewer()[0])

    def say() -> None:
        graph.cameras[0].publish(Image(encoding="none", height=2, width=2, step=2, data=[0] * 4))
        graph.cameras[1].publish(PICTURE)

    see(graph, page, lambda: page.problems and page.pictures["wrist"], say)
    assert "third_person: an image is in 'none'" in page.problems[0]
    see(graph, page, lambda: page.pictures["third_person"], graph.say_all)


def test_the_keyframes_have_the_pictures_that_the_buffer_keeps(
    graph: Graph, viewer: Callable[..., tuple[int, str]], open_page: Callable[..., LivePage]
) -> None:
    asked: list[GetKeyframes.Request] = []

    def get(request: GetKeyframes.Request, response: GetKeyframes.Response) -> GetKeyframes.Response:
        asked.append(request)
        keyframe = Keyframe(label="start")
        keyframe.observation.views = [View(name="third_person", image=PICTURE)]
        response.success, response.keyframes = True, [keyframe]
        return response

    graph.node.create_service(GetKeyframes, topics.GET_KEYFRAMES, get)
    port, _ = viewer()
    score = next(publisher for publisher, message in graph.publishers if isinstance(message, KeyframeScore))
    graph.until(score.get_subscription_count)
    graph.say_all()
    page = open_page(port)
    see(graph, page, lambda: page.series["thumbs"], graph.say_all)
    assert page.series["thumbs"][0]["frame"] == 0
    assert page.series["thumbs"][0]["picture"].startswith("data:image/jpeg;base64,")
    heard = len(page.series["scores"])
    see(graph, page, lambda: len(page.series["scores"]) > heard + 5, graph.say_all)
    assert len(asked) == 1


@pytest.mark.nightly
def test_the_keyframes_of_an_episode_are_shown_though_they_were_told_before_it_and_once(
    graph: Graph, viewer: Callable[..., tuple[int, str]], open_page: Callable[..., LivePage]
) -> None:
    page = open_page(viewer()[0])
    see(graph, page, lambda: "keyframes" in page.parts, graph.say_all)
    told = {type(message): publisher for publisher, message in graph.publishers}
    early = KeyframeIndex(
        episode_id="e-2", frame_indices=[7], phases=[0], labels=["start"], scores=[1.0], committed=[True]
    )
    told[KeyframeIndex].publish(early)
    told[KeyframeScore].publish(KeyframeScore(episode_id="e-1", frame_index=77))
    see(graph, page, lambda: page.series["scores"][-1][0] == 77)  # by then the node has looked at both
    graph.status.publish(EpisodeStatus(episode_id="e-2", frame_period=0.05, state=EpisodeStatus.RUNNING))
    see(graph, page, lambda: [each["frame"] for each in page.parts["keyframes"]] == [7])


def test_the_page_tells_what_the_arm_answered_to_a_stop(graph: Graph, viewer: Callable[..., tuple[int, str]]) -> None:
    port, token = viewer(control=True)
    assert len(token) >= 20
    assert post_stop(graph, port, "guess") == {"status": 403}
    unheard = post_stop(graph, port, token)
    assert (unheard["answered"], unheard["done"]) == (False, False)
    assert "nobody serves arm/e_stop" in unheard["message"]
    answer = Trigger.Response(success=True, message="stopped")
    asked: list[int] = []

    def stop(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        asked.append(1)
        return answer

    graph.node.create_service(Trigger, topics.STOP, stop)
    assert post_stop(graph, port, token) == {"answered": True, "done": True, "message": "stopped"}
    assert asked
    answer = Trigger.Response(success=False, message="not now")
    assert post_stop(graph, port, token) == {"answered": True, "done": False, "message": "not now"}


def test_without_control_nobody_has_a_token(graph: Graph, viewer: Callable[..., tuple[int, str]]) -> None:
    asked: list[int] = []
    graph.node.create_service(Trigger, topics.STOP, lambda request, response: asked.append(1) or response)
    port, token = viewer()
    assert token == ""
    assert post_stop(graph, port, "") == {"status": 403}
    assert asked == []


@pytest.mark.nightly
def test_an_address_that_everybody_reaches_is_not_served(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for host, words in (("0.0.0.0", "name one address of this machine"), ("203.0.113.7", "cannot listen at")):
        with running(MODULE, log, host=host, port=0) as process:
            assert process.wait(60) == 2
        assert words in log.read_text()


@pytest.mark.nightly
def test_a_taken_port_costs_no_page(
    graph: Graph, viewer: Callable[..., tuple[int, str]], open_page: Callable[..., LivePage]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port, _ = viewer(port=taken.getsockname()[1])
        assert port != taken.getsockname()[1]
        page = open_page(port)
        see(graph, page, lambda: "robot" in page.parts)
