"""The backend `groot`: a policy behind a GR00T server, N1.5 or later, with our keyframes as its history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.codec import Codec
from kc_vla.core.episode import Episode
from kc_vla.policy.backends import PolicyContext
from kc_vla.policy.interface import PolicyError, PolicyInput, first_and_newest
from kc_vla.policy.options import GrootOptions
from kc_vla.policy.remote import codec_groot as codec
from kc_vla.policy.remote.groot_messages import (
    MODALITIES,
    RESET,
    GrootRequestFormat,
    actions_in,
    message,
    paper_request_format,
    requested_by,
)
from kc_vla.policy.remote.mapping import MappingError, PolicyMapping
from kc_vla.policy.remote.mapping_file import load_mapping
from kc_vla.policy.remote.observation_history import ObservationHistory
from kc_vla.policy.remote.session import UNKNOWN, RefusedError, Session, tell_times, token_or_environment
from kc_vla.policy.remote.wire import line, number_in
from kc_vla.policy.remote.zmq_link import ZmqLink

Actions = NDArray[np.float32]


class GrootBackend:
    """The backend `groot`, which requests each chunk from a GR00T server."""

    name = "groot"
    needs_images = True
    needs_plan = False

    def __init__(
        self,
        mapping: PolicyMapping,
        link: ZmqLink,
        dialect: str,
        token: str,
        timeout_s: float,
        measured: Callable[[str, float], None],
    ) -> None:
        """Prepare the backend, which connects with the first episode.

        The other arguments are as in `GrootOptions` and `PolicyContext`.

        Args:
            mapping: of robot and server.
            link: to the server.
        """
        self._mapping, self._dialect, self._token, self._measured = mapping, dialect, token, measured
        self._session = Session("GR00T", link, timeout_s, self._greet)
        self._moments = ObservationHistory(mapping)
        self._wanted: GrootRequestFormat | None = None
        self._reset_due = True
        self.needs_keyframes = True
        self.action_type = mapping.action_type
        self.names = Codec(mapping.robot, mapping.action_type).action_names

    def reset(self, episode: Episode) -> str:
        """Begin an episode, and have the server reset itself if it can.

        Raises:
            PolicyError: the server cannot be reached, or refuses.
        """
        self._moments.begin()
        self._reset_due = True
        self._session.do(self._reset)
        return ""

    def infer(self, given: PolicyInput) -> Actions:
        """Ask the server for a chunk, with the keyframes before the present observation as its history.

        Raises:
            PolicyError: the server does not answer in time, or not with actions.
        """
        now, body = self._moments.now(given), self._moments.body(given)

        def work(deadline: float) -> tuple[Actions, float | None, float]:
            wanted = self._reset(deadline)
            shown = self._shown(given, wanted)
            moments = [*self._moments.kept(given, shown), now]
            text = self._mapping.told(given.instruction)
            observation = wanted.observation(moments, self._mapping.pictures, text)
            request = codec.encode(wanted.request(observation, self._token))
            frame, took = self._session.exchange(request, deadline)
            arrays, info = actions_in(_good(codec.decode(frame)))
            return self._mapping.taken(arrays, body), number_in(info, "server_timing", "infer_ms"), took

        actions, ms, took = self._session.do(work)
        tell_times(self._measured, took, ms)
        return actions

    def _shown(self, given: PolicyInput, wanted: GrootRequestFormat) -> list[Any]:
        """Return the keyframes before the present that the server gets.

        The paper's policy was trained on the newest, others keep the first.
        """
        most = wanted.moments - 1
        if most == 0:
            return []
        return list(given.keyframes[-most:] if wanted.masked else first_and_newest(given.keyframes, most))

    def _greet(self, deadline: float) -> None:
        """Ask the server what it wants; the paper's own may not say."""
        frame, _ = self._session.exchange(codec.encode(message(MODALITIES, self._token)), deadline)
        answer = codec.decode(frame)
        if self._dialect == "kc-vla" and isinstance(answer, Mapping) and "error" in answer:
            if "unauthorized" in str(answer["error"]).lower():
                _good(answer)
            self._wanted = paper_request_format(self._mapping)
            return
        try:
            self._wanted = requested_by(_good(answer), self._mapping, self._dialect)
        except MappingError as error:
            raise RefusedError(f"is of another kind: {error}") from error
        self.needs_keyframes = self._wanted.moments > 1  # a server without a history is shown none

    def _reset(self, deadline: float) -> GrootRequestFormat:
        """Reset the server if an episode has begun; N1.5 has no reset."""
        assert self._wanted is not None
        if self._reset_due and self._wanted.nested:
            request = codec.encode(message(RESET, self._token, {"options": None}))
            answer = codec.decode(self._session.exchange(request, deadline)[0])
            self._reset_due = False  # a server that knows no reset is none the worse: it is asked for actions next
            _good(answer)
        self._reset_due = False
        return self._wanted


def open_groot(context: PolicyContext, options: GrootOptions) -> GrootBackend:
    """Return the backend with these options; it has not connected yet.

    Raises:
        PolicyError: the server's address or the mapping is no such.
    """
    link = ZmqLink(options.server or "tcp://localhost:5555")
    usual = "kc-vla" if options.dialect == "kc-vla" else "groot"
    try:
        mapping = load_mapping(options.mapping, context.robot, "groot", usual)
    except MappingError as error:
        raise PolicyError(str(error)) from error
    return GrootBackend(
        mapping, link, options.dialect, token_or_environment(options.token), options.timeout_s, context.measured
    )


def _good(answer: Any) -> Any:
    """Return an answer that is no error."""
    if isinstance(answer, Mapping) and "error" in answer:
        told = line(str(answer["error"]))
        why = f": {UNKNOWN}" if "unauthorized" in told.lower() else ""
        raise RefusedError(f"tells an error: {told}{why}")
    return answer
