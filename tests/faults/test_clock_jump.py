"""ROS's clock jumps, forth and back, while a Piper moves: the arm holds or goes on, and never jumps along."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from node_process import Peer
from robot import Robot, check_what_the_arm_saw
from rosgraph_msgs.msg import Clock

LAUNCH = Path(__file__).parents[2] / "launch"


class JumpingClock:
    """Tells a time that runs as the steady clock does, `ahead` s off."""

    ahead = 1_000_000.0

    def tell(self, publisher, ended: threading.Event) -> None:
        while not ended.wait(0.005):
            seconds = time.monotonic() + self.ahead
            message = Clock()
            message.clock.sec, message.clock.nanosec = int(seconds), int(seconds % 1.0 * 1e9)
            publisher.publish(message)


@contextmanager
def told(clock: JumpingClock, peer: Peer) -> Iterator[None]:
    ended = threading.Event()
    publisher = peer.node.create_publisher(Clock, "/clock", 10)
    thread = threading.Thread(target=clock.tell, args=(publisher, ended))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_the_arm_does_not_jump_along(tmp_path: Path) -> None:
    simulated = {"use_sim_time": True}
    parameters = yaml.safe_load((LAUNCH / "params" / "piper.yaml").read_text())
    (tmp_path / "params.yaml").write_text(yaml.safe_dump({**parameters, "/**": {"ros__parameters": simulated}}))
    rig = {
        view: {"source": str(LAUNCH / "desk" / f"{view}.mp4"), "loop": True, **simulated}
        for view in ("third_person", "wrist")
    }
    (tmp_path / "cameras.yaml").write_text(yaml.safe_dump(rig))
    arguments = {"params": tmp_path / "params.yaml", "cameras": tmp_path / "cameras.yaml", "source": "rules"}
    clock = JumpingClock()
    with Peer() as peer, told(clock, peer), Robot(tmp_path, arguments, peer) as robot:
        robot.wait_for("keyframe 0 'start' committed")
        robot.wait_until_it_moves()
        begun = robot.position
        clock.ahead += 20.0  # the chunk that runs is of the past at once
        robot.wait_for("the arm holds", begun)
        robot.wait_for("the arm moves again", begun)
        robot.wait_until_it_moves()
        clock.ahead -= 10.0  # what lies in the past now was done already: nothing is done until it is over
        time.sleep(2.0)  # it is still on its way to the last target, which twenty seconds of the script are away
        assert robot.stands()
        robot.wait_until_it_moves()
        robot.press_ctrl_c()
        assert robot.finish() == 0
        check_what_the_arm_saw(robot)
