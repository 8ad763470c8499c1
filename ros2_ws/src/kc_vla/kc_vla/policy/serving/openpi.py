"""Serves a policy to openpi's clients by a WebSocket with `/healthz`; the policy runs in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import numpy as np
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from kc_vla.core.errors import StackError
from kc_vla.core.ports import OPENPI
from kc_vla.policy.interface import RememberedFrame
from kc_vla.policy.remote import codec_openpi as codec
from kc_vla.policy.remote import wire
from kc_vla.policy.remote.mapping import Key
from kc_vla.policy.remote.openpi_messages import (
    FRAME,
    FRAMES,
    KEYFRAMES,
    NEW,
    PREVIOUS,
    RESET_DONE,
    ServerMetadata,
    keys_of,
    nested,
    numbers_of,
    unnested,
)
from kc_vla.policy.remote.wire import WireError
from kc_vla.policy.serving.access import MOST_CLIENTS, ClientLog, Say, cannot_listen, is_right
from kc_vla.policy.serving.served import Client, Served, nothing_frozen, remembered

PORT = OPENPI
_BEARER = "Api-Key "
_FAILED = 1011
_MOST_FRAME = 2**53


class OpenPiServer:
    """Serves one policy."""

    def __init__(self, served: Served, token: str = "", say: Say = lambda text: None) -> None:
        """Prepare to serve a policy.

        Args:
            served: the policy.
            token: that a client must have, none if empty.
            say: gets a line about each client that comes and goes.
        """
        self._served, self._token, self._porter = served, token, ClientLog(say)
        self._clients = 0
        mapping = served.mapping
        announced = ServerMetadata(
            *(True, True, served.slots, served.slots > 0, mapping.rate, keys_of(mapping)), numbers=numbers_of(mapping)
        )
        self._metadata = codec.encode({**announced.metadata(), "robot": mapping.robot.name, "mapping": mapping.name})

    @asynccontextmanager
    async def listening(self, host: str, port: int) -> AsyncIterator[str]:
        """Serve at an address, port 0: any free one; yields the address; ServingError where that cannot be."""
        serving = serve(
            self._attend,
            host,
            port,
            compression=None,
            max_size=wire.MOST_BYTES,
            origins=[None],  # a page in somebody's browser is no client
            process_request=self._let_in,
        )
        try:
            server = await serving
        except OSError as error:
            raise cannot_listen(host, port, error.errno, error.strerror or str(error)) from error
        async with server:
            where, number = next(iter(server.sockets)).getsockname()[:2]
            yield f"ws://{where}:{number}"

    def _let_in(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/healthz":
            return connection.respond(200, "OK\n")
        given = request.headers.get("Authorization", "")
        if not is_right(given.removeprefix(_BEARER), self._token):
            self._porter.tell(f"refused {_whose(connection)}: {'a wrong token' if given else 'no token'}")
            return connection.respond(401, "Unauthorized: Invalid API key\n")
        if self._clients >= MOST_CLIENTS:
            return connection.respond(503, f"{MOST_CLIENTS} clients are here already\n")
        return None

    async def _attend(self, connection: ServerConnection) -> None:
        self._clients += 1
        self._porter.tell(f"{_whose(connection)} has come: {self._clients} there")
        client = Client()
        previous_ms: float | None = None
        try:
            await connection.send(self._metadata)
            async for frame in connection:
                began = asyncio.get_running_loop().time()
                try:
                    answer = await asyncio.to_thread(partial(self._answer, client, frame, previous_ms))
                except StackError as error:
                    self._porter.tell(f"told {_whose(connection)} an error: {wire.line(str(error))}")
                    await connection.send(wire.line(str(error)))
                    await connection.close(_FAILED, "the error is in the frame before")
                    return
                await connection.send(answer)
                previous_ms = 1e3 * (asyncio.get_running_loop().time() - began)
        except ConnectionClosed:
            pass  # the client has gone
        finally:
            self._clients -= 1
            self._porter.tell(f"{_whose(connection)} has gone: {self._clients} there")

    def _answer(self, client: Client, frame: str | bytes, previous_ms: float | None) -> bytes:
        if isinstance(frame, str):
            raise WireError("a request must be a binary frame")
        values = codec.decode(frame)
        if not isinstance(values, Mapping):
            raise WireError(f"a request must be a map, not {type(values).__name__}")
        if values.get("reset") is True:
            client.begin()
            return codec.encode(RESET_DONE)
        now, body = self._served.seen(unnested(values), _frame_in(values, client))
        keyframes = self._keyframes(client, values) if FRAMES in values else remembered(client, now)
        frozen = nothing_frozen()
        if isinstance(values.get(PREVIOUS), np.ndarray) and values[PREVIOUS].size:
            (key,) = self._served.mapping.actions
            frozen = self._served.frozen({key: values[PREVIOUS]}, body)
        text = values.get(self._served.mapping.instruction)
        if not isinstance(text, str):
            raise WireError(f"there is no text {self._served.mapping.instruction}")
        arrays, took = self._served.answer(client, now, body, keyframes, text, frozen)
        timing = {"infer_ms": 1e3 * took} | ({} if previous_ms is None else {"prev_total_ms": previous_ms})
        policy_timing = {"infer_ms": 1e3 * took}
        return codec.encode({**nested(arrays), "server_timing": timing, "policy_timing": policy_timing})

    def _keyframes(self, client: Client, values: Mapping[str, Any]) -> list[RememberedFrame]:
        """Return those that the client names, of which it may have shown some before."""
        frames, new = (_frames_in(values, name, self._served.slots) for name in (FRAMES, NEW))
        rows = {
            (*key.removeprefix(KEYFRAMES).split("/"),): value
            for key, value in values.items()
            if key.startswith(KEYFRAMES) and key not in (FRAMES, NEW)
        }
        named = {"/".join(key): key for key in (*self._served.mapping.pictures, *self._served.mapping.state)}
        stacks: dict[Key, Any] = {named["/".join(key)]: value for key, value in rows.items() if "/".join(key) in named}
        if any(not isinstance(each, np.ndarray) or each.ndim == 0 or len(each) != len(new) for each in stacks.values()):
            raise WireError(f"the keyframes are not {len(new)} rows in every array")
        for row, number in enumerate(new):
            client.kept[number] = self._served.seen({key: stack[row] for key, stack in stacks.items()}, number)[0]
        if missing := [number for number in frames if number not in client.kept]:
            raise WireError(f"the keyframes {', '.join(map(str, missing))} were not shown over this connection")
        client.kept = {number: client.kept[number] for number in frames}
        return list(client.kept.values())


def _whose(connection: ServerConnection) -> str:
    host, port = connection.remote_address[:2]
    return f"{host}:{port}"


def _frame_in(values: Mapping[str, Any], client: Client) -> int:
    frame = values.get(FRAME, client.asked)
    if type(frame) is not int or not 0 <= frame < _MOST_FRAME:
        raise WireError(f"{FRAME} is no number of a frame")
    return frame


def _frames_in(values: Mapping[str, Any], name: str, most: int) -> list[int]:
    found = values.get(name)
    if not isinstance(found, np.ndarray) or found.ndim != 1 or found.dtype.kind not in "iu" or len(found) > most:
        raise WireError(f"{name} must be up to {most} whole numbers")
    frames = [int(number) for number in found]
    if any(number < 0 for number in frames) or sorted(set(frames)) != frames:
        raise WireError(f"{name} must be numbers of frames, the oldest first")
    return frames
