"""Episodes with the policy on a server of somebody else's protocol, over real sockets, and with all that can fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from finished_run import FinishedRun, assert_policy_was_given_every_keyframe, assert_succeeded
from node_process import Peer
from policy_doubles import Double, double
from robot import Robot, check_what_the_arm_saw
from stack import Stack

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode

IMPATIENT = "policy_server: {ros__parameters: {wait_timeout: 2.0}}\n"
MOODS = {
    "nan": "numbers that are not finite",
    "wide": r"has \d columns: the mapping has",
    "far": "asks for 5.* of translation along an axis",
    "garbage": "is no MessagePack",
    "oversize": "too large|more than 67 MB",
    "text": "tells an error: KeyError",
    "empty": "there is no (actions|position)",
    "slow 3": "has not answered",
}


def finished(launch: Callable[..., Stack], server: Double, wire: str, **arguments: object) -> FinishedRun:
    """An episode of the toy robot with that server."""
    given = {"policy": wire, "server": server.server, "seed": 3, "report": "summary", **arguments}
    run = FinishedRun.of(launch(**given))
    assert run.exit_code == 0
    assert_succeeded(run.episode)
    return run


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("wire", "options", "arguments"),
    [
        pytest.param("openpi", ("--memory", "--keeps"), {}, id="openpi"),
        # the others' wires are tried without a stack by test_remote_servers.py
        pytest.param("groot", (), {}, id="groot-n1.6", marks=pytest.mark.nightly),
        pytest.param("groot", ("--dialect", "n1.5"), {}, id="groot-n1.5", marks=pytest.mark.nightly),
        pytest.param(
            "groot", ("--dialect", "kc-vla"), {"dialect": "kc-vla"}, id="groot-kc-vla", marks=pytest.mark.nightly
        ),
    ],
)
def test_a_server_that_is_shown_the_keyframes_acts_on_them(
    launch: Callable[..., Stack], tmp_path: Path, wire: str, options: tuple[str, ...], arguments: dict[str, str]
) -> None:
    with double(tmp_path / "server", wire, *options) as server:
        run = finished(launch, server, wire, **arguments)
        requests = [request for request in server.requests if "shown" in request]
    assert_policy_was_given_every_keyframe(run.episode)
    shown = [request["shown"] for request in requests]
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (0, 5)
    assert all(chunk.backend == wire for chunk in run.episode.chunks)
    times = run.summary["latency_ms"]["policy_server"]
    assert times["round_trip"]["count"] == times["predict"]["count"] > 0
    if wire == "openpi":
        assert times["server"]["p50"] <= times["round_trip"]["p50"] <= times["predict"]["p50"]
        assert sum(request["new"] for request in requests) == 5  # each keyframe crosses the wire once


@pytest.mark.nightly  # the suite has one whose answer depends on what it was shown
@pytest.mark.parametrize("wire", ["openpi", "groot"])
def test_a_server_that_plays_recorded_actions_moves_the_arm_as_they_say(
    launch: Callable[..., Stack], toy_run: FinishedRun, tmp_path: Path, wire: str
) -> None:
    recorded = toy_run.actions
    actions = np.stack([recorded[step] for step in sorted(recorded)])
    np.save(tmp_path / "actions.npy", actions)
    with double(tmp_path / "server", wire, "--actions", str(tmp_path / "actions.npy"), "--moments", "1") as server:
        played = finished(launch, server, wire).actions
    found = np.stack([played[step] for step in sorted(played)])
    assert np.allclose(found[: len(actions)], actions[: len(found)], atol=1e-5)


@pytest.mark.nightly  # each mood without a stack: test_remote_servers.py
@pytest.mark.parametrize("wire", ["openpi", "groot"])
def test_whatever_the_server_does_the_simulator_waits_the_stack_says_why_and_goes_on(
    launch: Callable[..., Stack], tmp_path: Path, wire: str
) -> None:
    params = tmp_path / "params.yaml"
    params.write_text(IMPATIENT)
    with double(tmp_path / "server", wire, *(("--memory", "--keeps") if wire == "openpi" else ())) as server:
        stack = launch(policy=wire, server=server.server, seed=3, report="none", params=params)
        episode = stack.first_episode()
        episode.wait_for("keyframe 1 .* confirmed")
        for mood, told in MOODS.items():
            since = stack.position
            server.be(mood)
            stack.wait_for(told, since)
            server.be("good")
        since = stack.position
        server.hang(True)
        stack.wait_for("has not answered|does not take the connection|cannot be reached", since)
        server.hang(False)
        since = stack.position
        server.kill()
        stack.wait_for("cannot be reached", since)
        server.start("--token", "new")
        stack.wait_for("wrong key|wants a token, and this is not it", since)
        server.kill()
        server.start()
        assert episode.wait_for_result() == "succeeded", stack.tail()
        bag = RecordedEpisode(episode.wait_for_bag())
        assert stack.finish() == 0
    assert "Traceback" not in stack.text
    assert_succeeded(bag)
    assert_nothing_wrong_was_done(bag)


@pytest.mark.nightly  # its links: test_remote_servers.py, test_nodes_arm.py
def test_an_arm_that_does_not_wait_holds_while_the_server_hangs_and_moves_again(
    launch: Callable[..., Stack], tmp_path: Path
) -> None:
    with double(tmp_path / "server", "openpi", "--memory", "--keeps") as server:
        stack = launch(policy="openpi", server=server.server, seed=3, report="none", mode="realtime")
        episode = stack.first_episode()
        episode.wait_for("keyframe 0 .* confirmed")
        server.hang(True)
        stack.wait_for("the arm holds")
        since = stack.position
        server.hang(False)
        stack.wait_for("the arm moves again", since)
        episode.wait_for_result()
        bag = RecordedEpisode(episode.wait_for_bag())
        stack.finish()
    assert any(command.mode == CommandMode.HOLD for command in bag.commands)
    assert_nothing_wrong_was_done(bag)


@pytest.mark.nightly  # its links: test_remote_servers.py, test_remote_mapping.py
def test_a_piper_is_led_by_a_server_and_holds_without_it(tmp_path: Path) -> None:
    pose = [0.2, 1.0, -0.8, 0.1, 0.3, 0.2]
    with double(tmp_path / "server", "openpi", "--pose", *map(str, [*pose, 0.05])) as server, Peer() as peer:
        asks = {"arm": "emulated", "policy": "openpi", "server": server.server, "instruction": "put it away"}
        with Robot(tmp_path / "runs", asks, peer) as robot:
            while np.abs(robot.angles() - pose).max() > 0.02:
                pass  # it is on its way
            assert server.requests[-1]["prompt"] == "put it away"
            since = robot.position
            server.kill()
            robot.wait_for("cannot be reached", since)
            assert robot.stands()
            since = robot.position
            server.start()
            robot.wait_for("the arm moves again", since)
            robot.press_ctrl_c()
            assert robot.finish() == 0
            check_what_the_arm_saw(robot)


def assert_nothing_wrong_was_done(bag: RecordedEpisode) -> None:
    """The arm held, or did what a good answer said."""
    moved = [command.values[:3] for command in bag.commands if command.mode != CommandMode.HOLD]
    assert np.abs(moved).max() <= 0.011
