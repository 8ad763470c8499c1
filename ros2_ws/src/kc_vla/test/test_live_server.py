"""The live page over real sockets: what a client gets, a slow one, and those that mean harm."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np
import pytest
from live_client import WAIT_S, hear
from served_live import TOKEN, Live, serving
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection

from kc_vla.live.board import SCORES
from kc_vla.live.feed import MOST_PAGES
from kc_vla.live.server import Stopped
from kc_vla.web import connections
from kc_vla.web.connections import MOST_OPEN
from kc_vla.web.serving import ListenError, listening, listening_there_or_elsewhere


@pytest.fixture
def live() -> Iterator[Live]:
    with serving() as found:
        yield found


def until(done: Callable[[], Any]) -> None:
    end = time.monotonic() + WAIT_S
    while not done():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def grey(level: int) -> Any:
    return np.full((120, 160, 3), level, np.uint8)


def test_a_page_gets_what_there_is_and_what_comes(live: Live) -> None:
    live.board.tell("episode", {"id": "one"})
    with live.open() as page:
        assert hear(page)[0]["parts"] == {"episode": {"id": "one"}}
        live.board.add(SCORES, [0, 0.5, 0.6, 1])
        live.came["wrist"] = grey(80)
        heard, jpegs = [], []
        while not (any("series" in news for news in heard) and jpegs):
            news, found = hear(page)
            heard.append(news)
            jpegs += found
        assert [news["series"] for news in heard if "series" in news] == [{SCORES: [[0, 0.5, 0.6, 1]]}]
        assert jpegs[0].startswith(b"\xff\xd8")
    assert live.watched[0] is True


def test_watching_begins_with_the_first_page_and_ends_with_the_last(live: Live) -> None:
    with live.open() as first, live.open() as second:
        hear(first), hear(second)
        assert live.feed.pages == 2
    until(lambda: live.watched == [True, False])


def test_a_slow_page_gets_fewer_pictures_and_holds_up_nobody(live: Live) -> None:
    with live.open() as slow, live.open() as quick:
        slow.recv(timeout=WAIT_S)  # and does not say that it has drawn it
        for level in range(20):
            live.came["third_person"] = grey(level * 10)
            live.board.add(SCORES, [level, 0.5, 0.6, 1])
            while not hear(quick)[1]:
                pass
        slow.send("more")
        news, jpegs = hear(slow)
        assert [row[0] for row in news["series"][SCORES]] == list(range(20))  # nothing of the curve is lost
        assert len(jpegs) == 1  # the newest alone


def test_a_page_that_takes_nothing_is_left() -> None:
    with serving(patience_s=0.2) as live:
        raw = socket.create_connection(("localhost", live.port))
        raw.sendall(_upgrade(live.port))
        until(lambda: live.watched == [True, False])
        raw.settimeout(WAIT_S)
        with suppress(ConnectionResetError):
            while raw.recv(1 << 16):  # it ends
                pass
        raw.close()
        with live.open() as page:
            hear(page)


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}, {"Host": ""}]
)
def test_another_page_in_the_same_browser_gets_nothing(live: Live, headers: dict[str, str]) -> None:
    raw = socket.create_connection(("localhost", live.port), timeout=WAIT_S)
    raw.sendall(_upgrade(live.port, **headers))
    answer = raw.recv(4096).split(b"\r\n")[0]
    assert answer.split()[1] in (b"400", b"403")
    status, _, _ = live.ask("/api/stop", "POST", X_Token=TOKEN, **headers)
    assert status in (400, 403)
    assert live.stops == []
    assert live.watched == []


def test_the_page_of_a_forwarded_port_is_let_in(live: Live) -> None:
    raw = socket.create_connection(("localhost", live.port), timeout=WAIT_S)
    raw.sendall(_upgrade(live.port, Host="localhost:9999", Origin="http://localhost:9999"))
    assert raw.recv(4096).split()[1] == b"101"
    raw.close()


def test_a_large_message_ends_its_own_connection_alone(live: Live) -> None:
    with live.open() as good, live.open() as bad:
        hear(good), hear(bad)
        bad.send("x" * 1000)
        with pytest.raises(ConnectionClosed):
            _hear_to_the_end(bad)
        live.board.tell("stopped", True)
        while "stopped" not in hear(good)[0].get("parts", {}):
            pass
    assert live.ask("/api/stop", "POST", X_Token=TOKEN, Content_Length="99999999")[0] == 413


@pytest.mark.nightly
def test_a_page_that_chatters_gets_no_more_than_others(live: Live) -> None:
    with live.open() as page:
        for _ in range(2000):
            page.send("more")
        live.board.tell("stopped", True)
        while "stopped" not in hear(page)[0].get("parts", {}):
            pass


def test_no_more_pages_than_there_is_room_for(live: Live) -> None:
    with ExitStack() as pages:
        opened = [pages.enter_context(live.open()) for _ in range(MOST_PAGES)]
        with pytest.raises(InvalidStatus):
            live.open()
        hear(opened[0])
        opened[1].close()
        until(lambda: live.feed.pages == MOST_PAGES - 1)
        hear(pages.enter_context(live.open()))


def test_two_hundred_open_sockets_stop_nothing(live: Live) -> None:
    with live.open() as page, ExitStack() as idle:
        hear(page)
        for _ in range(200):
            raw = idle.enter_context(socket.create_connection(("localhost", live.port), timeout=WAIT_S))
            raw.sendall(b"GET / HTTP/1.1\r\nHost: loc")  # and no more
        assert live.ask("/")[0] == 200
        assert live.ask("/api/stop", "POST", X_Token=TOKEN)[0] == 200
        hear(page)
        with live.open() as another:
            hear(another)
        assert MOST_OPEN < 200


def test_who_asks_for_nothing_is_hung_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE_S", 0.2)
    with serving() as live, live.open() as page:
        raw = socket.create_connection(("localhost", live.port), timeout=WAIT_S)
        with suppress(ConnectionResetError):
            assert raw.recv(1) == b""
        raw.close()
        hear(page)  # a page is not hung up


def test_who_asks_once_and_then_for_nothing_is_hung_up_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE_S", 0.2)
    with serving() as live:
        raw = socket.create_connection(("localhost", live.port), timeout=WAIT_S)
        raw.sendall(f"GET /api/control HTTP/1.1\r\nHost: localhost:{live.port}\r\n\r\nGET / HT".encode())
        told = b""
        with suppress(ConnectionResetError):
            while piece := raw.recv(4096):  # a time-out fails
                told += piece
        assert told.startswith(b"HTTP/1.1 200")
        raw.close()


def test_those_that_were_answered_once_keep_nobody_out(live: Live) -> None:
    with ExitStack() as idle:
        for _ in range(MOST_OPEN):
            raw = idle.enter_context(socket.create_connection(("localhost", live.port), timeout=WAIT_S))
            raw.sendall(f"GET /api/control HTTP/1.1\r\nHost: localhost:{live.port}\r\n\r\n".encode())
            assert raw.recv(12) == b"HTTP/1.1 200"
            raw.sendall(b"GET / HT")
        assert live.ask("/api/stop", "POST", X_Token=TOKEN)[0] == 200


def test_only_what_was_answered_is_told_to_have_stopped(live: Live) -> None:
    for answer in (Stopped(True, True, "stopped"), Stopped(True, False, "no"), Stopped(False, False, "silent")):
        live.answer = answer
        status, _, body = live.ask("/api/stop", "POST", X_Token=TOKEN)
        assert status == 200
        assert Stopped(**json.loads(body)) == answer


def test_nobody_stops_without_the_token(live: Live) -> None:
    for headers in ({}, {"X_Token": "guess"}, {"X_Token": TOKEN, "Origin": "http://evil.example"}):
        status, _, body = live.ask("/api/stop", "POST", **headers)
        assert status == 403
        assert "token" in json.loads(body)["detail"]
    assert live.ask("/api/stop", X_Token=TOKEN)[0] != 200  # a picture's address does not stop an arm
    assert live.stops == []
    with serving(token="") as other:
        assert json.loads(other.ask("/api/control")[2]) == {"control": False}
        assert other.ask("/api/stop", "POST", X_Token="")[0] == 403
        assert other.stops == []


def test_a_stop_that_is_not_answered_holds_nobody_up(live: Live) -> None:
    live.answer = None
    raw = socket.create_connection(("localhost", live.port), timeout=WAIT_S)
    raw.sendall(f"POST /api/stop HTTP/1.1\r\nHost: localhost\r\nX-Token: {TOKEN}\r\nContent-Length: 0\r\n\r\n".encode())
    until(lambda: live.stops)
    with live.open() as page:
        hear(page)
    live.stops[0].set_result(Stopped(False, False, "silent"))
    heard = b""
    while b"silent" not in heard:
        more = raw.recv(4096)
        assert more, f"it ended after {heard!r}"
        heard += more
    raw.close()


def test_the_page_asks_no_other_host_and_takes_nothing_for_markup(live: Live) -> None:
    status, headers, body = live.ask("/")
    assert status == 200
    policy = {name.lower(): value for name, value in headers.items()}["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    page = body.decode()
    assert "http" not in page
    for name in ("main", "views", "scores", "actions", "arm", "nodes", "keyframes", "episode", "control", "dom"):
        script = live.ask(f"/{name}.js")[2].decode()
        assert script
        assert "innerHTML" not in script
        assert "http:" not in script.replace('"https:"', "")
    assert live.ask("/..%2f..%2fserver.py")[0] == 404


def test_a_taken_port_is_told_and_another_one_found() -> None:
    warnings: list[str] = []
    with listening("127.0.0.1", 0, "") as first:
        port = first.getsockname()[1]
        with listening_there_or_elsewhere("127.0.0.1", port, "live page", warnings.append) as second:
            assert second.getsockname()[1] != port
    assert f"port {port}" in warnings[0]
    with pytest.raises(ListenError, match="name an address of this machine"):
        listening_there_or_elsewhere("203.0.113.7", 0, "live page", warnings.append)
    assert len(warnings) == 1


def _hear_to_the_end(page: ClientConnection) -> None:
    while True:
        page.recv(timeout=WAIT_S)


def _upgrade(port: int, **headers: str) -> bytes:
    lines = {
        "Host": f"localhost:{port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        **headers,
    }
    return "\r\n".join(("GET /api/live HTTP/1.1", *(f"{k}: {v}" for k, v in lines.items()), "", "")).encode()
