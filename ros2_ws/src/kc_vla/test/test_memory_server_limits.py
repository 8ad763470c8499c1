"""A server of models that never ends, and one that says back what nobody may see: a deadline, a line, no secrets."""

from __future__ import annotations

import base64
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from openai_server import OpenAiServer

from kc_vla.core.untrusted import one_line, without_controls
from kc_vla.memory.embedding.interface import EmbeddingError
from kc_vla.memory.embedding.server import ServedEmbedder
from kc_vla.memory.served import Server, ServerError, ServerSettings
from kc_vla.memory.server_address import ServerAddress
from kc_vla.planning.interface import PlanningError, Request
from kc_vla.planning.model import ModelPlanner

Send = Callable[[socket.socket, threading.Event], None]
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


@contextmanager
def raw_server(send: Send) -> Iterator[str]:
    """The address of a server that reads a request and then sends whatever it likes, until the test ends."""
    ended = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while not ended.is_set():
            try:
                taken, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(taken,), daemon=True).start()

    def answer(taken: socket.socket) -> None:
        with taken, suppress(OSError):  # who asked has stopped waiting
            send(taken, ended)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        ended.set()
        listener.close()


def _dripped(data: bytes) -> Send:
    def send(taken: socket.socket, ended: threading.Event) -> None:
        taken.recv(65536)
        for byte in data * 1000:
            taken.sendall(bytes([byte]))
            if ended.wait(0.02):
                return

    return send


def _again_and_again(data: bytes, pause_s: float) -> Send:
    def send(taken: socket.socket, ended: threading.Event) -> None:
        taken.recv(65536)
        while not ended.wait(pause_s):
            taken.sendall(data)

    return send


def _body(data: bytes) -> Send:
    def send(taken: socket.socket, ended: threading.Event) -> None:
        taken.recv(65536)
        taken.sendall(_HEAD + b"Content-Length: 100000\r\n\r\n")
        while not ended.wait(0.02):
            taken.sendall(data)

    return send


def _silent(taken: socket.socket, ended: threading.Event) -> None:
    ended.wait()


