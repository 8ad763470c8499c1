"""The graph around an arm and cameras that drivers of others run: it moves as told, and holds whatever they say."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from foreign import ForeignRobotProcess, foreign_cameras
from foreign_cameras import BLUE, DISTANCES, RED
from foreign_graph import SAW, ForeignGraph
from nightly import at_night
from node_process import Peer

from kc_vla.bags.images import decode_image
from kc_vla.bags.reader import BagReader
from kc_vla.core.robot import load_robot
from kc_vla.media.images import depth_metres


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForeignGraph]:
    """An arm behind a JointTrajectoryController; whatever the tests did, it was never told a leap."""
    folder = tmp_path_factory.mktemp("foreign")
    with (
        Peer() as peer,
        foreign_cameras(),
        ForeignRobotProcess("joint_trajectory", folder / "robot.log") as foreign,
        ForeignGraph(folder, "ur5e_ros", peer, foreign, record=True) as graph,
    ):
        graph.begin()
        yield graph
        graph.press_ctrl_c()
        assert graph.finish() == 0, graph.tail()
        assert "the arm stands where it is, and its own driver holds it" in graph.text.splitlines()[-1]
        saw = SAW.search(foreign.end())
        assert saw
        assert int(saw["commands"]) > 200
        assert float(saw["step"]) < 10 * np.degrees(1.0 / 50.0)  # some may have been lost on a busy machine
        check_bag(folder / "runs")


@pytest.fixture
def graph(launched: ForeignGraph) -> Iterator[ForeignGraph]:
    """The same, well again after each test, also after one that has failed."""
    yield launched
    launched.ask_for("none")
    launched.call("/arm/release_e_stop")
    launched.resume_in_the_end()


def check_bag(runs: Path) -> None:
    """It has our joint states by our name, pictures in RGB, and the depth as it was measured."""
    (bag,) = [path.parent for path in runs.rglob("metadata.yaml")]
    reader = BagReader(bag)
    robot = load_robot("ur5e_ros")
    states = [reader.decode(message) for message in reader.messages(["/joint_states"])]
    assert {tuple(state.name) for state in states} == {robot.names}
    assert all(state.header.frame_id == "base" for state in states)
    for view, colour in (("third_person", RED), ("wrist", BLUE)):
        pictures = [reader.decode(message) for message in reader.messages([f"/{view}/image_raw"])]
        assert {picture.encoding for picture in pictures} == {"rgb8"}
        assert {picture.header.frame_id for picture in pictures} == {robot.cameras[view]}
        seen = decode_image(pictures[-1], view).reshape(-1, 3)
        assert np.abs(seen.astype(int) - colour).max() < 6
    lenses = [reader.decode(message) for message in reader.messages(["/third_person/camera_info"])]
    assert {lens.k[0] for lens in lenses[-5:]} == {60.0}
    depths = [reader.decode(message) for message in reader.messages(["/third_person/depth/image"])]
    assert depths
    for depth in depths:
        np.testing.assert_array_equal(np.frombuffer(depth.data, "<u2"), DISTANCES)
    assert np.nanmax(depth_metres(depths[0])) == pytest.approx(DISTANCES.max() / 1e3)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("nan", "joint states on /joint_states give nan for"),
        # what is left to the night is told apart in test_joint_intake.py, or blocks the arm in test_foreign_session.py
        *at_night(
            ("silent", "nothing comes on /joint_states: does its driver run"),
            ("renamed", "joint states on /joint_states name other_"),
            ("leapt", "'shoulder_pan_joint' is told to have leapt by"),
            (
                "deaf",
                "nobody listens on /scaled_joint_trajectory_controller/joint_trajectory: is its controller active",
            ),
            ("stuck", "degrees from where it was sent"),
        ),
    ],
)
def test_a_fault_of_the_driver_blocks_the_arm_until_a_person_resumes(
    graph: ForeignGraph, fault: str, words: str
) -> None:
    begun = graph.position
    graph.ask_for(fault)
    graph.wait_for(f"the arm is blocked until arm/resume is called: .*({words})", begun)
    if fault in ("silent", "nan", "renamed"):
        assert "not enabled: nothing has come from the arm" in graph.call("/arm/resume")
    if fault != "stuck":  # what it was told goes back to where it is
        graph.ask_for("none")
    assert graph.stands()
    graph.ask_for("none")
    if fault == "leapt":  # back where it was all the time, it has leapt once more, and may have to be steady first
        graph.resume_in_the_end()
    else:
        assert "the arm moves again" in graph.call("/arm/resume")
    graph.wait_until_it_moves()


def test_an_emergency_stop_holds_the_arm_until_it_is_released(graph: ForeignGraph) -> None:
    begun = graph.position
    assert "stopped" in graph.call("/arm/e_stop")
    graph.wait_for("the arm holds: emergency stop", begun)
    assert graph.stands()
    assert "released" in graph.call("/arm/release_e_stop")
    graph.wait_until_it_moves()


@pytest.mark.nightly
def test_a_controller_that_was_killed_finds_the_arm_held_and_waits_for_a_person(graph: ForeignGraph) -> None:
    begun = graph.position
    os.kill(graph.pid("arm_controller"), signal.SIGKILL)
    graph.wait_for("the arm was found with power", begun)
    assert graph.stands()
    assert "released" in graph.call("/arm/release_e_stop")
    assert "the arm moves again" in graph.call("/arm/resume")
    graph.wait_until_it_moves()
