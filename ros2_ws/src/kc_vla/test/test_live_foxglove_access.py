"""Who may look on at the port for Foxglove: its own programs, pages of this machine, and no page of anybody else."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from foxglove_client import PROTOCOL
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from kc_vla.bags.schemas import Schema
from kc_vla.live.foxglove import FoxgloveServer
from kc_vla.live.foxglove_access import ORIGINS, refusal

NAMES = ("127.0.0.1", "localhost", "[::1]")


@pytest.fixture(scope="module")
def server() -> Iterator[FoxgloveServer]:
    found = FoxgloveServer("127.0.0.1", 0, lambda: None, (*ORIGINS, "https://viewer.example"))
    found.offer("/a", Schema("a_msgs/msg/A", "ros2msg", "bool data"), False)
    yield found
    found.close()


def offered(server: FoxgloveServer, origin: str | None, host: str = "127.0.0.1") -> bool:
    """Whether who comes from there, and calls the server so, is told of topics."""
    with socket.create_connection(("127.0.0.1", server.port)) as way:
        address = f"ws://{host}:{server.port}"
        come_from = None if origin is None else Origin(origin)
        with connect(address, sock=way, subprotocols=[PROTOCOL], origin=come_from, proxy=None) as client:
            return any("advertise" in str(client.recv(30)) for _ in range(2))


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "file://",
        "https://app.foxglove.dev",
        "http://localhost:8080",
        "http://127.0.0.1",
        "https://viewer.example",
    ],
)
def test_foxglove_and_pages_of_this_machine_look_on(server: FoxgloveServer, origin: str | None) -> None:
    assert offered(server, origin)


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "https://app.foxglove.dev.evil.example",
        "https://evil.example/localhost",
        "http://localhost@evil.example",
        "",
    ],
)
def test_pages_of_others_do_not(server: FoxgloveServer, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        offered(server, origin)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "192.0.2.7"])
def test_a_foreign_name_of_the_server_is_refused(server: FoxgloveServer, host: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        offered(server, None, host)
    assert refused.value.response.status_code == 400


def test_the_server_behind_the_door_is_not_where_a_page_would_look(server: FoxgloveServer) -> None:
    behind = server._server.port
    if behind != server.port:  # which may be, at another address
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", behind), 1)


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\n", b"x" * 100_000, b"\xff\r\n\r\n", b"GET /\r\n: a\r\n\r\n"])
def test_who_does_not_speak_http_is_hung_up_and_others_are_let_in(server: FoxgloveServer, said: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as rude:
        rude.sendall(said)
        rude.shutdown(socket.SHUT_WR)
        assert offered(server, None)


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_other_origin_or_host_comes_in(origin: str, host: str) -> None:
    good = {"host": ["localhost:8768"]}
    if origin not in ORIGINS and not any(name in origin.lower() for name in ("localhost", "127.0.0.1", "::1")):
        assert refusal(good | {"origin": [origin]}, NAMES, ORIGINS)
    if not any(name in host.lower() for name in ("localhost", "127.0.0.1", "::1")):
        assert refusal({"host": [host]}, NAMES, ORIGINS)


@pytest.mark.parametrize(
    ("host", "comes_in"), [("192.0.2.7:8768", True), ("[2001:db8::1]:8768", True), ("evil.example", False), ("", False)]
)
def test_a_server_at_all_addresses_may_be_called_by_any_address(host: str, comes_in: bool) -> None:
    assert (refusal({"host": [host]}, ("0.0.0.0", *NAMES), ORIGINS) == "") == comes_in


def test_a_header_that_is_there_twice_is_refused() -> None:
    assert refusal({"host": ["localhost", "evil.example"]}, NAMES, ORIGINS)
    assert refusal({"host": ["localhost"], "origin": ["file://", "https://evil.example"]}, NAMES, ORIGINS)
