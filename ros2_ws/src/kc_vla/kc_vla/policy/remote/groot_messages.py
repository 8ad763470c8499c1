"""What is said to GR00T's servers, in each of their dialects: endpoints, observations, actions, modalities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.policy.remote import wire
from kc_vla.policy.remote.codec_groot import Modality
from kc_vla.policy.remote.mapping import Arrays, Key, MappingError, PolicyMapping
from kc_vla.policy.remote.wire import WireError

PING, KILL, GET_ACTION, MODALITIES, RESET = "ping", "kill", "get_action", "get_modality_config", "reset"
VIDEO, STATE, ACTION, LANGUAGE = "video", "state", "action", "language"
MASK = "obs_mask"
"""Name of the mask over timesteps in the dialect kc-vla: 0 is padding, 1 is an observation."""
PAPER_MOMENTS = 6
USUAL_TEXT = "annotation.human.task_description"


@dataclass(frozen=True)
class GrootRequestFormat:
    """What a server wants.

    Attributes:
        nested: maps within maps, and batches: N1.6 and later; otherwise one map, with names as "video.image": N1.5.
        masked: padding is zeros, and a mask marks it: kc-vla; otherwise it is the first moment again, as at the
            beginning of what GR00T is trained on.
        pictures: how many moments of the images, the present one included.
        states: the same of the state.
        text: name of the instruction.
    """

    nested: bool
    masked: bool
    pictures: int
    states: int
    text: str

    @property
    def moments(self) -> int:
        """Return the number of observations at most."""
        return max(self.pictures, self.states)

    def observation(self, moments: Sequence[Arrays], pictures: Mapping[Key, Any], text: str) -> dict[str, Any]:
        """Return the moments, oldest first, the present one last, as the server wants them.

        Args:
            moments: 1 or more, of each the images (H, W, 3) and the state (S,).
            pictures: the names of those that are images.
            text: for the policy.
        """
        video = {key[0]: self._stack(moments, key, self.pictures) for key in moments[-1] if key in pictures}
        state = {key[0]: self._stack(moments, key, self.states) for key in moments[-1] if key not in pictures}
        if self.nested:
            batch = {name: values[None] for name, values in video.items()}, {n: v[None] for n, v in state.items()}
            return {VIDEO: batch[0], STATE: batch[1], LANGUAGE: {self.text: [[text]]}}
        flat = {f"{VIDEO}.{n}": v for n, v in video.items()} | {f"{STATE}.{n}": v for n, v in state.items()}
        seen = min(len(moments), self.pictures)
        mask = {MASK: [0] * (self.pictures - seen) + [1] * seen} if self.masked else {}
        return {**flat, self.text: [text], **mask}

    def request(self, observation: dict[str, Any], token: str) -> dict[str, Any]:
        """Return the message that asks for actions."""
        data = {"observation": observation, "options": None} if self.nested else observation
        return message(GET_ACTION, token, data)

    def _stack(self, moments: Sequence[Arrays], key: Key, count: int) -> NDArray[Any]:
        rows = [moment[key] for moment in moments][-count:]
        shapes = {row.shape for row in rows}
        if len(shapes) > 1:
            raise WireError(f"{key[0]} changes its size from {' to '.join(map(str, shapes))}: give the mapping a size")
        padding = np.zeros_like(rows[0]) if self.masked else rows[0]
        return np.stack([padding] * (count - len(rows)) + rows)


def message(endpoint: str, token: str = "", data: Any = None) -> dict[str, Any]:
    """Return a message to an endpoint."""
    said: dict[str, Any] = {"endpoint": endpoint}
    return said | ({} if data is None else {"data": data}) | ({"api_token": token} if token else {})


def requested_by(modalities: Any, mapping: PolicyMapping, dialect: str) -> GrootRequestFormat:
    """Return what a server wants that answers `MODALITIES` so.

    Args:
        modalities: its answer.
        mapping: of robot and server.
        dialect: of `kc_vla.policy.options.DIALECTS`.

    Raises:
        WireError: that is no such answer.
        MappingError: the mapping is not for this server.
    """
    if not isinstance(modalities, Mapping) or not all(isinstance(each, Modality) for each in modalities.values()):
        raise WireError("it does not say which modalities it has")
    if not {VIDEO, STATE, ACTION} <= modalities.keys():
        raise WireError(
            f"it has the modalities {wire.line(', '.join(map(str, modalities)))}: video, state and action it must"
        )
    ours = {VIDEO: mapping.pictures, STATE: mapping.state, ACTION: mapping.actions}
    told = []
    for kind, keys in ours.items():
        theirs, named = {_bare(key, kind) for key in modalities[kind].keys}, {key[0] for key in keys}
        if theirs != named:
            told.append(f"{kind} of the server {', '.join(sorted(theirs))}, of the mapping {', '.join(sorted(named))}")
    texts = modalities[LANGUAGE].keys if LANGUAGE in modalities else ()
    if mapping.instruction and texts and mapping.instruction not in texts:
        told.append(f"text of the server {', '.join(texts)}, of the mapping {mapping.instruction}")
    if told:
        raise MappingError(f"the mapping '{mapping.name}' is not for this server: {wire.line('; '.join(told))}")
    text = mapping.instruction or (texts[0] if texts else USUAL_TEXT)
    if dialect == "kc-vla":
        return paper_request_format(mapping)
    nested = modalities[VIDEO].nested if dialect == "auto" else dialect == "n1.6"
    counts = (max(1, len(modalities[kind].deltas)) for kind in (VIDEO, STATE))
    pictures, states = (mapping.history or count for count in counts)
    return GrootRequestFormat(nested, False, pictures, states, text)


def paper_request_format(mapping: PolicyMapping) -> GrootRequestFormat:
    """Return what the paper's server wants."""
    moments = mapping.history or PAPER_MOMENTS
    return GrootRequestFormat(False, True, moments, moments, mapping.instruction or USUAL_TEXT)


def actions_in(answer: Any) -> tuple[dict[Key, Any], Mapping[str, Any]]:
    """Return the arrays (H, D) of a server's answer, in whichever dialect, and what it says beside them.

    Raises:
        WireError: it is no such answer.
    """
    info: Mapping[str, Any] = {}
    if isinstance(answer, list) and len(answer) == 2 and isinstance(answer[1], Mapping):
        answer, info = answer
    if not isinstance(answer, Mapping):
        raise WireError(f"it is {type(answer).__name__} and no actions")
    return {(_bare(name, ACTION),): _rows(values) for name, values in answer.items()}, info


def _rows(values: Any) -> Any:
    """Return values without the batch of one; those with but one number become a column."""
    if isinstance(values, np.ndarray):
        if values.ndim == 3 and values.shape[0] == 1:
            return values[0]
        if values.ndim == 1:
            return values[:, None]
    return values


def _bare(name: str, kind: str) -> str:
    return name.removeprefix(f"{kind}.")
