"""An episode with each kind of driver of others, from its start to its end in order."""

from pathlib import Path

import pytest
from foreign import ForeignRobotProcess, foreign_cameras
from foreign_graph import SAW, ForeignGraph
from node_process import Peer
from robot import Robot


@pytest.mark.nightly  # test_foreign_robot.py drives one in the suite
@pytest.mark.parametrize(
    ("kind", "robot"),
    [("joint_state", "piper_ros"), ("forward_command", "six_axis_ros")],
)
def test_an_episode_runs_with_other_drivers_and_is_ended_in_order(tmp_path: Path, kind: str, robot: str) -> None:
    with (
        Peer() as peer,
        foreign_cameras(),
        ForeignRobotProcess(kind, tmp_path / "robot.log") as foreign,
        ForeignGraph(tmp_path, robot, peer, foreign, record=False) as graph,
    ):
        graph.begin()
        graph.press_ctrl_c()
        assert graph.finish() == 0, graph.tail()
        parked = kind == "joint_state"
        last = "the arm is parked, and its driver was told" if parked else "the arm stands where it is, and its own"
        assert last in graph.text.splitlines()[-1]
        told = foreign.end()
    saw = SAW.search(told)
    assert saw, told
    assert saw["power"] == ("off" if parked else "on")
    assert "fell" not in told


@pytest.mark.parametrize(
    ("robot", "told"),
    [
        ("piper", "driver 'ros' of robot 'piper', whose file has the driver 'piper': option 'kind' is missing"),
        ("ur5e_ros", "a real arm moves by what is named alone: add policy:=joy (a person), "),
    ],
    ids=["a robot that does not say how it is moved", "nobody has named what moves it"],
)
def test_an_arm_of_others_is_refused_before_anything_starts(tmp_path: Path, robot: str, told: str) -> None:
    with Peer() as peer, Robot(tmp_path, {"arm": "ros", "robot": robot}, peer) as graph:
        assert graph.finish() == 1
        assert told in graph.text
        assert "process started" not in graph.text
