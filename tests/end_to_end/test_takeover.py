"""A person takes over from a running policy and hands back; it is recorded, marked and exported."""

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from emulated_piper import led_by_hand
from gamepad import KEYS, Gamepad
from geometry_msgs.msg import PoseStamped
from node_process import Peer
from robot import Robot, check_what_the_arm_saw
from stack import Stack

from kc_vla.cli import main
from kc_vla.datasets.exchange.export import export_bags
from kc_vla.datasets.exchange.origin import Origin
from kc_vla.datasets.lerobot.reader import DataSet
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode
from kc_vla.policy.model import load_policy
from kc_vla.ros import qos
from kc_vla_msgs.msg import ActionChunk

LED = np.array([0.08, -0.05, -0.05, 0.05, 0.05, 0.1])
"""How far a person moves the leader, rad: to where an arm can follow from each pose of the script."""
_GRIPPED_S = 2.0
"""For so long a person holds the button before anything is led, also on a busy machine."""


def only_bag(folder: Path) -> Path:
    (bag,) = [path.parent for path in folder.rglob("metadata.yaml")]
    return bag


@pytest.mark.nightly
def test_a_person_takes_over_moves_the_arm_hands_back_and_calls_it_a_success(tmp_path: Path) -> None:
    given = {"policy": "scripted", "takeover": "joy", "record": True}
    with Peer() as peer, Robot(tmp_path, given, peer) as robot:
        poses = peer.hear(PoseStamped, "/tool_pose", qos.STATE)
        gamepad = Gamepad(peer, robot)

        def height() -> float:
            return float(poses[-1].pose.position.z)

        robot.wait_for("keyframe 0 'start' confirmed")
        robot.wait_until_it_moves()
        gamepad.press_until(r"a person drives \(joy\)", KEYS.enable)
        peer.until(lambda: poses)
        begun = height()
        peer.until(lambda: gamepad.lift() or height() > begun + 0.05)
        gone = robot.position
        robot.wait_for("the arm holds: the chunk is used up", gone)  # nothing comes from the gamepad any more
        assert robot.stands()
        assert robot.find("the policy drives", gone) is None
        gamepad.press_until("the policy drives", KEYS.hand_back)
        robot.wait_until_it_moves()
        gamepad.press_until("a person called it a success", KEYS.success)
        assert robot.finish() == 0
        check_what_the_arm_saw(robot)
    episode = RecordedEpisode(only_bag(tmp_path / "runs"))
    assert episode.result is not None
    assert (episode.result.success, episode.result.judged) == (True, True)
    assert [(change.by_person, change.device) for change in episode.changes] == [(True, "joy"), (False, "joy")]
    backend_of = {chunk.sequence: chunk.backend for chunk in episode.chunks}
    moving = [backend_of[each.chunk_sequence] for each in episode.commands if each.mode is not CommandMode.HOLD]
    assert [backend for backend, _ in groupby(moving)] == ["scripted", "joy", "scripted"]
    done = export_bags([only_bag(tmp_path / "runs")], tmp_path / "data", origin=Origin.COMMITTED)
    columns = DataSet(done.folder).columns(0)
    driven = np.flatnonzero(columns["intervention"])
    assert (np.diff(driven) == 1).all()
    assert 10 < len(driven) < len(columns["intervention"]) - 10
    assert len(columns["action"][0]) == 7  # the policy's joints, also where the person moved the tool
    assert np.abs(np.diff(columns["action"][driven][:, :6], axis=0)).max() > 0.001


@pytest.mark.nightly  # its links: test_takeover.py of the package, test_teleop.py
def test_a_second_piper_leads_from_where_it_was_taken_over_and_the_policy_goes_on(tmp_path: Path) -> None:
    bus, there = tmp_path / "leader", np.radians([25.0, 60.0, -50.0, 5.0, 20.0, -10.0])
    given = {"policy": "scripted", "takeover": "leader", "leader": bus}
    with led_by_hand(bus, there, 0.04) as hand, Peer() as peer, Robot(tmp_path, given, peer) as robot:
        gamepad = Gamepad(peer, robot)
        robot.wait_until_it_moves()
        gamepad.press_until(r"a person drives \(leader\)", KEYS.enable)
        assert robot.stands()  # wherever the leader is
        taken = robot.angles()
        hand.set_target(there - LED, 0.04)
        assert robot.stands()  # the button is not held: the leader is only put elsewhere
        assert np.abs(robot.angles() - taken).max() < 0.02
        gamepad.hold(_GRIPPED_S)
        hand.set_target(there, 0.04)
        peer.until(lambda: gamepad.tell([KEYS.enable]) or np.abs(robot.angles() - taken - LED).max() < 0.02)
        gamepad.press_until("the policy drives", KEYS.hand_back)
        robot.wait_until_it_moves()
        robot.press_ctrl_c()
        assert robot.finish() == 0
        check_what_the_arm_saw(robot)


@pytest.mark.nightly
def test_in_the_simulator_a_person_takes_over_too(tmp_path: Path) -> None:
    with Peer() as peer, Stack(tmp_path, {"takeover": "joy", "report": "none"}) as stack:
        gamepad, chunks = Gamepad(peer, stack), peer.hear(ActionChunk, "/policy/chunk", qos.EVENT)
        peer.until(lambda: gamepad.tell([KEYS.enable]) or any(chunk.backend == "joy" for chunk in chunks))
        stack.wait_for(r"a person drives \(joy\)")
        gamepad.press_until("the policy drives", KEYS.hand_back)
        run = stack.first_episode()
        run.wait_for_result()
        bag = run.wait_for_bag()
        stack.finish()
    episode = RecordedEpisode(bag)
    assert [change.by_person for change in episode.changes] == [True, False]
    assert {chunk.backend for chunk in episode.chunks} == {"expert", "joy"}


@pytest.mark.nightly
def test_what_a_person_mended_teaches_the_policy_that_comes_with_the_stack(tmp_path: Path) -> None:
    given = {"policy": "learned", "takeover": "joy", "record": True, "report": "none", "episodes": 2}
    with Peer() as peer, Stack(tmp_path / "runs", given) as stack:
        gamepad, chunks = Gamepad(peer, stack), peer.hear(ActionChunk, "/policy/chunk", qos.EVENT)

        def mended() -> bool:
            gamepad.lift()
            return sum(chunk.backend == "joy" for chunk in chunks) > 30

        for run in (stack.first_episode, stack.running_episode):
            episode = run()
            gamepad.press_until(r"a person drives \(joy\)", KEYS.enable)
            chunks.clear()
            peer.until(mended)
            gamepad.press_until("the policy drives", KEYS.hand_back)
            episode.wait_for_result()
        stack.finish()  # whether it succeeds in this world of a cube and a lamp does not matter
    data, mine = tmp_path / "data", tmp_path / "models"
    assert main(["bag", "export", str(tmp_path / "runs"), "--output", str(data), "--keyframes", "committed"]) == 0
    words = ["--data", str(data), "--from-takeovers", "--init", "policy", "--set", "steps=2", "--set", "every=2"]
    words += ["--config", "models/policy/train.toml", "--output", str(tmp_path / "round2")]
    assert main(["train", "policy", *words]) == 0
    assert main(["export", "policy", str(tmp_path / "round2"), "--models", str(mine), "--name", "round2"]) == 0
    assert load_policy(mine, "round2").robot == "panda_sim"
    again = {"policy": "learned", "policy_models": mine, "policy_model": "round2", "report": "none"}
    with Stack(tmp_path / "again", again) as stack:
        stack.first_episode().wait_for_result()
        stack.finish()
