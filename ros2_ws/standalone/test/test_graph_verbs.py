"""The verbs on a running graph, against a small node of rclpy."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator

import pytest
import yaml
from running import Running, wait_until

NODE = """
import rclpy
from geometry_msgs.msg import PoseStamped
from kc_vla_msgs.action import RunTask
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import LifecycleNode
from rclpy.task import Future
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float32MultiArray, String
from std_srvs.srv import SetBool

rclpy.init()
node = LifecycleNode('station')
node.declare_parameter('rate', 10)
node.declare_parameter('camera.name', 'wrist')
node.declare_parameter('gains', [1.0, 2.0])
ticks = node.create_publisher(String, 'ticks', QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))
latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
kept = node.create_publisher(String, 'kept', latched)
kept.publish(String(data='published before you came'))
array = node.create_publisher(Float32MultiArray, 'array', latched)
array.publish(Float32MultiArray(data=[0.5] * 200))
def answer(request, response):
    response.success, response.message = request.data, 'seen'
    return response
service = node.create_service(SetBool, 'switch', answer)
def hear(message):
    print('HEARD', message.header, message.pose.position, flush=True)
goal = node.create_subscription(PoseStamped, 'goal', hear, 10)
async def run(goal):
    if goal.request.task == 'for ever':
        while not goal.is_cancel_requested:
            again = Future()
            waiting = node.create_timer(0.05, lambda: again.done() or again.set_result(None))
            await again
            node.destroy_timer(waiting)
        goal.canceled()
        print('CANCELED', flush=True)
        return RunTask.Result()
    goal.publish_feedback(RunTask.Feedback())
    goal.succeed()
    return RunTask.Result()
def accept(request):
    return GoalResponse.REJECT if request.task == 'unknown' else GoalResponse.ACCEPT
actions = ActionServer(
    node, RunTask, 'work', run, goal_callback=accept, cancel_callback=lambda goal: CancelResponse.ACCEPT
)
timer = node.create_timer(0.05, lambda: ticks.publish(String(data='tick')))
print('READY', flush=True)
try:
    rclpy.spin(node)
except (KeyboardInterrupt, ExternalShutdownException):
    pass
except Exception:
    if rclpy.ok():
        raise  # otherwise the interrupt came within a callback, which finds its context gone
finally:
    rclpy.try_shutdown()
"""


@pytest.fixture(scope="module")
def station(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The node, for all tests: none of them leaves it so that another would mind."""
    file = tmp_path_factory.mktemp("station") / "station.py"
    file.write_text(NODE)
    running = Running([sys.executable, str(file)], dict(os.environ))
    try:
        running.match("READY")
        yield running
        running.send(signal.SIGINT)
        assert running.wait() == 0, running.output
    finally:
        if running.process.poll() is None:
            running.send(signal.SIGKILL)
            running.wait()


def output_of(running: Running, code: int = 0) -> str:
    assert running.wait() == code, running.output
    return running.output


def output_with(text: str, command: Callable[[], Running]) -> str:
    """Repeat a command until its output holds `text`: on a busy machine discovery takes its time."""
    outputs: list[str] = []

    def look() -> bool:
        outputs.append(output_of(command()))
        return text in outputs[-1]

    wait_until(look, f"'{text}' is in the output")
    return outputs[-1]


def test_topics(station: Running, ros2: Callable[..., Running]) -> None:
    names = output_with("/ticks", lambda: ros2("topic", "list")).splitlines()
    assert {"/array", "/goal", "/kept", "/ticks"} <= set(names)
    assert names == sorted(names)
    output_with("/kept [std_msgs/msg/String]", lambda: ros2("topic", "list", "-t"))
    info = output_of(ros2("topic", "info", "--verbose", "kept"))
    assert info.startswith("Type: std_msgs/msg/String\n\nPublisher count: 1\n\nNode name: station\nNode namespace: /\n")
    assert "Reliability: RELIABLE" in info
    assert "Durability: TRANSIENT_LOCAL" in info
    assert "Subscription count: 0" in info


@pytest.mark.nightly
def test_echo_adapts_to_best_effort_and_transient_local(station: Running, ros2: Callable[..., Running]) -> None:
    assert output_of(ros2("topic", "echo", "--once", "/ticks")) == "data: tick\n---"
    assert output_of(ros2("topic", "echo", "--once", "kept")) == "data: published before you came\n---"
    assert output_of(ros2("topic", "echo", "--once", "kept", "--csv")) == "published before you came"


