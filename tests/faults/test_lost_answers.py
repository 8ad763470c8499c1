"""An answer that the middleware drops is asked for again, and does not begin another episode."""

import re
import subprocess
from collections.abc import Callable

from stack import Stack


def reset(request_id: str) -> str:
    """Ask for episode 5 of the counting task as a person would; return the id of the episode."""
    request = f"{{task: counting, seed: 5, request_id: '{request_id}'}}"
    command = ["ros2", "service", "call", "/simulator/reset", "kc_vla_msgs/srv/ResetSimulation", request]
    for _ in range(20):  # the command gives up after 5 s, which a simulator may take to start
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
        if found := re.search(r"episode_id='([\w-]+)'", done.stdout):
            return found[1]
    raise AssertionError(done.stderr)


def test_a_reset_that_is_asked_for_twice_is_one_episode(launch: Callable[..., Stack]) -> None:
    launch(task="none")
    first = reset("a")
    assert reset("a") == first
    second = reset("b")
    assert second != first
    assert reset("") not in (first, second)
