"""The policy server by itself."""

from pathlib import Path

from episode_bag import Script, write_episode
from node_process import Peer, running

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla_msgs.msg import EpisodeStatus


def test_a_bag_that_is_played_to_another_episode_is_told(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", Script(size=8, steps=10))
    log = tmp_path / "log"
    with Peer() as peer, running("kc_vla.nodes.policy_server", log, backend="replay", bag=bag):
        status = peer.node.create_publisher(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        peer.until(status.get_subscription_count)
        status.publish(
            EpisodeStatus(episode_id="e", task="counting", seed=77, frame_period=0.05, state=EpisodeStatus.RUNNING)
        )
        peer.until(
            lambda: "this episode is counting with seed 77: the actions of the one are not for" in log.read_text()
        )
