"""An emergency stop holds the arm until a person releases it, whatever happens to the process in between."""

import subprocess
from collections.abc import Callable

from stack import Episode, Stack


def call(service: str) -> str:
    """Call a Trigger service as a person would, and return the answer, or all of them.

    It has been seen that what was asked for was done and the answer of the middleware never came: a person asks again.
    """
    command = ["ros2", "service", "call", service, "std_srvs/srv/Trigger", "{}"]
    said = ""
    for _ in range(3):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
        except subprocess.TimeoutExpired:
            said += "no answer\n"
        else:
            return said + done.stdout + done.stderr
    return said


def release() -> None:
    said = call("/arm/release_e_stop")
    assert "released" in said or said.startswith("no answer\n")  # then there may be none any more


def press_by_service() -> None:
    assert "stopped" in call("/arm/e_stop")


def press_by_topic() -> None:
    command = ["ros2", "topic", "pub", "--once", "/e_stop", "std_msgs/msg/Bool", "{data: true}"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)


def test_a_stop_outlives_the_controller_and_ends_with_its_release(
    stack: Stack, mid_episode: Callable[[Stack], Episode]
) -> None:
    mid_episode(stack)
    stopped_at = stack.position
    press_by_topic()
    stack.wait_for("the arm holds: emergency stop", stopped_at)
    released_at = stack.position
    release()
    # where the episode ran out of time meanwhile, the release may fall between two: then the next one just succeeds
    stack.wait_for(r"the arm moves again|succeeded \(3 of 3 stages", released_at)
    mid_episode(stack)
    stopped_at = stack.position
    press_by_service()
    stack.wait_for("the arm holds: emergency stop", stopped_at)
    try:
        killed_at = stack.position
        stack.kill("arm_controller")
        stack.wait_for(r"\[arm_controller-\d+\]: process has died .*exit code -9", killed_at)
        stack.wait_for("emergency stop: the arm holds until", killed_at)
        # the episode has no way to succeed: the cube stays where it is until time is up
        assert stack.running_episode().wait_for_result().startswith("failed: time limit")
        assert stack.find("the arm moves again", killed_at) is None
    finally:
        released_at = stack.position
        release()
    stack.wait_for(r"succeeded \(3 of 3 stages", released_at)  # this episode, or the next if this one has just ended
    assert "released: no emergency stop is set" in call("/arm/release_e_stop")
