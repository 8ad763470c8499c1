"""A topic that is looked at seldom: what came waits, in order, up to its depth, and no executor takes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from node_process import Peer
from rclpy.qos import QoSProfile
from std_msgs.msg import String

from kc_vla.ros.mailbox import Mailbox

DEPTH = 3


class Listening:
    """What a mailbox needs of a `StackNode`."""

    def __init__(self, peer: Peer) -> None:
        self.node = peer.node

    def subscribe(self, kind: type, topic: str, callback: Any, profile: QoSProfile, raw: bool, group: Any) -> Any:
        return self.node.create_subscription(kind, topic, callback, profile, raw=raw, callback_group=group)

    def unsubscribe(self, entity: Any) -> None:
        self.node.destroy_subscription(entity)


class Talk:
    """One who says words, and the mailbox of one who listens."""

    def __init__(self, speaker: Peer, listener: Peer) -> None:
        self.speaker, self.listener = speaker, listener
        self._words = speaker.node.create_publisher(String, "/words", DEPTH)
        self.mailbox = Mailbox(Listening(listener), String, "/words", QoSProfile(depth=DEPTH))  # type: ignore[arg-type]
        speaker.until(lambda: self._words.get_subscription_count() == 1)

    def say(self, *words: str) -> None:
        for word in words:
            self._words.publish(String(data=word))

    def taken(self, last: str) -> list[str]:
        """What is taken until this word."""
        found: list[str] = []

        def done() -> bool:
            found.extend(each.data for each in self.mailbox.take())
            return found[-1:] == [last]

        self.speaker.until(done)
        return found

    def wait(self) -> None:
        """Let what was said arrive."""
        for _ in range(20):
            self.listener._executor.spin_once(timeout_sec=0.02)


@pytest.fixture
def talk() -> Iterator[Talk]:
    with ExitStack() as open_:
        yield Talk(open_.enter_context(Peer()), open_.enter_context(Peer()))


def test_what_came_is_taken_once_and_in_order(talk: Talk) -> None:
    talk.say("one", "two")
    assert talk.taken("two") == ["one", "two"]
    assert list(talk.mailbox.take()) == []
    assert talk.mailbox.newest() is None


def test_what_waits_is_left_alone_by_who_serves_the_node(talk: Talk) -> None:
    talk.say("one")
    talk.wait()
    assert talk.taken("one") == ["one"]


def test_of_more_than_its_depth_the_last_are_kept(talk: Talk) -> None:
    talk.say(*(str(number) for number in range(2 * DEPTH)))
    talk.wait()
    assert talk.taken("5") == ["3", "4", "5"]


def test_the_newest_is_the_last_that_came_and_the_others_are_gone(talk: Talk) -> None:
    talk.say("one", "two")
    talk.wait()
    newest = talk.mailbox.newest()
    assert newest is not None
    assert newest.data == "two"
    assert list(talk.mailbox.take()) == []


def test_nothing_is_taken_of_one_that_is_closed(talk: Talk) -> None:
    talk.say("one")
    talk.mailbox.close()
    assert list(talk.mailbox.take()) == []
