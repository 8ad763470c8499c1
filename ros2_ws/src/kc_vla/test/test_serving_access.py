"""Where a served policy listens, and who is let in: with a token, no pages, not too many, nobody too large."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
import tracemalloc
import urllib.request
from typing import Any

import msgpack
import numpy as np
import pytest
from policy_clients import OpenPiClient, ask_groot, libero, n16
from served_policies import PANDA, listening, served
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from kc_vla.core.episode import Episode
from kc_vla.policy.backends import PolicyContext, open_backend
from kc_vla.policy.interface import PolicyError
from kc_vla.policy.remote.wire import WireError
from kc_vla.policy.serving.access import check_access
from kc_vla.policy.serving.groot import GrootServer
from kc_vla.policy.serving.openpi import OpenPiServer
from kc_vla.policy.serving.served import Client, ServingError


@pytest.mark.parametrize("wire", ["openpi", "groot"])
def test_where_nobody_can_listen_is_told_in_a_line(wire: str) -> None:
    kind, (_, policy) = (OpenPiServer if wire == "openpi" else GrootServer), served(wire)

    async def listen(host: str, port: int) -> None:
        async with kind(policy).listening(host, port):
            raise AssertionError("it listens")

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            ServingError, match=rf"cannot listen at 127\.0\.0\.1, port {port} \(.*in use.*another --port"
        ):
            asyncio.run(listen("127.0.0.1", port))


def test_whoever_runs_a_server_sees_who_comes_and_who_is_refused() -> None:
    _, policy = served("openpi")
    said: list[str] = []
    with listening(OpenPiServer(policy, "secret", said.append)) as where:
        with pytest.raises(InvalidStatus), OpenPiClient(where, "wrong"):
            pass
        time.sleep(1.0)  # a line a second: knocking again and again fills no terminal
        with OpenPiClient(where, "secret") as client:
            client.ask(libero())
        with pytest.raises(InvalidStatus), OpenPiClient(where, "wrong"):
            pass
    assert [re.sub(r"127\.0\.0\.1:\d+", "it", line) for line in said] == [
        "refused it: a wrong token",
        "it has come: 1 there",
    ]


def test_who_has_not_the_token_is_let_in_nowhere() -> None:
    _, policy = served("openpi")
    with listening(OpenPiServer(policy, "secret")) as where:
        for token in ("", "wrong"):
            with pytest.raises(InvalidStatus) as refused, OpenPiClient(where, token):
                pass
            assert refused.value.response.status_code == 401
            remote = open_backend(
                "openpi", PolicyContext(PANDA, 16), {"server": where, "token": token, "timeout_s": 30.0}
            )
            with pytest.raises(PolicyError, match="it wants a token, and this is not it: set KC_VLA_POLICY_TOKEN"):
                remote.reset(Episode("one", "counting", "push", 0, 50_000_000, True))
        with OpenPiClient(where, "secret") as client:
            assert "actions" in client.ask(libero())
        assert urllib.request.urlopen(where.replace("ws", "http") + "/healthz", timeout=30).status == 200
    _, policy = served("groot")
    with listening(GrootServer(policy, "secret")) as where:
        tokens = [{"api_token": token} for token in ("wrong", 3, np.zeros(3), {})]
        wrong = ask_groot(where, n16([1]), *({**n16([1]), **token} for token in tokens))
        assert wrong == [{"error": "Unauthorized: Invalid API token"}] * 5
        assert len(ask_groot(where, {**n16([1]), "api_token": "secret"})[0]) == 2


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "::", "robot"])
def test_an_address_that_others_reach_needs_a_token(host: str) -> None:
    with pytest.raises(ServingError, match="needs a token"):
        check_access(host, "")
    check_access(host, "secret")
    check_access("127.0.0.1", "")


def test_a_page_in_a_browser_is_no_client() -> None:
    _, policy = served("openpi")
    with listening(OpenPiServer(policy)) as where:
        with pytest.raises(InvalidStatus) as refused, connect(where, origin=Origin("http://elsewhere.example")):
            pass
        assert refused.value.response.status_code == 403


def test_while_it_thinks_it_is_healthy_and_what_two_clients_show_is_kept_apart() -> None:
    backend, policy = served("openpi")
    backend.hold.clear()
    with listening(OpenPiServer(policy)) as where, OpenPiClient(where) as one, OpenPiClient(where) as other:
        answers: list[Any] = []
        threads = [
            threading.Thread(target=lambda client=client, shade=shade: answers.append(client.ask(libero(shade))))
            for client, shade in ((one, 1), (other, 2))
        ]
        threads[0].start()
        deadline = time.monotonic() + 30
        while not backend.asked and time.monotonic() < deadline:
            time.sleep(0.01)
        threads[1].start()  # the first one is thought about by now: they are answered in this order
        assert urllib.request.urlopen(where.replace("ws", "http") + "/healthz", timeout=30).status == 200
        backend.hold.set()
        for thread in threads:
            thread.join(30)
        one.ask(libero(3))
        other.ask(libero(4))
        shown = [[int(seen.views["wrist"].max()) for seen in asked.keyframes] for asked in backend.asked[2:]]
    assert shown == [[1], [2]]
    assert len({episode.id for episode in backend.episodes}) == 2
    assert len(backend.episodes) == 4  # whenever the other one asks: what it remembers is of one client


def test_more_clients_than_it_has_room_for_are_turned_away() -> None:
    _, policy = served("openpi")
    with listening(OpenPiServer(policy)) as where:
        clients = [OpenPiClient(where) for _ in range(8)]
        for client in clients:
            client.__enter__()
        with pytest.raises(InvalidStatus) as refused, OpenPiClient(where):
            pass
        assert refused.value.response.status_code == 503
        for client in clients:
            client.__exit__()


def test_a_frame_that_is_too_large_ends_that_connection_alone() -> None:
    _, policy = served("openpi")
    with listening(OpenPiServer(policy)) as where:
        with OpenPiClient(where) as client, pytest.raises(ConnectionClosed):
            client.ask({"large": bytes(65 << 20)})
        with OpenPiClient(where) as client:
            assert "actions" in client.ask(libero())


def test_a_large_request_without_the_token_is_refused_before_it_is_unpacked() -> None:
    """Whoever has no token costs no more than the message itself."""
    server = GrootServer(served("groot")[1], "secret")
    data = msgpack.packb([{"a": bytes(900)} for _ in range(20_000)] + [bytes(10_000_000)])
    entries = [msgpack.packb(each) for each in ("endpoint", "get_action", "data", "api_token", "wrong")]
    request = b"\x83" + b"".join([*entries[:3], data, *entries[3:]])
    tracemalloc.start()
    try:
        assert b"Unauthorized" in server._answer(Client(), request)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * len(request)
    finally:
        tracemalloc.stop()


def test_a_request_of_millions_of_values_is_refused_before_it_is_unpacked() -> None:
    """Tens of megabytes of small values would become a gigabyte of objects."""
    server = GrootServer(served("groot")[1], "secret")
    request = msgpack.packb({"api_token": "secret", "data": [None] * 20_000_000})
    tracemalloc.start()
    try:
        with pytest.raises(WireError, match="more than 100000 values"):
            server._answer(Client(), request)
        assert tracemalloc.get_traced_memory()[1] < 2 * len(request)
    finally:
        tracemalloc.stop()