ENDLESS = {
    "the status line drips": _dripped(b"HTTP/1.1 200 OK"),
    "a header drips": _dripped(
        b"HTTP/1.1 200 OK\r\nX-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    ),
    "one header after the other": _again_and_again(b"X-A: b\r\n", 0.01),
    "100 for ever, slowly": _again_and_again(b"HTTP/1.1 100 Continue\r\n\r\n", 0.02),
    "100 for ever, at once": _again_and_again(b"HTTP/1.1 100 Continue\r\n\r\n", 0.0),
    "103 for ever": _again_and_again(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0.02),
    "the body drips": _body(b" "),
    "comments in a stream": _body(b": still here\n\n"),
    "nothing": _silent,
}


@pytest.mark.parametrize("send", ENDLESS.values(), ids=ENDLESS)
def test_a_request_ends_at_its_deadline_whatever_the_server_sends(send: Send) -> None:
    ended: list[Exception] = []

    def ask(url: str) -> None:
        try:
            ModelPlanner(Server(ServerSettings("m", url, timeout_s=0.5, retries=0))).plan(Request("wash an apple"))
        except PlanningError as error:
            ended.append(error)

    with raw_server(send) as url:
        thread = threading.Thread(target=ask, args=(url,), daemon=True)
        thread.start()
        thread.join(30)
        assert not thread.is_alive(), "the planner hangs"
    (error,) = ended
    assert any(each in str(error) for each in ("within 0.5 s", "something else than the API says", "reached"))
    assert "\n" not in str(error)


@pytest.mark.parametrize("send", ["a header drips", "100 for ever, slowly", "the body drips"])
def test_a_request_for_vectors_ends_at_its_deadline(send: str) -> None:
    with raw_server(ENDLESS[send]) as url:
        embedder = ServedEmbedder(ServerSettings("m", url, timeout_s=0.3, retries=1))
        with pytest.raises(EmbeddingError, match=r"within 0\.3 s"):
            embedder.embed(["a mug"])


def test_a_server_cannot_make_the_planner_wait_before_it_asks_again() -> None:
    def busy(taken: socket.socket, ended: threading.Event) -> None:
        taken.recv(65536)
        taken.sendall(b"HTTP/1.1 503 Busy\r\nRetry-After: 50\r\nContent-Length: 0\r\n\r\n")

    with raw_server(busy) as url:
        began = time.monotonic()
        with pytest.raises(ServerError, match="answered 503"):
            Server(ServerSettings("m", url, timeout_s=1.0, retries=1)).embed(["a"])
        assert time.monotonic() - began < 40


def test_an_answer_that_breaks_off_ends_in_a_line() -> None:
    def broken(taken: socket.socket, ended: threading.Event) -> None:
        taken.recv(65536)
        taken.sendall(_HEAD + b"Content-Length: 1000\r\n\r\ndata: ")

    with raw_server(broken) as url, pytest.raises(PlanningError, match="broke its answer off"):
        ModelPlanner(Server(ServerSettings("m", url, timeout_s=5.0, retries=0))).plan(Request("wash an apple"))


@pytest.mark.parametrize(
    "hostile", ["\x1b[31mred\x1b[0m", "\x1b]0;a title\x07", "\x9b2J", "\x1bc", "\r\nfake line", "a\u202eb", "\x00\x08"]
)
@pytest.mark.parametrize("status", [400, 500])
def test_the_text_of_a_server_brings_no_escape_sequence_into_a_line(hostile: str, status: int) -> None:
    for content in ({"error": {"message": f"wrong: {hostile} end"}}, f"wrong: {hostile} end"):
        with OpenAiServer() as server:
            server.answers = [(status, content)]
            with pytest.raises(ServerError, match=r"answered [45]00: .*Error") as caught:
                Server(ServerSettings("m", server.url, retries=0)).embed(["a"])
        assert str(caught.value).isprintable()
    assert "wrong: " in str(caught.value) or isinstance(content, str)


@tried(200, 2000)
@given(
    st.text()
    | st.lists(st.sampled_from(["\x1b", "[", "]", "0", ";", "m", "\x07", "\x9b", "\x9d", "a", "\n"])).map("".join)
)
def test_a_text_of_somebody_else_becomes_one_line_that_can_be_shown(text: str) -> None:
    assert one_line(text).isprintable()
    assert one_line(one_line(text)) == one_line(text)
    assert all(each.isprintable() or each in "\n\t" for each in without_controls(text))


def test_what_can_be_read_of_a_text_stays() -> None:
    assert one_line("a \x1b[1;31mred\x1b[0m mug,\n é ü 杯") == "a red mug, é ü 杯"
    assert one_line("\x1b]0;title\x07 mug \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\") == "mug link"
    assert one_line("\x1b] never ended, and still read") == "never ended, and still read"


def _as_said_back(secret: str) -> list[str]:
    return [secret, quote(secret, safe=""), quote_plus(secret), secret.upper(), json.dumps(secret), repr(secret)]


SECRETS = ["s3cr3t-pass", "p@ss:w/o rd", "10%+x y&z", "Пароль-1", "quo\"te'd"]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("where", ["password", "user", "token", "parameter"])
def test_a_secret_in_an_address_is_never_shown_also_where_a_server_says_it_back(
    secret: str, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    written = quote(secret, safe="")
    begin, end = {
        "password": (f"http://me:{written}@", ""),
        "user": (f"http://{written}@", ""),
        "token": ("http://", f"?token={written}"),
        "parameter": ("http://", f"?a=1&{written}"),
    }[where]
    for said in (*_as_said_back(secret), base64.b64encode(f"me:{secret}".encode()).decode()):
        with OpenAiServer() as server:
            url = server.url.replace("http://", begin) + end
            server.answers = [(401, {"error": {"message": f"no entry for <{said}>"}})]
            with pytest.raises(ServerError, match=r"answered 401: .*no entry") as caught:
                Server(ServerSettings("m", url, retries=0)).embed(["a"])
        if said in _as_said_back(secret) or where == "password":
            assert said not in str(caught.value)
            assert "<...>" in str(caught.value).replace("\\", "").replace('"', "").replace("'", "")
    shown = caplog.text + repr(ServerSettings("m", url))
    assert secret not in shown
    assert written not in shown


def test_a_server_that_is_not_there_is_named_without_its_secrets() -> None:
    with pytest.raises(ServerError, match=r"is http://127\.0\.0\.1:9/v1/ its address") as caught:
        Server(ServerSettings("m", "http://me:hunter22@127.0.0.1:9/v1?token=abcdefg", retries=0)).embed(["a"])
    assert not any(each in str(caught.value) for each in ("hunter22", "abcdefg", "me:"))
    assert ServerAddress("https://me:hunter22@host:1/v1?token=x#y").url == "https://host:1/v1"


def test_user_password_and_parameters_are_sent() -> None:
    with OpenAiServer() as server:
        url = server.url.replace("http://", "http://me:p%40ss@") + "?token=abc"
        with pytest.raises(ServerError, match="404"):  # the double looks at the whole path
            Server(ServerSettings("m", url, retries=0)).embed(["a"])
    assert server.keys == ["Basic " + base64.b64encode(b"me:p@ss").decode()]


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://host/v1", "http://", "http://[::1", "http://h:99999/v1"])
def test_an_address_that_is_none_is_refused_without_being_shown(address: str) -> None:
    with pytest.raises(ServerError, match="http://localhost:8000/v1"):
        Server(ServerSettings("m", address))


def test_a_secret_in_an_answer_is_blanked_and_a_users_name_is_not() -> None:
    address = ServerAddress("http://robot:hunter22@host/v1", "sk-key-1")
    assert address.blanked("the robot says hunter22 and SK-key-1") == "the ... says ... and ..."
    assert address.blanked("the robot says hunter22", user=False) == "the robot says ..."
    for some in ("%68unter22", "hunt%65r22", "%68%75%6E%74%65%72%32%32"):
        assert address.blanked(f"it says {some} back") == "it says ... back"