@pytest.mark.nightly
def test_echo_of_long_arrays(station: Running, ros2: Callable[..., Running]) -> None:
    cut = yaml.safe_load(output_of(ros2("topic", "echo", "--once", "array")).removesuffix("---"))
    assert cut["data"] == [0.5] * 128 + ["..."]
    whole = yaml.safe_load(output_of(ros2("topic", "echo", "--once", "--full-length", "array")).removesuffix("---"))
    assert whole == {"layout": {"dim": [], "data_offset": 0}, "data": [0.5] * 200}
    assert output_of(ros2("topic", "echo", "--once", "array", "--field", "data[1]")) == "0.5\n---"
    none = output_of(ros2("topic", "echo", "--once", "array", "--no-arr"))
    assert "length: 200" in none
    assert "0.5" not in none


def test_echo_goes_on_until_it_is_interrupted(station: Running, ros2: Callable[..., Running]) -> None:
    running = ros2("topic", "echo", "ticks", "--flow-style")
    running.match(r"^\{data: tick\}$")
    running.send(signal.SIGINT)
    assert running.wait() == signal.SIGINT
    assert "Traceback" not in running.output


@pytest.mark.nightly
def test_rate(station: Running, ros2: Callable[..., Running]) -> None:
    running = ros2("topic", "hz", "ticks", "--window", "20")
    rate_hz = float(running.match(r"^average rate: ([\d.]+)$")[1])
    running.match(r"min: [\d.]+s max: [\d.]+s std dev: [\d.]+s window: \d+")
    assert 2 < rate_hz < 60
    running.send(signal.SIGINT)
    running.wait()


@pytest.mark.nightly
def test_publish(station: Running, ros2: Callable[..., Running]) -> None:
    values = "{header: {frame_id: base, stamp: now}, pose: {position: {x: 1, y: 2.5}}}"
    running = ros2("topic", "pub", "--once", "/goal", "geometry_msgs/msg/PoseStamped", values)
    assert "publishing #1: geometry_msgs.msg.PoseStamped(" in output_of(running)
    heard = station.match(r"HEARD .*sec=(\d+),.*frame_id='base'.* .*x=1\.0, y=2\.5, z=0\.0")
    assert int(heard[1]) > 0
    assert output_of(ros2("topic", "pub", "-r", "50", "-t", "3", "/goal", "geometry_msgs/PoseStamped")).count("#") == 3


def test_nodes(station: Running, ros2: Callable[..., Running]) -> None:
    assert output_with("/station", lambda: ros2("node", "list")) == "/station"
    info = output_with("/switch", lambda: ros2("node", "info", "/station"))
    assert "  Subscribers:\n    /goal: geometry_msgs/msg/PoseStamped" in info
    assert "    /ticks: std_msgs/msg/String" in info
    assert "    /switch: std_srvs/srv/SetBool" in info


@pytest.mark.nightly
def test_services(station: Running, ros2: Callable[..., Running]) -> None:
    output_with("/switch [std_srvs/srv/SetBool]", lambda: ros2("service", "list", "-t"))
    text = output_of(ros2("service", "call", "/switch", "std_srvs/srv/SetBool", "{data: true}"))
    assert text.endswith("response:\nstd_srvs.srv.SetBool_Response(success=True, message='seen')\n")


def test_actions(station: Running, ros2: Callable[..., Running]) -> None:
    output_with("/work [kc_vla_msgs/action/RunTask]", lambda: ros2("action", "list", "-t"))
    info = output_with("/station", lambda: ros2("action", "info", "/work"))
    assert info == "Action: /work\nAction clients: 0\nAction servers: 1\n    /station"


def test_a_goal_is_followed_to_its_result(station: Running, ros2: Callable[..., Running]) -> None:
    words = ("action", "send_goal", "work", "kc_vla_msgs/action/RunTask")
    text = output_of(ros2(*words, "{task: counting, seed: 3}", "--feedback"))
    assert "Sending goal:\n     task: counting\nseed: 3\n" in text
    assert re.search(r"(?m)^Goal accepted with ID: [0-9a-f]{32}$", text)
    assert text.index("Feedback:\n    ") < text.index("Result:\n    ")
    assert text.endswith("Goal finished with status: SUCCEEDED")
    assert "Goal was rejected." in output_of(ros2(*words, "{task: unknown}"))


def test_a_goal_is_canceled_by_who_goes_away(station: Running, ros2: Callable[..., Running]) -> None:
    running = ros2("action", "send_goal", "/work", "kc_vla_msgs/action/RunTask", "{task: for ever}")
    running.match(r"^Goal accepted with ID: ")
    running.send(signal.SIGINT)
    assert running.wait() == signal.SIGINT
    assert running.output.endswith("Canceling goal...\nGoal canceled.")
    station.match("CANCELED")


