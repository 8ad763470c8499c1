"""The bridge as a process of its own: what it cannot start with, and a reset that is asked for again."""

from __future__ import annotations

from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from node_process import Peer, running
from std_srvs.srv import Trigger

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.health import CANNOT_ACT, CANNOT_SELECT
from kc_vla_msgs.msg import EpisodeResult, EpisodeStatus
from kc_vla_msgs.srv import ResetSimulation

BRIDGE = "kc_vla_sim.nodes.maniskill_bridge"
CANNOT_START = 2


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"image_size": 0}, "parameter 'image_size' is 0: allowed is"),
        ({"simulator": "abacus"}, "parameter 'simulator': no simulator 'abacus': there are maniskill, toy "),
        ({"simulator": "maniskill"}, "no usable Vulkan driver: run ./setup.sh"),
    ],
    ids=str,
)
def test_it_says_why_it_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parameters: dict[str, object], line: str
) -> None:
    for name in ("VK_ICD_FILENAMES", "VK_DRIVER_FILES"):
        monkeypatch.setenv(name, str(tmp_path / "no_driver.json"))
    with running(BRIDGE, tmp_path / "log", **parameters) as process:
        assert process.wait(60) == CANNOT_START
    said = (tmp_path / "log").read_text()
    assert line in said
    assert "Traceback" not in said


def test_a_reset_that_is_asked_for_twice_is_one_episode(tmp_path: Path) -> None:
    """An answer that the middleware drops is asked for again."""
    with Peer() as peer, running(BRIDGE, tmp_path / "log", simulator="toy", image_size=16):

        def reset(request_id: str) -> str:
            request = ResetSimulation.Request(task="counting", seed=5, request_id=request_id)
            return str(peer.call(ResetSimulation, "/simulator/reset", request).episode_id)

        first = reset("a")
        assert first.startswith("counting-000005-")
        assert reset("a") == first
        second = reset("b")
        assert second != first
        assert reset("") not in (first, second)


@pytest.mark.parametrize("refusal", [CANNOT_SELECT, CANNOT_ACT])
def test_an_episode_that_nobody_can_remember_or_act_in_ends_at_once_and_says_why(tmp_path: Path, refusal: str) -> None:
    with Peer() as peer, running(BRIDGE, tmp_path / "log", simulator="toy", image_size=16):
        results = peer.hear(EpisodeResult, topics.EPISODE_RESULT, qos.STATUS)
        diagnostics = peer.node.create_publisher(DiagnosticArray, topics.DIAGNOSTICS, qos.EVENT)
        request = ResetSimulation.Request(task="counting", seed=5, request_id="a")  # asked again, it is one episode
        episode_id = peer.call(ResetSimulation, "/simulator/reset", request).episode_id

        def told(episode: str) -> DiagnosticArray:
            values = [KeyValue(key=refusal, value=episode)]
            status = DiagnosticStatus(name="keyframe_selector", message="the model does not know it", values=values)
            return DiagnosticArray(status=[status])

        def refuse() -> bool:
            diagnostics.publish(told("of another episode"))
            diagnostics.publish(told(episode_id))
            return bool(results)

        peer.until(refuse)
        assert (results[0].episode_id, results[0].success) == (episode_id, False)
        assert results[0].reason == "the model does not know it"


def test_a_client_ends_an_episode_without_a_script_and_no_stage_of_the_task_counts(tmp_path: Path) -> None:
    parameters = {"simulator": "toy", "image_size": 16, "script": False, "instruction": "put the egg away"}
    with Peer() as peer, running(BRIDGE, tmp_path / "log", **parameters):
        statuses = peer.hear(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        results = peer.hear(EpisodeResult, topics.EPISODE_RESULT, qos.STATUS)
        assert not peer.call(Trigger, topics.END_EPISODE, Trigger.Request()).success
        peer.call(ResetSimulation, "/simulator/reset", ResetSimulation.Request(task="counting", request_id="a"))
        assert peer.call(Trigger, topics.END_EPISODE, Trigger.Request()).success
        peer.until(lambda: results)
        assert (results[0].reason, list(results[0].stages), results[0].success) == ("a client ended it", [], False)
        assert statuses[0].instruction == "put the egg away"
