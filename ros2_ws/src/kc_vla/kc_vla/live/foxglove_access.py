"""The way in to the server of Foxglove's SDK, which lets everybody in: handshakes are looked at before it gets them.

A third-party page in the same browser must not look on, as at the live page. The server itself listens at an
address of this machine alone that is drawn anew each time, so that a page cannot guess it.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from kc_vla.web.access import HERE

ORIGINS = ("file://", "https://app.foxglove.dev")
"""Where Foxglove's own programs come from. Pages that this machine serves, such as Lichtblick's, may too."""
_EVERYWHERE = frozenset({"0.0.0.0", "::"})
_MOST_HEAD, _HEAD_S = 16 << 10, 10.0
_MOST_CLIENTS = 32
_CHUNK = 64 << 10
_END_S = 3.0
_REFUSED = "HTTP/1.1 {0}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def hidden_address() -> str:
    """Return an address of this machine alone, out of 16 million."""
    return ".".join(map(str, (127, *(1 + secrets.randbelow(254) for _ in range(3)))))


def refusal(head: Mapping[str, Sequence[str]], hosts: Sequence[str], origins: Sequence[str]) -> str:
    """Return with which status a handshake is refused, empty if it may come in.

    Args:
        head: values by the name of the header, in small letters.
        hosts: names by which the server may be called.
        origins: of the pages that may connect, beside those that this machine serves and programs that are no pages.
    """
    called, come_from = head.get("host", ()), head.get("origin", ())
    if len(called) != 1 or not _is_called(_name(f"//{called[0]}"), hosts):
        return "400 Bad Request"
    if len(come_from) > 1:
        return "403 Forbidden"
    known = not come_from or come_from[0] in origins or _name(come_from[0]) in {_name(f"//{host}") for host in HERE}
    return "" if known else "403 Forbidden"


def _is_called(name: str | None, hosts: Sequence[str]) -> bool:
    """Return whether that is a name of the server.

    For one at all addresses any address is, because no page can make one up.
    """
    if name is None or name in {_name(f"//{host}") for host in hosts}:
        return name is not None
    if not _EVERYWHERE.intersection(hosts):
        return False
    with suppress(ValueError):
        ip_address(name)
        return True
    return name == socket.gethostname().lower()


def _name(address: str) -> str | None:
    """Return the name of a host in an address, without its port; None where there is none."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


class FoxgloveAccess:
    """Passes those on who may come in, byte by byte, until `close`."""

    def __init__(
        self, listener: socket.socket, inside: tuple[str, int], hosts: Sequence[str], origins: Sequence[str]
    ) -> None:
        """Begin.

        Args:
            listener: that clients connect to; it is closed with the door.
            inside: address and port of the server.
            hosts: names by which it may be called.
            origins: see `refusal`.
        """
        self.port: int = listener.getsockname()[1]
        self._inside, self._hosts, self._origins = inside, hosts, origins
        self._open = 0
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        self._thread = threading.Thread(target=self._run, args=(listener,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End, whatever clients do."""
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(_END_S)

    def _run(self, listener: socket.socket) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(listener))

    async def _serve(self, listener: socket.socket) -> None:
        server = await asyncio.start_server(self._attend, sock=listener, limit=_MOST_HEAD)
        await self._ended.wait()
        server.close()

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            await self._let_in(reader, writer)
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # gone, or nobody who speaks HTTP
        finally:
            self._open -= 1
            writer.close()

    async def _let_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_S):
            request = await reader.readuntil(b"\r\n\r\n")
        full = "503 Service Unavailable" if self._open > _MOST_CLIENTS else ""
        if status := full or refusal(_headers(request), self._hosts, self._origins):
            writer.write(_REFUSED.format(status).encode())
            await writer.drain()
            return
        inner_reader, inner_writer = await asyncio.open_connection(*self._inside)
        inner_writer.write(request)
        ways = [asyncio.create_task(_copy(reader, inner_writer)), asyncio.create_task(_copy(inner_reader, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            inner_writer.close()


def _headers(request: bytes) -> dict[str, list[str]]:
    """Return the headers of a request; ValueError where it has a line that is none."""
    found: dict[str, list[str]] = {}
    for line in request.decode("latin-1").split("\r\n")[1:]:
        if not line:
            continue
        name, colon, value = line.partition(":")
        if not colon or name != name.strip() or not name:
            raise ValueError("it is no header")
        found.setdefault(name.lower(), []).append(value.strip())
    return found


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()  # a client that takes nothing makes the server drop what is oldest
