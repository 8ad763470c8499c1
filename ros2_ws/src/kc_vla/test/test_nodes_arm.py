"""The arm controller's process: a stop that a person asks for counts while it connects, hangs, parks and ends."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from emulated_piper import EmulatedPiper
from nightly import at_night
from node_process import Peer, running
from piper import PIPER, REST
from raised_piper import raise_it
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.stop_latch import usual_folder
from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla_msgs.msg import ArmCommand, EpisodeStatus

NODE = "kc_vla.nodes.arm_controller"
MACHINE_STOOD = r"its control loop stood still for .* s|nothing has come from the arm for .* s"
KEPT = r"not parked: .*\. The arm keeps its power \(flange at 0\.\d\d m\): support it before you switch it off"


class Controller:
    """A controller whose arm was left raised, with power, and was resumed by a person."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, arm: EmulatedPiper, peer: Peer) -> None:
        self.process, self.log, self.arm, self.peer = process, log, arm, peer

    def says(self, pattern: str) -> bool:
        return re.search(pattern, self.log.read_text()) is not None

    def call(self, service: str) -> str:
        return str(self.peer.call(Trigger, service, Trigger.Request()).message)

    def is_high(self) -> bool:
        view = self.arm.view
        return bool(view.powered.all()) and float(np.abs(view.angles - REST).max()) > 0.3

    def stands(self) -> bool:
        before = self.arm.view.angles
        time.sleep(1.0)
        return bool(np.abs(self.arm.view.angles - before).max() < 2e-3)

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def park(self) -> None:
        """Interrupt it, and wait until the arm is on its way to its rest pose."""
        self.interrupt()
        self.peer.until(lambda: self._is_parking() or self.says("not parked: ") or self.process.poll() is not None)
        if not self._is_parking() and (blocked := re.search(MACHINE_STOOD, self.log.read_text())):
            pytest.skip(f"this machine stopped the arm's loop meanwhile, and such an arm is not parked: {blocked[0]}")
        assert self._is_parking(), self.log.read_text()

    def _is_parking(self) -> bool:
        return bool(0.5 < np.abs(self.arm.view.angles - REST).max() < 1.3)

    def children(self) -> list[int]:
        folder = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in folder.read_text().split()]


@pytest.fixture
def start(bus_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """By hand, without a launch file."""
    monkeypatch.setenv("ROS_HOME", str(tmp_path / "ros"))

    def start(**others: object) -> object:
        return running(
            NODE,
            tmp_path / "log",
            arm="piper",
            mode="realtime",
            channel=bus_path,
            bus=INTERFACE,
            **others,
        )

    return start


@pytest.fixture
def controller(bus_path: Path, tmp_path: Path, start: Callable[..., object]) -> Iterator[Controller]:
    with EmulatedPiper(bus_path) as arm, Peer() as peer:
        raise_it(bus_path)
        with start() as process:
            controller = Controller(process, tmp_path / "log", arm, peer)
            peer.until(lambda: controller.says("found with power"))
            assert controller.call("/arm/resume") == "the arm moves again"
            health = peer.hear(DiagnosticArray, topics.DIAGNOSTICS, 10)
            peer.until(lambda: health)
            assert {status.hardware_id for told in health for status in told.status} == {f"piper {bus_path}"}
            yield controller


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["service", *at_night("topic")])
def test_a_stop_while_it_parks_leaves_the_arm_where_it_is(controller: Controller, bus_path: Path, how: str) -> None:
    stops = controller.peer.node.create_publisher(Bool, "/e_stop", qos.E_STOP)
    controller.peer.until(lambda: stops.get_subscription_count())
    controller.park()
    if how == "service":
        assert controller.call("/arm/e_stop") == "stopped"
    else:
        stops.publish(Bool(data=True))
    assert controller.process.wait(60) == 3
    assert (usual_folder(str(bus_path)) / "emergency_stop").exists()
    assert controller.says(KEPT)
    assert controller.says("not parked: the emergency stop is set")
    assert controller.is_high()
    assert controller.stands()


