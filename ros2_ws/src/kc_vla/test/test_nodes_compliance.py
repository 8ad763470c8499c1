"""A hand leads the arm through the whole stack: node, control process, the vendor's SDK and an emulated bus."""

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from emulated_piper import EmulatedPiper
from nightly import at_night
from node_process import Peer, running
from raised_piper import RAISED, raise_it
from std_srvs.srv import SetBool, Trigger

from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.core import topics

NODE = "kc_vla.nodes.arm_controller"
LED_RAD, STAYS_RAD = 0.2, 0.02


class Led:
    """A controller, its arm and who calls."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, arm: EmulatedPiper, peer: Peer) -> None:
        self.process, self.log, self.arm, self.peer = process, log, arm, peer

    def comply(self, on: bool) -> SetBool.Response:
        return self.peer.call(SetBool, "/arm/compliance", SetBool.Request(data=on))

    def call(self, service: str) -> str:
        return str(self.peer.call(Trigger, service, Trigger.Request()).message)

    def push(self) -> float:
        """Lead the first joint by hand, and leave it; return where it is left."""
        begin = self.arm.view.angles[0]
        self.arm.ask("pushed 5")
        self.peer.until(lambda: self.arm.view.angles[0] > begin + LED_RAD)
        self.arm.ask("pushed 0")
        time.sleep(0.5)
        return float(self.arm.view.angles[0])

    def stands(self) -> bool:
        before = self.arm.view.angles
        time.sleep(0.7)
        view = self.arm.view
        return bool(view.powered.all() and np.abs(view.angles - before).max() < STAYS_RAD)


@pytest.mark.parametrize("killed", ["its control process", *at_night("the node")])
def test_a_hand_leads_the_arm_and_whatever_ends_that_leaves_it_where_it_is(
    bus_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: str
) -> None:
    monkeypatch.setenv("ROS_HOME", str(tmp_path / "ros"))
    where = {"arm": "piper", "mode": "realtime", "channel": bus_path, "bus": INTERFACE}
    with EmulatedPiper(bus_path) as arm, Peer() as peer:
        raise_it(bus_path)
        with running(NODE, tmp_path / "log", **where) as process:
            led = Led(process, tmp_path / "log", arm, peer)
            peer.until(lambda: "found with power" in led.log.read_text())
            assert "blocked" in led.comply(True).message
            assert led.call("/arm/resume") == "the arm moves again"
            health = peer.hear(DiagnosticArray, topics.DIAGNOSTICS, 10)

            answer = led.comply(True)
            assert answer.success, answer.message
            assert "no real arm has met this mode yet" in answer.message
            left = led.push()
            assert led.stands()
            assert abs(arm.view.angles[0] - left) < STAYS_RAD
            np.testing.assert_allclose(arm.view.angles[1:], RAISED[1:], atol=0.03)
            health.clear()
            peer.until(lambda: any("led by hand, compliant" in str(told) for told in health))

            assert led.call("/arm/e_stop") == "stopped"
            assert led.stands()
            assert abs(arm.view.angles[0] - left) < 2 * STAYS_RAD
            assert "the emergency stop" in led.comply(True).message
            led.call("/arm/release_e_stop")

            assert led.comply(True).success
            led.push()
            answer = led.comply(False)
            assert (answer.success, answer.message) == (True, "the arm holds")
            assert led.stands()

            assert led.comply(True).success
            led.push()
            (loop,) = map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
            # Without the loop nobody is left who could lead it out of the mode; the loop without its node does.
            os.kill(loop if killed == "its control process" else process.pid, signal.SIGKILL)
            assert led.stands()
            assert process.wait(30) != 0
            if killed == "the node":
                arm.ask("pushed 5")
                assert led.stands()
        assert "0 times disabled while raised" in arm.view.watch
