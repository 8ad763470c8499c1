"""The graph around an arm and cameras that drivers of others run, as a test starts it."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from kc_vla.core.share import share
from tests.support.foreign import ForeignRobotProcess
from tests.support.foreign_cameras import COLOUR, DEPTH, INFO, JPEG
from tests.support.node_process import Peer
from tests.support.robot import Robot

SCRIPTS = {
    "ur5e_ros": [[17, -86, 80, -80, -86, 11], [35, -80, 70, -70, -86, 30], [0, -90, 85, -85, -80, 0]],
    "piper_ros": [[0, 60, -50, 0, 30, 0], [30, 70, -60, 0, 30, 20], [-30, 70, -60, 0, 30, -20]],
    "six_axis_ros": [[11, 6, 17, 0, 29, 0], [30, 0, 10, 10, 35, 20], [-20, 0, 20, -10, 30, -20]],
}
SAW = re.compile(
    r"saw: (?P<commands>\d+) commands, 0 refused, largest step (?P<step>[\d.]+) degrees, power (?P<power>\w+)"
)


def arguments(robot: str, folder: Path) -> dict[str, object]:
    """A script of poses of that arm, and cameras by their topics."""
    poses = [{"joints": pose, "gripper": 0.03, "seconds": 2.0} for pose in SCRIPTS[robot]]
    script, cameras = folder / "script.yaml", folder / "cameras.yaml"
    script.write_text(yaml.safe_dump(poses))
    views = {
        "third_person": {"topic": COLOUR, "info": INFO, "depth": DEPTH, "fps": 20.0},
        "wrist": {"topic": JPEG, "fps": 20.0},
    }
    cameras.write_text(yaml.safe_dump(views))
    content = yaml.safe_load((share("robots") / f"{robot}.yaml").read_text())
    content["driver"]["stale_after"] = 1.5  # s: a busy machine lets a process wait for long
    mine = folder / f"{robot}.yaml"
    mine.write_text(yaml.safe_dump(content, sort_keys=False))
    given = {"arm": "ros", "robot": mine, "cameras": cameras, "selector": "rules"}
    return {**given, "policy": "scripted", "script": script}


class ForeignGraph(Robot):
    """The graph and the driver beside it."""

    def __init__(self, folder: Path, robot: str, peer: Peer, foreign: ForeignRobotProcess, record: bool) -> None:
        self.foreign = foreign
        given = {**arguments(robot, folder), "record": record}
        super().__init__(folder, given, peer, states="/kc_vla/joint_states", driver="/foreign_robot")

    def begin(self) -> None:
        """A person has looked, and lets it move."""
        self.wait_for("the arm was found with power: look at it, then call arm/resume")
        self.wait_for("keyframe 0 'start' confirmed")
        assert "the arm moves again" in self.call("/arm/resume")
        self.wait_until_it_moves()