def test_two_interrupts_leave_the_arm_standing_with_power_and_say_so_last(controller: Controller) -> None:
    controller.park()
    controller.interrupt()
    assert controller.process.wait(60) == 3
    assert controller.is_high()
    assert controller.stands()
    last = controller.log.read_text().splitlines()[-1]
    assert re.search(KEPT, last), last


@pytest.mark.nightly
def test_a_third_interrupt_ends_it_at_once_and_says_so(controller: Controller) -> None:
    (loop,) = controller.children()
    os.kill(loop, signal.SIGSTOP)  # otherwise it would have ended before the third
    try:
        until = time.monotonic() + 60.0
        while controller.process.poll() is None:  # two that come before it looks count as one
            assert time.monotonic() < until
            controller.interrupt()
            time.sleep(0.3)
        assert controller.process.returncode == 1
    finally:
        os.kill(loop, signal.SIGCONT)
    last = controller.log.read_text().splitlines()[-1]
    assert re.search(r"arm_controller was ended at once\. The arm keeps its power \(flange at 0\.\d\d m\)", last), last
    assert controller.is_high()
    assert controller.stands()


def test_a_stop_while_its_loop_hangs_is_on_record_and_nothing_moves_afterwards(
    controller: Controller, bus_path: Path
) -> None:
    (loop,) = controller.children()
    os.kill(loop, signal.SIGSTOP)
    try:
        controller.peer.until(lambda: controller.says("the arm's own process hangs"))
        assert controller.call("/arm/e_stop") == "stopped"
        assert (usual_folder(str(bus_path)) / "emergency_stop").exists()
        controller.interrupt()
        assert controller.process.wait(60) == 3
    finally:
        os.kill(loop, signal.SIGCONT)
    assert controller.is_high()
    assert controller.stands()
    assert controller.says(KEPT)


def test_a_stop_while_it_connects_is_heard_and_the_arm_gets_no_power(
    bus_path: Path, tmp_path: Path, start: Callable[..., object]
) -> None:
    with Peer() as peer, start(bus_timeout=300.0) as process:
        answer = peer.call(Trigger, "/arm/e_stop", Trigger.Request())  # its bus is not there yet
        assert answer.message == "stopped"
        assert (usual_folder(str(bus_path)) / "emergency_stop").exists()
        with EmulatedPiper(bus_path) as arm:
            controller = Controller(process, tmp_path / "log", arm, peer)
            peer.until(lambda: controller.says("the arm has no power: the emergency stop is set"))
            time.sleep(0.5)
            assert not arm.view.powered.any()
            controller.interrupt()
            assert process.wait(60) == 0


def test_a_bus_that_is_not_there_is_told_and_another_start_would_not_help(
    tmp_path: Path, start: Callable[..., object]
) -> None:
    with start() as process:
        assert process.wait(60) == 2
    assert re.search(r"no CAN bus '.*bus': .*is the adapter there", (tmp_path / "log").read_text())


def test_joint_states_from_the_future_do_not_outlast_true_ones(tmp_path: Path) -> None:
    with Peer() as peer, running(NODE, tmp_path / "log", mode="realtime", priority=0):
        states = peer.node.create_publisher(JointState, "/joint_states", qos.STATE)
        status = peer.node.create_publisher(EpisodeStatus, "/episode/status", qos.STATUS)
        commands = peer.hear(ArmCommand, "/arm/command", qos.EVENT)
        peer.until(lambda: states.get_subscription_count() and status.get_subscription_count())
        now = peer.node.get_clock().now().to_msg()
        status.publish(
            EpisodeStatus(
                episode_id="e", task="counting", start_time=now, frame_period=0.05, state=EpisodeStatus.RUNNING
            )
        )
        ahead = JointState(name=list(PIPER.names), position=[0.0] * 7)
        ahead.header.stamp.sec = now.sec + 7 * 365 * 86400
        log = tmp_path / "log"
        peer.until(lambda: states.publish(ahead) or "its stamp lies" in log.read_text())

        def is_heard() -> bool:
            true = JointState(name=list(PIPER.names), position=[0.0] * 7)
            true.header.stamp = peer.node.get_clock().now().to_msg()
            states.publish(true)
            return bool(commands) and commands[-1].reason == "no chunk yet"

        peer.until(is_heard)
