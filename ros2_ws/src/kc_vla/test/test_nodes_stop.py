"""An emergency stop pressed while a killed controller is started again: it counts, or is told lost."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from emulated_piper import EmulatedPiper
from nightly import at_night
from node_process import Peer, running
from raised_piper import PATIENCE_S, raise_it
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.stop_latch import usual_folder
from kc_vla.ros import qos
from kc_vla_msgs.srv import ResetArm


class Desk:
    """A raised arm with power, a stop relay, two people, and controllers that come and go."""

    def __init__(self, arm: EmulatedPiper, peer: Peer, path: Path, folder: Path) -> None:
        self.arm, self.peer = arm, peer
        self._path, self._folder = path, folder
        self._runs: list[object] = []
        self.process: subprocess.Popen[bytes] | None = None
        self.log = folder / "log"
        self.presses = peer.node.create_client(Trigger, "/arm/e_stop")
        self.topic = peer.node.create_publisher(Bool, "/e_stop", qos.E_STOP)

    def start(self) -> None:
        """A controller, as a launch starts one again."""
        self.log = self._folder / f"log-{len(self._runs)}"
        run = running(
            "kc_vla.nodes.arm_controller", self.log, arm="piper", mode="realtime", channel=self._path, bus=INTERFACE
        )
        self.process = run.__enter__()
        self._runs.append(run)

    def wait_for(self, words: str) -> None:
        end = time.monotonic() + PATIENCE_S - 5.0
        self.peer.until(lambda: words in self.log.read_text() or time.monotonic() > end)
        assert words in self.log.read_text(), self.log.read_text()[-2000:]

    def kill(self, part: str) -> None:
        """Kill the controller, or the process that moves its arm: the controller ends then, too."""
        assert self.process is not None
        pid = self.process.pid
        if part == "control process":
            (pid,) = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        os.kill(pid, signal.SIGKILL)
        self.process.wait(PATIENCE_S)

    def call(self, service: str) -> str:
        return str(self.peer.call(Trigger, service, Trigger.Request()).message)

    def stands(self) -> bool:
        before = self.arm.view.angles
        time.sleep(0.5)
        return bool(np.abs(self.arm.view.angles - before).max() < 2e-3)

    def end(self) -> None:
        for run in reversed(self._runs):
            run.__exit__(None, None, None)  # type: ignore[attr-defined]


@pytest.fixture
def desk(bus_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("ROS_HOME", str(tmp_path / "ros"))
    with EmulatedPiper(bus_path) as arm, Peer() as peer:
        raise_it(bus_path)
        desk = Desk(arm, peer, bus_path, tmp_path)
        desk.start()
        try:
            desk.wait_for("found with power")
            assert desk.call("/arm/resume") == "the arm moves again"
            yield desk
        finally:
            desk.end()


@pytest.fixture
def relay(bus_path: Path, tmp_path: Path, desk: Desk) -> Iterator[Path]:
    """Its log."""
    log = tmp_path / "relay"
    with running("kc_vla.nodes.stop_relay", log, arm="piper", channel=bus_path):
        desk.peer.until(lambda: len(desk.peer.node.get_publishers_info_by_topic("/diagnostics")) >= 2)
        desk.peer.until(lambda: desk.topic.get_subscription_count() >= 2)
        yield log


@pytest.mark.parametrize(
    ("part", "how", "after"),
    [
        ("node", "service", 0.2),
        *at_night(
            ("control process", "service", 0.6),
            *(
                (part, how, float(after))
                for part in ("node", "control process")
                for how in ("service", "topic")
                for after in np.random.default_rng(0).uniform(0.0, 1.5, 6)
            ),
        ),
    ],
)
@pytest.mark.usefixtures("relay")
def test_a_stop_pressed_while_the_controller_is_started_again_is_not_lost(
    desk: Desk, bus_path: Path, part: str, how: str, after: float
) -> None:
    desk.peer.until(desk.presses.service_is_ready)
    killed_at = time.monotonic()
    desk.kill(part)
    desk.start()
    while time.monotonic() < killed_at + after:
        time.sleep(0.005)
    if how == "service":
        answer = desk.presses.call_async(Trigger.Request())
        desk.peer.until(answer.done)
        told = answer.result()
        assert told.message == "stopped" if told.success else "the stop is on record, but" in told.message
    else:
        desk.topic.publish(Bool(data=True))
    record = usual_folder(str(bus_path)) / "emergency_stop"
    desk.peer.until(lambda: "an emergency stop was pressed" in (record.read_text() if record.exists() else ""))
    desk.wait_for("emergency stop: the arm holds")
    assert "call arm/release_e_stop" in desk.call("/arm/resume")  # another person's
    assert desk.stands()
    assert desk.call("/arm/release_e_stop").startswith("released")
    desk.wait_for("found with power")
    desk.peer.until(lambda: desk.call("/arm/resume") == "the arm moves again")


def test_after_a_controller_that_was_killed_somebody_has_to_say_that_no_stop_was_pressed(desk: Desk) -> None:
    desk.kill("node")
    desk.start()
    desk.wait_for("found with power")
    asked = desk.call("/arm/resume")
    assert "the controller before did not end in order" in asked
    assert asked.endswith("call arm/release_e_stop, then arm/resume")
    assert desk.stands()
    assert desk.call("/arm/release_e_stop").startswith("released")
    assert desk.call("/arm/release_e_stop").startswith("released: no emergency stop is set")  # its answer was lost
    assert desk.call("/arm/resume") == "the arm moves again"


@pytest.mark.nightly
def test_after_a_controller_that_ended_in_order_nobody_is_asked(desk: Desk) -> None:
    assert desk.process is not None
    desk.process.send_signal(signal.SIGINT)
    assert desk.process.wait(PATIENCE_S) == 0
    desk.start()
    desk.peer.until(lambda: desk.call("/arm/resume") == "the arm moves again")
    assert "emergency stop" not in desk.log.read_text()


@pytest.mark.usefixtures("relay")
def test_whoever_presses_without_a_controller_is_told_so(desk: Desk) -> None:
    desk.kill("node")
    told = desk.peer.call(Trigger, "/arm/e_stop", Trigger.Request())
    assert not told.success
    assert "the stop is on record, but the arm's controller does not answer" in told.message


def test_an_arm_in_its_own_stop_is_reset_on_the_word_that_it_is_supported_and_then_resumed(desk: Desk) -> None:
    desk.arm.ask("supported")
    desk.arm.ask("own_stop")
    desk.wait_for("the arm is blocked until arm/reset, then arm/resume are called: the arm's own emergency stop is set")
    assert desk.call("/arm/resume").endswith("call arm/reset first")
    assert desk.call("/arm/release_e_stop").endswith("call arm/reset, then arm/resume")
    request = ResetArm.Request()
    refused = desk.peer.call(ResetArm, "/arm/reset", request)
    assert not refused.success
    assert "the arm FALLS from where it is" in refused.message
    request.supported = True
    done = desk.peer.call(ResetArm, "/arm/reset", request)
    assert done.success, done.message
    assert done.message.endswith("look at it, then call arm/resume")
    assert not desk.arm.view.powered.any()
    assert desk.call("/arm/resume") == "the arm moves again"
    assert desk.stands()
    again = desk.peer.call(ResetArm, "/arm/reset", request)
    assert "no stop and no error of its own" in again.message
    assert desk.arm.view.powered.all()


def test_what_is_put_on_record_by_others_stops_the_arm(desk: Desk, bus_path: Path) -> None:
    (usual_folder(str(bus_path)) / "emergency_stop").write_text("a person wrote this\n")
    desk.wait_for("emergency stop: the arm holds until the service arm/release_e_stop is called (on record: a person")
    assert "call arm/release_e_stop first" in desk.call("/arm/resume")


@pytest.mark.nightly
def test_the_clock_is_not_changed_while_an_arm_is_connected(desk: Desk) -> None:
    name = "use_sim_time"
    given = Parameter(name=name, value=ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=True))
    request = SetParameters.Request(parameters=[given])
    (done,) = desk.peer.call(SetParameters, "/arm_controller/set_parameters", request).results
    assert not done.successful
    assert "cannot change while an arm is connected" in done.reason
    asked = GetParameters.Request(names=[name])
    (kept,) = desk.peer.call(GetParameters, "/arm_controller/get_parameters", asked).values
    assert kept.bool_value is False