@pytest.mark.nightly
def test_parameters(station: Running, ros2: Callable[..., Running]) -> None:
    assert {"rate", "camera.name", "gains"} <= set(output_of(ros2("param", "list", "/station")).splitlines())
    assert output_of(ros2("param", "get", "/station", "rate")) == "Integer value is: 10"
    assert output_of(ros2("param", "get", "/station", "gains")) == "Double values are: [1.0, 2.0]"
    assert output_of(ros2("param", "set", "station", "rate", "20")) == "Set parameter successful"
    assert output_of(ros2("param", "get", "/station", "rate", "--hide-type")) == "20"
    assert "setting parameter 'rate'" in output_of(ros2("param", "set", "/station", "rate", "fast"), code=1)
    dump = yaml.safe_load(output_of(ros2("param", "dump", "/station")))
    values = dump["/station"]["ros__parameters"]
    assert (values["rate"], values["camera"], values["gains"]) == (20, {"name": "wrist"}, [1.0, 2.0])


@pytest.mark.nightly
def test_lifecycle(station: Running, ros2: Callable[..., Running]) -> None:
    assert output_of(ros2("lifecycle", "get", "/station")) == "unconfigured [1]"
    assert output_of(ros2("lifecycle", "set", "/station", "configure")) == "Transitioning successful"
    assert output_of(ros2("lifecycle", "get", "/station")) == "inactive [2]"
    refused = output_of(ros2("lifecycle", "set", "/station", "deactivate"), code=1)
    assert "'deactivate' is no transition that '/station' can make now (it can: " in refused


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["topic", "echo", "/none"], "topic '/none' does not appear within 0.2 s"),
        (["topic", "echo", "/none", "std_msgs/msg/Nothing"], "unknown type 'std_msgs/msg/Nothing'"),
        (["topic", "echo", "/none", "Nothing"], "'Nothing' is no type name"),
        (["topic", "echo", "/none", "std_msgs/msg/String", "--timeout", "0.2"], "no message on '/none' within 0.2 s"),
        (["topic", "echo", "/no ne"], "'/no ne' is not a valid name"),
        (["topic", "hz", "/none"], "topic '/none' does not appear"),
        (["topic", "info", "/none"], "topic '/none' does not appear"),
        (["topic", "pub", "/t", "std_msgs/msg/String", "{dat: 1}"], "the type has no field 'dat' (it has: data)"),
        (["topic", "pub", "/t", "std_msgs/msg/String", "{data: ["], "the values are not valid YAML"),
        (["topic", "pub", "/t", "std_msgs/msg/Int32", "{data: much}"], "field 'data' is a int32, which 'much' is not"),
        (["topic", "pub", "/t", "std_msgs/msg/Int32", "3"], "the values have to be a dictionary"),
        (["service", "call", "/t", "std_srvs/srv/None"], "unknown type 'std_srvs/srv/None'"),
        (["action", "send_goal", "/t", "kc_vla_msgs/action/None"], "unknown type 'kc_vla_msgs/action/None'"),
        (["action", "send_goal", "/t", "kc_vla_msgs/action/RunTask", "{tsk: a}"], "the type has no field 'tsk'"),
        (["node", "info", "/none"], "node '/none' does not appear"),
        (["param", "get", "/none", "a"], "node '/none' does not appear"),
        (["interface", "show", "std_msgs/msg/None"], "package 'std_msgs' has no msg 'None' (it has: "),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_mistakes_are_one_line(ros2: Callable[..., Running], words: list[str], message: str) -> None:
    patience = ["--spin-time", "0.2"] if words[0] in ("node", "param") or words[1] in ("hz", "info", "echo") else []
    running = ros2(*words, *patience)
    assert message in output_of(running, code=1)
    assert len(running.output.splitlines()) == 1


def test_interface(ros2: Callable[..., Running]) -> None:
    text = output_of(ros2("interface", "show", "geometry_msgs/msg/PointStamped", "--no-comments"))
    assert text == (
        "std_msgs/Header header\n\tbuiltin_interfaces/Time stamp\n\t\tint32 sec\n\t\tuint32 nanosec\n"
        "\tstring frame_id\nPoint point\n\tfloat64 x\n\tfloat64 y\n\tfloat64 z"
    )
    assert re.search(r"(?m)^---$", output_of(ros2("interface", "show", "std_srvs/srv/SetBool")))
