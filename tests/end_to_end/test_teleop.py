"""A person moves the emulated Piper: with a gamepad, and with a second Piper led by hand; the episode is recorded."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from emulated_piper import led_by_hand
from gamepad import Gamepad
from geometry_msgs.msg import PoseStamped
from node_process import Peer
from robot import Robot

from kc_vla.datasets.exchange.rows import read_rows
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode
from kc_vla.ros import qos


@pytest.mark.nightly  # test_takeover.py drives with one in the suite
def test_a_gamepad_lifts_the_arm_and_lets_go_of_it_and_the_episode_can_be_annotated(tmp_path: Path) -> None:
    with Peer() as peer, Robot(tmp_path, {"policy": "joy", "record": True}, peer) as robot:
        poses = peer.hear(PoseStamped, "/tool_pose", qos.STATE)
        gamepad = Gamepad(peer, robot)

        def height() -> float:
            return float(poses[-1].pose.position.z)

        def lifted(begun: list[float]) -> Callable[[], bool]:
            def look() -> bool:
                gamepad.lift()
                return bool(poses) and height() > begun[0] + 0.1

            return look

        robot.wait_for("keyframe 0 'start' confirmed")
        peer.until(lambda: poses)
        peer.until(lifted([height()]))
        let_go = robot.position
        robot.wait_for("the arm holds: the chunk is used up", let_go)
        assert robot.stands()
        robot.call("/arm/e_stop")
        assert "released" in robot.call("/arm/release_e_stop")
        robot.press_ctrl_c()
        assert robot.finish() == 0
    (bag,) = [path.parent for path in (tmp_path / "runs").rglob("metadata.yaml")]
    episode = RecordedEpisode(bag)
    assert episode.result is not None
    assert "interrupted" in episode.result.reason
    assert not episode.result.judged  # which no report calls a failure
    assert episode.result.duration_s > 1.0
    assert len(episode.keyframes) >= 1
    assert len(episode.frames) > 20
    seen_by_both = [frame for frame in episode.frames if "wrist" in frame.pictures]
    assert len(seen_by_both) > 0.8 * len(episode.frames)  # pictures that nobody waits for may be lost on a busy machine
    assert episode.message_counts["/joint_states"] > 100
    # the recorder heard the robot from the first on
    assert not any("left out" in note for note in read_rows(bag).notes)
    assert episode.message_counts["/joy"] > 0
    # an answer that was lost is asked for again, and then said again
    assert episode.message_counts["/arm/stopped"] >= len(["at first", "stopped", "released"])
    assert any(command.mode is CommandMode.TOOL_DELTA for command in episode.commands)


@pytest.mark.nightly
def test_an_arm_follows_another_that_is_led_by_hand(tmp_path: Path) -> None:
    bus = tmp_path / "leader"
    there = np.radians([25.0, 60.0, -50.0, 5.0, 20.0, -10.0])
    with led_by_hand(bus, there, 0.04) as hand, Peer() as peer:
        unknown = {"instruction": "Put the salt into the pot."}  # what nothing has learnt yet can be shown to it
        with Robot(tmp_path, {"policy": "leader", "leader": bus, **unknown}, peer) as robot:
            robot.wait_for("no keyframes in this episode")
            peer.until(lambda: np.abs(robot.angles() - there).max() < 0.02)
            hand.set_target(there + 0.1, 0.04)
            peer.until(lambda: np.abs(robot.angles() - there - 0.1).max() < 0.02)
            gone = robot.position
        assert robot.find("the arm is blocked", gone) is None
