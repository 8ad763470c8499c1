"""ROS's clock jumps, forth and back, while a Piper moves: the arm holds or goes on, and never jumps along."""

import time
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from jumping_clock import JumpingClock, by_the_clock, told
from node_process import Peer
from robot import Robot, check_what_the_arm_saw

from kc_vla.core import topics
from kc_vla.ros import qos


@pytest.mark.nightly
def test_the_arm_does_not_jump_along(tmp_path: Path) -> None:
    clock = JumpingClock()
    with Peer() as peer, told(clock, peer), Robot(tmp_path, by_the_clock(tmp_path), peer) as robot:
        robot.wait_for("keyframe 0 'start' confirmed")
        robot.wait_until_it_moves()
        begun = robot.position
        clock.ahead += 20.0  # the chunk that runs is of the past at once
        robot.wait_for("the arm holds", begun)
        robot.wait_for("the arm moves again", begun)
        robot.wait_until_it_moves()
        assert robot.find("the clock went back") is None
        clock.ahead -= 10.0  # what lies in the past now was done already: nothing is done until it is over
        heard = peer.hear(DiagnosticArray, topics.DIAGNOSTICS, qos.EVENT)
        peer.until(lambda: any("the clock went back" in status.message for m in heard for status in m.status))
        time.sleep(2.0)  # it is still on its way to the last target, which twenty seconds of the script are away
        assert robot.stands()
        robot.wait_until_it_moves()
        robot.press_ctrl_c()
        assert robot.finish() == 0
        check_what_the_arm_saw(robot)
