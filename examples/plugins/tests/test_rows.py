"""A policy, a selector, a detector and a simulator of another package, chosen by name with options of their own."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from plugin import install

from kc_vla.arm.wiring import Wiring
from kc_vla.core.episode import Episode
from kc_vla.core.robot import load_robot
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import FrameToScore, LiveSelector
from kc_vla.keyframes.scoring import ScorerInput, SourceError
from kc_vla.keyframes.selectors import SELECTORS, open_selector
from kc_vla.launching.detector import detector_arguments
from kc_vla.launching.policies import policy_argument, selector_argument
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detectors import DETECTORS, DetectorError, open_detector
from kc_vla.policy.backends import BACKENDS, PolicyContext, open_backend
from kc_vla.policy.interface import Backend, PolicyError, PolicyInput
from kc_vla_sim.errors import SimulationError
from kc_vla_sim.simulators import SIMULATORS, SimulatorContext, open_simulator

PACKAGE = Path(__file__).parents[1]
ROWS = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["entry-points"]
EPISODE = Episode("e", "counting", "push", 0, 50_000_000, running=True)
ROBOT = load_robot("piper")


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PACKAGE))
    for group, rows in ROWS.items():
        install(tmp_path / group, monkeypatch, group, rows, _package(group))


def _package(group: str) -> str:
    """A name for the rows of one table: a name counts once on the path."""
    return group.replace(".", "_")


def test_the_package_has_a_row_of_each_table_but_arms() -> None:
    tables = {BACKENDS.group, SELECTORS.group, DETECTORS.group, SIMULATORS.group, "kc_vla.replacement"}
    assert set(ROWS) == tables


@pytest.mark.parametrize("graph", ["maniskill", "piper", "replay"])
def test_the_launch_files_offer_them(graph: str) -> None:
    assert "still: holds still" in policy_argument(graph, "learned").description
    assert "every: every n-th frame" in selector_argument(graph)[1].description


@pytest.mark.parametrize("graph", ["maniskill", "piper"])
def test_the_launch_files_offer_the_detector(graph: str) -> None:
    assert "colored: things of one color" in detector_arguments(graph, "none")[0].description


def test_the_detector_finds_each_patch_of_its_color() -> None:
    image = np.full((60, 80, 3), 120, np.uint8)
    image[10:20, 10:30] = image[40:55, 50:60] = (210, 20, 40)
    image[5, 70] = (210, 20, 40)
    frame = CameraFrame("wrist", 1, image, np.diag([60.0, 60.0, 1.0]), np.eye(4))
    found = open_detector("colored", {"object_type": "mug"}).detect(frame)
    assert [(each.object_type, tuple(each.box)) for each in found] == [
        ("mug", (10.0, 10.0, 30.0, 20.0)),
        ("mug", (50.0, 40.0, 60.0, 55.0)),
    ]


def held(policy: Backend, joint: float) -> float:
    """Where the first joint is to be, when it is there."""
    state = np.full(len(policy.names), joint)
    chunk = policy.infer(PolicyInput(0, {}, [], state, "", np.empty((0, 0), np.float32)))
    assert chunk.shape == (16, len(ROBOT.columns))
    assert (chunk == chunk[0, 0]).all()
    return float(chunk[0, 0])


@pytest.mark.parametrize(("options", "places"), [({}, [0.5, 0.5, 0.25]), ({"follow": True}, [0.5, 0.75, 0.25])])
def test_the_policy_holds_still(options: dict[str, object], places: list[float]) -> None:
    policy = open_backend("still", PolicyContext(ROBOT, 16), options)
    policy.reset(EPISODE)
    found = [held(policy, 0.5), held(policy, 0.75)]
    policy.reset(EPISODE)
    assert [*found, held(policy, 0.25)] == places


def test_the_selector_keeps_every_nth_frame() -> None:
    selector = LiveSelector(open_selector("every", {"every": 10}), window_frames=3)
    selector.begin(EPISODE)
    views = {"third_person": np.zeros((4, 4, 3), np.uint8)}
    kept = {0}
    for frame in range(45):
        found = selector.take(FrameToScore(frame, ScorerInput(frame, views), -1.0, Start()))
        assert found is not None
        kept |= {event.frame for event in found.events}
    assert kept == {0, 10, 20, 30, 40}


def test_the_simulator_has_noise_which_the_seed_decides() -> None:
    simulator = open_simulator("noisy", SimulatorContext(image_size=16), shared={"noise": 5.0, "variant": "paper"})
    toy = open_simulator("toy", SimulatorContext(image_size=16))
    first, again, plain = (each.reset("counting", 3) for each in (simulator, simulator, toy))
    for view, image in plain.views.items():
        np.testing.assert_array_equal(first.views[view], again.views[view])
        assert 1.0 < np.abs(first.views[view].astype(float) - image).mean() < 8.0
    assert simulator.hold().index == 1


def test_what_they_cannot_have_is_said_in_a_line() -> None:
    with pytest.raises(PolicyError, match="policy 'still': there is no option 'folow': did you mean 'follow'"):
        open_backend("still", PolicyContext(ROBOT, 16), {"folow": True})
    with pytest.raises(SourceError, match=r"keyframe selector 'every': option 'every' is 0: allowed is 1\.\.10000"):
        open_selector("every", {"every": 0})
    with pytest.raises(DetectorError, match="object detector 'colored': option 'color' must be three numbers"):
        open_detector("colored", {"color": [1.0]})
    with pytest.raises(SimulationError, match=r"simulator 'noisy': option 'noise' is -1\.0: allowed is 0\.\.255"):
        open_simulator("noisy", SimulatorContext(), {"noise": -1.0})


def test_a_broken_package_hides_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, table in enumerate((BACKENDS, SELECTORS, SIMULATORS, DETECTORS)):
        install(
            tmp_path / "b" / table.group, monkeypatch, table.group, {"broken": "no_such_module:ROW"}, f"torn_{number}"
        )
        assert {each.name for each in table.rows() if each.error} == {"broken"}
    assert {"still", "learned", "broken"} <= set(policy_argument("piper", "learned").choices)
    why = "'broken' of package 'torn_[0123]' cannot be loaded"
    with pytest.raises(PolicyError, match=why):
        open_backend("broken", PolicyContext(ROBOT, 16))
    with pytest.raises(SourceError, match=why):
        open_selector("broken")
    with pytest.raises(SimulationError, match=why):
        open_simulator("broken", SimulatorContext())
    with pytest.raises(DetectorError, match=why):
        open_detector("broken")
    assert open_backend("still", PolicyContext(ROBOT, 16)).name == "still"


def test_the_robot_of_a_context_is_read_by_its_former_name(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KC_VLA_DEPRECATIONS_SAID", raising=False)
    for context in (PolicyContext(ROBOT, 16), SimulatorContext(ROBOT), Wiring("piper", ROBOT)):
        assert context.robot is context.rig is ROBOT
    assert capfd.readouterr().err.splitlines() == [
        f"deprecated: the attribute rig of a {kind} is called robot"
        for kind in ("PolicyContext", "SimulatorContext", "Wiring")
    ]
