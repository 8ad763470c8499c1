"""The server for Foxglove, as its clients talk to it: what is offered, what comes, and what a bad client can do."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from foxglove_client import Client, client
from node_process import Peer, running
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Image
from std_msgs.msg import Bool, String
from websockets.exceptions import ConnectionClosed

from kc_vla.core import topics
from kc_vla.ros import qos
from kc_vla.ros.base import CANNOT_START
from kc_vla.ros.convert import image_message, time_message
from kc_vla_msgs.msg import EpisodeStatus

MODULE = "kc_vla.nodes.foxglove"
PICTURES = f"/{topics.image_topic('third_person')}"
STATUS = f"/{topics.EPISODE_STATUS}"


class Talker(Peer):
    """A graph that tells of an episode, and shows pictures."""

    def __enter__(self) -> Talker:
        super().__enter__()
        self.status = self.node.create_publisher(EpisodeStatus, topics.EPISODE_STATUS, qos.STATUS)
        self.pictures = self.node.create_publisher(Image, topics.image_topic("third_person"), qos.IMAGE)
        self.status.publish(EpisodeStatus(episode_id="one", task="counting"))
        self._frame = 0
        return self

    def show(self) -> None:
        self._frame += 1
        stamp = time_message(self._frame * 10**8)
        self.pictures.publish(image_message(np.full((4, 4, 3), self._frame % 256, np.uint8), stamp, "camera"))

    def show_for(self, seconds: float, rate: float) -> None:
        for _ in range(round(seconds * rate)):
            self.show()
            time.sleep(1 / rate)


@contextmanager
def serving(tmp_path: Path, **parameters: object) -> Iterator[tuple[Talker, str, Any]]:
    with Talker() as talker, running(MODULE, tmp_path / "log", **{"port": 0, **parameters}) as process:

        def address() -> str:
            found = re.search(r"ws://localhost:\d+", (tmp_path / "log").read_text())
            return found[0] if found else ""

        talker.until(address)
        yield talker, address(), process


def test_topics_are_offered_as_they_are_and_listened_to_while_somebody_wants_them(tmp_path: Path) -> None:
    with serving(tmp_path) as (talker, address, _), client(address) as viewer:
        viewer.find(PICTURES, STATUS)
        offered = viewer.channels[STATUS]
        assert (offered["encoding"], offered["schemaName"]) == ("cdr", "kc_vla_msgs/msg/EpisodeStatus")
        assert "string instruction" in offered["schema"]
        assert talker.pictures.get_subscription_count() == 0
        viewer.ask(1, PICTURES)
        talker.until(lambda: talker.pictures.get_subscription_count() == 1)
        number, got = talker.until(lambda: talker.show() or viewer.hear())[0]
        assert (number, deserialize_message(got, Image).width) == (1, 4)
        viewer.leave(1)
        talker.until(lambda: talker.pictures.get_subscription_count() == 0)
        late = talker.node.create_publisher(Bool, "somebodys/own", 10)
        viewer.find("/somebodys/own")
        assert late.get_subscription_count() == 0


def test_who_asks_later_is_told_what_stands(tmp_path: Path) -> None:
    def status_of(viewer: Client) -> set[str]:
        told: set[str] = set()
        until = time.monotonic() + 20
        while not told and time.monotonic() < until:
            told |= {deserialize_message(message, EpisodeStatus).episode_id for _, message in viewer.hear()}
        return told

    with serving(tmp_path) as (talker, address, _), client(address) as first, client(address) as second:
        first.find(STATUS)
        first.ask(1, STATUS)
        assert status_of(first) == {"one"}
        second.find(STATUS)
        second.ask(7, STATUS)
        assert status_of(second) == {"one"}
        first.leave(1)
        second.leave(7)
        talker.until(lambda: talker.status.get_subscription_count() == 0)
        talker.status.publish(EpisodeStatus(episode_id="two", task="counting"))
        first.hear()
        first.ask(2, STATUS)
        assert status_of(first) == {"two"}


def test_pictures_are_thinned_and_a_client_that_takes_nothing_holds_nobody_up(tmp_path: Path) -> None:
    with serving(tmp_path, picture_rate=5.0) as (talker, address, process), client(address) as viewer:
        with client(address) as stalled:
            for each in (viewer, stalled):
                each.find(PICTURES)
                each.ask(1, PICTURES)
            talker.until(lambda: talker.pictures.get_subscription_count() == 1)
            viewer.hear()
            begun = time.monotonic()
            talker.show_for(2.0, 40.0)
            seconds = time.monotonic() - begun
            got = [message for number, message in viewer.hear(0.5) if number == 1]
            assert 1 <= len(got) <= 5.0 * seconds + 1
        talker.until(lambda: talker.show() or viewer.hear())
        assert process.poll() is None


def test_nothing_that_a_client_sends_is_taken(tmp_path: Path) -> None:
    with serving(tmp_path) as (talker, address, process):
        heard = talker.hear(String, "intruder", 10)
        for said in (
            "{",
            "[" * 100_000,
            json.dumps({"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 2**40}]}),
            json.dumps({"op": "advertise", "channels": [{"id": 1, "topic": "/intruder", "encoding": "cdr"}]}),
            json.dumps({"op": "setParameters", "parameters": [{"name": "/arm_controller.speed", "value": 9}]}),
            b"\x01" + bytes(1000),
            b"",
        ):
            with client(address) as rude:
                rude.find(STATUS)
                try:
                    rude.socket.send(said)
                    rude.hear()
                except ConnectionClosed:
                    continue  # as it should do with one that does not speak the protocol
        assert heard == []
        with client(address) as viewer:
            viewer.find(PICTURES, STATUS)
        assert process.poll() is None


def test_where_a_port_is_taken_it_listens_at_another_and_says_so(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, address, _):
        port = int(address.rsplit(":", 1)[1])
        (tmp_path / "second").mkdir()
        with serving(tmp_path / "second", port=port) as (_, other, _), client(other) as viewer:
            assert other != address
            viewer.find(STATUS)
    assert f"cannot listen at 127.0.0.1, port {port}" in (tmp_path / "second" / "log").read_text()


def test_an_address_that_is_not_of_this_machine_is_told_in_a_line(tmp_path: Path) -> None:
    with running(MODULE, tmp_path / "log", host="192.0.2.7") as process:
        assert process.wait(60) == CANNOT_START
    assert "cannot listen at 192.0.2.7" in (tmp_path / "log").read_text()
    assert "Traceback" not in (tmp_path / "log").read_text()
