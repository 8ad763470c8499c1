"""`policy:=driven`: a program without ROS moves the robot of a graph, step by step, and without it the arm holds."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from stack import PATIENCE_S, Stack

from kc_vla.policy.driven.client import ExternalClient, RobotInfo
from kc_vla.policy.driven.wire import ExternalWireError

STEPS = 15
STEP = np.array([0.002, 0.0, 0.001, 0.0, 0.0, 0.0, 0.0])


def reached(socket: Path) -> tuple[ExternalClient, RobotInfo]:
    """The stack, as soon as it is there."""
    last = time.monotonic() + PATIENCE_S
    while True:
        try:
            driver = ExternalClient(str(socket))
            return driver, driver.about()
        except ExternalWireError:
            assert time.monotonic() < last
            time.sleep(0.2)


@pytest.mark.nightly  # its links: test_policy_driven.py
def test_each_action_is_done_once_and_nothing_moves_without_one(
    launch: Callable[..., Stack], tmp_path_factory: pytest.TempPathFactory
) -> None:
    socket = tmp_path_factory.mktemp("d") / "socket"
    stack = launch(policy="driven", socket=socket, report="none")
    driver, robot = reached(socket)
    with driver:
        assert (robot.name, robot.rate, robot.views) == ("panda", 20.0, {"third_person": (64, 64), "wrist": (64, 64)})
        sights = []
        for _ in range(STEPS):
            sights.append(driver.look(PATIENCE_S))
            driver.act(STEP)
        sights.append(driver.look(PATIENCE_S))
    assert [sight.frame for sight in sights] == list(range(sights[0].frame, sights[0].frame + STEPS + 1))
    moved = np.diff([sight.state[:3] for sight in sights], axis=0)
    np.testing.assert_allclose(moved, np.tile(STEP[:3], (STEPS, 1)), atol=1e-6)
    stack.wait_for("nothing comes from a program at .*: the arm holds")
    again, _ = reached(socket)
    with again:
        later = again.look(PATIENCE_S)
    assert (later.frame, later.state.tolist()) == (sights[-1].frame, sights[-1].state.tolist())
