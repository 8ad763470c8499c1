"""The backend `openpi`: a policy behind openpi's WebSocket server, with our keyframes where it announces a memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.codec import Codec
from kc_vla.core.episode import Episode
from kc_vla.policy.backends import PolicyContext
from kc_vla.policy.interface import PolicyError, PolicyInput, RememberedFrame, first_and_newest
from kc_vla.policy.options import OpenPiOptions
from kc_vla.policy.remote import codec_openpi as codec
from kc_vla.policy.remote.mapping import Key, MappingError, PolicyMapping
from kc_vla.policy.remote.mapping_file import load_mapping
from kc_vla.policy.remote.observation_history import ObservationHistory
from kc_vla.policy.remote.openpi_messages import (
    DELAY,
    EXECUTION,
    FRAME,
    FRAMES,
    KEYFRAMES,
    NEW,
    PREVIOUS,
    RESET,
    ServerMetadata,
    announced,
    nested,
    unnested,
)
from kc_vla.policy.remote.session import RefusedError, Session, tell_times, token_or_environment
from kc_vla.policy.remote.websocket_link import WebSocketLink
from kc_vla.policy.remote.wire import WireError, number_in

Actions = NDArray[np.float32]


class OpenPiBackend:
    """Asks the server for each chunk."""

    name = "openpi"
    needs_images = True
    needs_plan = False

    def __init__(
        self, mapping: PolicyMapping, link: WebSocketLink, timeout_s: float, measured: Callable[[str, float], None]
    ) -> None:
        """Prepare the backend, which connects with the first episode.

        The other arguments are as in `OpenPiOptions` and `PolicyContext`.

        Args:
            mapping: of robot and server.
            link: to the server.
        """
        self._mapping, self._link, self._measured = mapping, link, measured
        self._session = Session("openpi", link, timeout_s, self._greet)
        self._moments = ObservationHistory(mapping)
        self._server: ServerMetadata | None = None
        self._remark = ""
        self._there: frozenset[int] = frozenset()  # keyframes that the server keeps for this connection
        self._reset_due = True
        self.needs_keyframes = True
        self.action_type = mapping.action_type
        self.names = Codec(mapping.robot, mapping.action_type).action_names

    def reset(self, episode: Episode) -> str:
        """Begin an episode, and have the server reset itself if it announces that it can; return a remark for the user.

        Raises:
            PolicyError: the server cannot be reached, or refuses.
        """
        self._moments.begin()
        self._reset_due, self._there = True, frozenset()
        self._session.do(self._reset)
        return self._remark

    def infer(self, given: PolicyInput) -> Actions:
        """Request a chunk from the server, with the keyframes if the server announces a memory.

        Raises:
            PolicyError: the server does not answer in time, or not with actions.
        """
        now, body = self._moments.now(given), self._moments.body(given)

        def work(deadline: float) -> tuple[Actions, float | None, float]:
            server = self._reset(deadline)
            values: dict[Key, Any] = {**now, (self._mapping.instruction,): self._mapping.told(given.instruction)}
            shown = first_and_newest(given.keyframes, server.keyframes) if server.keyframes else []
            if server.keyframes:
                values |= self._memory(given, shown)
            if server.rtc and given.frozen.size and given.frozen.shape[1] == len(self.names):
                (frozen,) = self._mapping.given(given.frozen.astype(float), body).values()
                values |= {(PREVIOUS,): frozen, (DELAY,): len(frozen), (EXECUTION,): len(frozen)}
            frame, took = self._session.exchange(codec.encode(nested(values)), deadline)
            answer = codec.decode(frame)
            if not isinstance(answer, Mapping):
                raise WireError(f"it is no map but {type(answer).__name__}")
            ms = number_in(answer, "server_timing", "infer_ms") or number_in(answer, "policy_timing", "infer_ms")
            actions = self._mapping.taken(unnested(answer), body)
            if server.keeps:
                self._there = frozenset(seen.frame for seen in shown)
            return actions, ms, took

        actions, ms, took = self._session.do(work)
        tell_times(self._measured, took, ms)
        return actions

    def _greet(self, deadline: float) -> None:
        server = announced(codec.decode(self._link.greeting))
        try:
            self._remark = server.check(self._mapping)
        except MappingError as error:
            raise RefusedError(f"is of another kind: {error}") from error
        self._server, self._there = server, frozenset()
        self.needs_keyframes = server.keyframes > 0  # a server without a memory is shown none

    def _reset(self, deadline: float) -> ServerMetadata:
        """Reset the server if an episode has begun and the server announces a reset."""
        assert self._server is not None
        if self._reset_due and self._server.reset:
            answer = codec.decode(self._session.exchange(codec.encode(RESET), deadline)[0])
            if not isinstance(answer, Mapping) or answer.get("reset_finished") is not True:
                raise WireError("it does not say that it was reset")
        self._reset_due = False
        return self._server

    def _memory(self, given: PolicyInput, shown: Sequence[RememberedFrame]) -> dict[Key, Any]:
        """Return which keyframes there are, and the observations of those that the server has not yet."""
        new = [seen for seen in shown if seen.frame not in self._there]
        arrays = self._moments.kept(given, new)
        values: dict[Key, Any] = {
            (FRAME,): given.frame,
            (FRAMES,): np.array([seen.frame for seen in shown], np.int64),
            (NEW,): np.array([seen.frame for seen in new], np.int64),
        }
        for key in arrays[0] if arrays else ():
            values[(KEYFRAMES + "/".join(key),)] = np.stack([each[key] for each in arrays])
        return values


def open_openpi(context: PolicyContext, options: OpenPiOptions) -> OpenPiBackend:
    """Return the backend with these options; it has not connected yet.

    Raises:
        PolicyError: the server's address or the mapping is no such.
    """
    link = WebSocketLink(options.server or "ws://localhost:8000", token_or_environment(options.token))
    try:
        mapping = load_mapping(options.mapping, context.robot, "openpi")
    except MappingError as error:
        raise PolicyError(str(error)) from error
    if len(mapping.actions) != 1:
        raise PolicyError(
            f"the mapping '{mapping.name}' has {len(mapping.actions)} arrays of actions: openpi gives one"
        )
    return OpenPiBackend(mapping, link, options.timeout_s, context.measured)
