"""Serves a policy to GR00T's clients, those of N1.5 and of N1.6 and later: a ZeroMQ socket, MessagePack, no pickle."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import numpy as np
import zmq
import zmq.asyncio
from numpy.typing import NDArray

from kc_vla.core.errors import StackError
from kc_vla.core.ports import GROOT
from kc_vla.policy.interface import RememberedFrame
from kc_vla.policy.remote import codec_groot as codec
from kc_vla.policy.remote import wire
from kc_vla.policy.remote.codec_groot import Modality
from kc_vla.policy.remote.groot_messages import (
    ACTION,
    GET_ACTION,
    KILL,
    LANGUAGE,
    MASK,
    MODALITIES,
    PING,
    RESET,
    STATE,
    USUAL_TEXT,
    VIDEO,
)
from kc_vla.policy.remote.mapping import Key
from kc_vla.policy.remote.wire import WireError
from kc_vla.policy.serving.access import MOST_CLIENTS, ClientLog, Say, cannot_listen, is_right
from kc_vla.policy.serving.served import Client, Served, nothing_frozen, remembered

PORT = GROOT
_REFUSED = "Unauthorized: Invalid API token"  # the words that their clients know
_PRESENT = 10**6
"""Number of the present frame: above those of the history, which has none of its own."""
_MOST_MOMENTS = 64
_NOT_A_REQUEST = 3


class GrootServer:
    """Serves one policy."""

    def __init__(
        self,
        served: Served,
        token: str = "",
        dialect: str = "n1.6",
        horizon: int = 16,
        say: Say = lambda text: None,
    ) -> None:
        """Serve a policy.

        Args:
            served: the policy.
            token: that a client must have, none if empty.
            dialect: n1.5 or n1.6, in which the modalities are described; observations are understood in both.
            horizon: actions that it gives.
            say: takes a line on each client that connects or is refused.
        """
        self._served, self._token, self._porter = served, token, ClientLog(say)
        self._clients: OrderedDict[bytes, Client] = OrderedDict()
        self._thinking: set[asyncio.Task[None]] = set()
        mapping, nested = served.mapping, dialect == "n1.6"
        self._text = mapping.instruction or USUAL_TEXT

        def modality(kind: str, keys: Mapping[Key, Any] | list[Key], deltas: range) -> Modality:
            names = tuple(key[0] if nested or not kind else f"{kind}.{key[0]}" for key in keys)
            return Modality(names, tuple(deltas), nested)

        moments = range(-served.slots, 1)
        self._modalities = {
            VIDEO: modality(VIDEO, mapping.pictures, moments),
            STATE: modality(STATE, mapping.state, moments),
            ACTION: modality(ACTION, mapping.actions, range(horizon)),
            LANGUAGE: modality("", [(self._text,)], range(1)),
        }

    @asynccontextmanager
    async def listening(self, host: str, port: int) -> AsyncIterator[str]:
        """Serve at an address, port 0: any free one; yields the address; ServingError where that cannot be."""
        context = zmq.asyncio.Context()
        sock = context.socket(zmq.ROUTER)
        try:
            sock.setsockopt(zmq.LINGER, 0)
            sock.setsockopt(zmq.MAXMSGSIZE, wire.MOST_BYTES)
            sock.setsockopt(zmq.RCVHWM, 1)  # of each client: it waits for its answer before it asks again
            sock.setsockopt(zmq.IPV6, int(":" in host))
            where = "127.0.0.1" if host == "localhost" else f"[{host}]" if ":" in host else host
            try:
                sock.bind(f"tcp://{where}:{port or '*'}")
            except zmq.ZMQError as error:
                raise cannot_listen(host, port, error.errno, error.strerror) from error
            attending = asyncio.create_task(self._attend(sock))
            try:
                yield sock.getsockopt_string(zmq.LAST_ENDPOINT)
            finally:
                for task in (attending, *self._thinking):
                    task.cancel()
        finally:
            sock.close()
            context.term()

    async def _attend(self, sock: zmq.asyncio.Socket) -> None:
        while True:
            parts = await sock.recv_multipart()
            if len(parts) != _NOT_A_REQUEST or parts[1]:
                continue  # not from a socket that asks: it could not be answered
            if len(self._thinking) >= MOST_CLIENTS:
                await sock.send_multipart([parts[0], b"", codec.encode({"error": "too many requests at a time"})])
                continue
            task = asyncio.create_task(self._reply(sock, *parts))
            self._thinking.add(task)
            task.add_done_callback(self._thinking.discard)

    async def _reply(self, sock: zmq.asyncio.Socket, identity: bytes, _: bytes, request: bytes) -> None:
        if identity not in self._clients:
            self._porter.tell("a client has come")
        client = self._clients.setdefault(identity, Client())
        self._clients.move_to_end(identity)
        while len(self._clients) > MOST_CLIENTS:
            self._clients.popitem(last=False)
        try:
            answer = await asyncio.to_thread(partial(self._answer, client, request))
        except StackError as error:
            self._porter.tell(f"told a client an error: {wire.line(str(error))}")
            answer = codec.encode({"error": wire.line(str(error))})
        await sock.send_multipart([identity, b"", answer])

    def _answer(self, client: Client, request: bytes) -> bytes:
        if self._token and not is_right(
            brought := wire.text_in(request, "api_token"), self._token
        ):  # before anything is unpacked
            self._porter.tell(f"refused a client: {'no token' if brought is None else 'a wrong token'}")
            return codec.encode({"error": _REFUSED})
        said = codec.decode(request)
        if not isinstance(said, Mapping):
            raise WireError(f"a request must be a map, not {type(said).__name__}")
        endpoint, data = said.get("endpoint", GET_ACTION), said.get("data")
        if not isinstance(endpoint, str):
            raise WireError(f"an endpoint must be a text, not {type(endpoint).__name__}")
        if endpoint == GET_ACTION:
            return codec.encode(self._act(client, data))
        if endpoint == PING:
            return codec.encode({"status": "ok", "message": "Server is running"})
        if endpoint == MODALITIES:
            return codec.encode(self._modalities)
        if endpoint == RESET:
            client.begin()
            return codec.encode({})
        if endpoint == KILL:
            raise WireError("kill is not served: no client ends this server")
        raise WireError(f"Unknown endpoint: {wire.line(str(endpoint))}")

    def _act(self, client: Client, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise WireError("get_action has no data")
        nested = isinstance(data.get("observation"), Mapping)
        said = data["observation"] if nested else data
        is_flat = any(str(key).startswith((f"{VIDEO}.", f"{STATE}.")) for key in said)
        stacks = self._flat(said) if is_flat else self._nested(said)
        moments = self._moments(client, stacks, said.get(MASK))
        text = self._instruction(said if is_flat else said.get(LANGUAGE))
        now, body = self._served.seen(moments[-1], _PRESENT + client.asked)
        history = [self._kept(client, arrays) for arrays in moments[:-1]]
        if len(next(iter(stacks.values()))) == 1:
            history = remembered(client, now)
        known = {seen.frame for seen in history}
        client.kept = {number: seen for number, seen in client.kept.items() if number in known}
        arrays, took = self._served.answer(client, now, body, history, text, nothing_frozen())
        if is_flat:
            actions: dict[str, Any] = {f"{ACTION}.{key[0]}": values for key, values in arrays.items()}
            return [{name: values[None] for name, values in actions.items()}, {}] if nested else actions
        return [
            {key[0]: values[None] for key, values in arrays.items()},
            {"server_timing": {"infer_ms": 1e3 * took}},
        ]

    def _flat(self, said: Mapping[str, Any]) -> dict[Key, Any]:
        """Return the stacks (T, ...) by name, of N1.5, or in a batch of one."""
        mapping = self._served.mapping
        wanted = [(VIDEO, key, 4) for key in mapping.pictures] + [(STATE, key, 2) for key in mapping.state]
        return {key: _stack(said.get(f"{kind}.{key[0]}"), f"{kind}.{key[0]}", rank) for kind, key, rank in wanted}

    def _nested(self, said: Mapping[str, Any]) -> dict[Key, Any]:
        """Return the same of N1.6."""
        mapping, found = self._served.mapping, {}
        for kind, keys, rank in ((VIDEO, mapping.pictures, 4), (STATE, mapping.state, 2)):
            of_kind = said.get(kind)
            for key in keys:
                values = of_kind.get(key[0]) if isinstance(of_kind, Mapping) else None
                found[key] = _stack(values, f"{kind} {key[0]}", rank)
        return found

    def _moments(self, client: Client, stacks: Mapping[Key, Any], mask: Any) -> list[dict[Key, Any]]:
        """Return the moments, oldest first, without padding: what the mask says, or the first one again and again.

        A first request may show the present alone; in a later one the first moment is a keyframe, even if nothing has
        moved since.
        """
        longest = max(len(stack) for stack in stacks.values())
        padded = {
            key: [stack[max(0, row - longest + len(stack))] for row in range(longest)] for key, stack in stacks.items()
        }
        moments = [{key: rows[row] for key, rows in padded.items()} for row in range(longest)]
        if isinstance(mask, list | np.ndarray) and len(mask) == longest:
            return [*(each for each, valid in zip(moments[:-1], mask, strict=False) if np.any(valid)), moments[-1]]
        first = _digest(moments[0])
        again = next((row for row, each in enumerate(moments) if _digest(each) != first), longest)
        if again == longest:  # all are the same
            return moments[-1:] if client.asked == 0 else moments[-2:]
        return moments[again - 1 :]

    def _kept(self, client: Client, arrays: Mapping[Key, Any]) -> RememberedFrame:
        """Return a moment of the history; the same one has the same number, so that it is looked at once."""
        number = int.from_bytes(_digest(arrays)[:6], "big")
        if number not in client.kept:
            client.kept[number] = self._served.seen(arrays, number)[0]
        return client.kept[number]

    def _instruction(self, said: Any) -> str:
        text = said.get(self._text) if isinstance(said, Mapping) else None
        while isinstance(text, list) and text:
            text = text[-1]
        if not isinstance(text, str):
            raise WireError(f"there is no text {self._text}")
        template = self._served.mapping.text
        before, _, after = template.partition("{instruction}")
        return text.removeprefix(before).removesuffix(after)


def _stack(values: Any, what: str, rank: int) -> NDArray[Any]:
    if not isinstance(values, np.ndarray):
        raise WireError(f"there is no {what}")
    stack: NDArray[Any] = values[0] if values.ndim == rank + 1 and len(values) == 1 else values
    if stack.ndim != rank or not 1 <= len(stack) <= _MOST_MOMENTS:
        raise WireError(f"{what} has the shape {list(values.shape)}: it must have {rank} dimensions, moments first")
    return stack


def _digest(arrays: Mapping[Key, Any]) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for values in arrays.values():
        found.update(np.ascontiguousarray(values).tobytes())
    return found.digest()
