"""A policy for one's own robot, from end to end: move the arm, record, annotate, train, let it act on the Piper."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from gamepad import Gamepad
from node_process import Peer
from robot import Robot, check_what_the_arm_saw

from kc_vla.core.tasks import TASKS
from kc_vla.episodes.annotation_log import CONFIRMED, AnnotationLog, Mark
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode
from kc_vla.ros import qos
from kc_vla_msgs.msg import ActionChunk

SMALL = ["image_size=32", "init=scratch", "channels=8", "steps=40", "every=40", "batch=16"]


def kc_vla(*words: object) -> None:
    """Run a command, which must succeed."""
    done = subprocess.run([sys.executable, "-m", "kc_vla.cli", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"


def annotate(bag: Path, keyframes: Sequence[tuple[int, int]]) -> None:
    """Confirm keyframes, frame and stamp of each, as the page does."""
    labels = TASKS["counting"].keyframes
    marks = [Mark(frame, stamp, k, labels[k], "person", 1.0) for k, (frame, stamp) in enumerate(keyframes)]
    AnnotationLog(bag).append("ann", 0, CONFIRMED, marks, "confirmed")


def by_gamepad(robot: Robot, peer: Peer) -> None:
    """A person lifts the arm."""
    gamepad, begun = Gamepad(peer, robot), robot.angles()

    def lifted() -> bool:
        gamepad.lift()
        return bool(abs(robot.states[-1].position[1] - begun[1]) > 0.3) if robot.states else False

    peer.until(lifted)


def by_script(robot: Robot, peer: Peer) -> None:
    """The arm goes through its poses for a while."""
    robot.wait_until_it_moves()


@pytest.mark.nightly  # its links: test_teleop.py, test_exchange_export.py, test_policy_demonstrations.py
@pytest.mark.parametrize(
    ("policy", "move", "mode"),
    [("joy", by_gamepad, CommandMode.TOOL_DELTA), ("scripted", by_script, CommandMode.JOINT_POSITION)],
    ids=["tool deltas", "joint positions"],
)
def test_a_policy_learns_from_a_person_and_moves_the_arm(
    tmp_path: Path, policy: str, move: Callable[[Robot, Peer], None], mode: CommandMode
) -> None:
    bags = tmp_path / "bags"
    for number in range(2):
        folder = bags / f"e{number}"
        with Peer() as peer, Robot(folder, {"policy": policy, "record": True}, peer) as robot:
            robot.wait_for("keyframe 0 'start' confirmed")
            move(robot, peer)
            robot.press_ctrl_c()
            assert robot.finish() == 0
        (bag,) = [path.parent for path in folder.rglob("metadata.yaml")]
        recorded = RecordedEpisode(bag)
        assert any(command.mode is mode for command in recorded.commands)
        stamps = [frame.stamp_ns for frame in recorded.frames]
        annotate(bag, [(0, stamps[0]), (len(stamps) // 2, stamps[len(stamps) // 2])])
    kc_vla("bag", "export", bags, "--output", tmp_path / "data")
    settings = [word for setting in SMALL for word in ("--set", setting)]
    kc_vla("train", "policy", "--data", tmp_path / "data", "--output", tmp_path / "run", *settings)
    kc_vla("export", "policy", tmp_path / "run", "--models", tmp_path / "models")
    learned = {"policy": "learned", "policy_models": tmp_path / "models", "record": True}
    with Peer() as peer, Robot(tmp_path / "acts", learned, peer) as robot:
        chunks = peer.hear(ActionChunk, "/policy/chunk", qos.EVENT)
        peer.until(lambda: len(chunks) > 20)
        robot.press_ctrl_c()
        assert robot.finish() == 0
        check_what_the_arm_saw(robot)
    (bag,) = [path.parent for path in (tmp_path / "acts").rglob("metadata.yaml")]
    acted = RecordedEpisode(bag)
    assert sum(command.mode is mode for command in acted.commands) > 10
    assert {chunk.backend for chunk in acted.chunks} == {"learned"}
