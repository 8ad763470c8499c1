"""An episode with each kind of driver of others, from its start to its end in order."""

from pathlib import Path

import pytest
from foreign import ForeignRobotProcess, foreign_cameras
from foreign_graph import SAW, ForeignGraph
from node_process import Peer
from robot import Robot


@pytest.mark.parametrize(
    ("kind", "rig"),
    [("joint_state", "piper_ros"), pytest.param("forward_command", "six_axis_ros", marks=pytest.mark.nightly)],
)
def test_an_episode_runs_with_other_drivers_and_is_ended_in_order(tmp_path: Path, kind: str, rig: str) -> None:
    with (
        Peer() as peer,
        foreign_cameras(),
        ForeignRobotProcess(kind, tmp_path / "robot.log") as foreign,
        ForeignGraph(tmp_path, rig, peer, foreign, record=False) as graph,
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


def test_a_rig_that_does_not_say_how_it_is_moved_is_refused_before_anything_starts(tmp_path: Path) -> None:
    given = {"arm": "ros", "rig": "piper"}
    with Peer() as peer, Robot(tmp_path, given, peer) as graph:
        assert graph.finish() == 1
        assert "the rig 'piper' does not say how others' drivers move it" in graph.text
        assert "process started" not in graph.text


def test_a_real_arm_does_not_move_by_what_nobody_has_named(tmp_path: Path) -> None:
    given = {"arm": "ros", "rig": "ur5e_ros"}
    with Peer() as peer, Robot(tmp_path, given, peer) as graph:
        assert graph.finish() == 1
        assert "a real arm moves by what is named alone: add policy:=joy (a person), " in graph.text
        assert "process started" not in graph.text
