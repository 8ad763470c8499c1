"""What a learned policy remembers of the kept keyframes: looked at once, when each is met first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kc_vla.inference.onnx_sessions import open_session
from kc_vla.policy.interface import RememberedFrame, first_and_newest
from kc_vla.policy.model import PolicyModel

Array = NDArray[np.float32]


class HistorySlots(NamedTuple):
    """What the network is given of the past.

    Attributes:
        remembered: (1, slots, R), of keyframes or tokens, in order.
        present: (1, slots), 1 where there is one.
    """

    remembered: Array
    present: Array


class KeyframeHistory:
    """The keyframes of an episode as numbers. What a chunk takes does not grow with how many there are."""

    def __init__(
        self, model: PolicyModel, look: Callable[[RememberedFrame], tuple[Array, Array]], device: str, threads: int
    ):
        """Open the model's files.

        Args:
            model: of the policy.
            look: maps (V, C, M, M) of a keyframe's images, and the numbers (1, N) of its state.
            device: see `open_session`.
            threads: likewise.

        Raises:
            InferenceError: one cannot be run here.
        """
        self._model, self._look = model, look
        self._memory = open_session(model.memory, device, threads)
        self._condense = None if model.condense is None else open_session(model.condense, device, threads)
        self._width = int(self._memory.get_outputs()[0].shape[1])
        self.forget()

    def forget(self) -> None:
        """Forget the keyframes: an episode begins."""
        self._of: dict[int, Array] = {}  # a keyframe's frame to (R,)
        self._last: tuple[tuple[int, ...], int, HistorySlots] | None = None

    def slots(self, keyframes: Sequence[RememberedFrame], instruction: int) -> HistorySlots:
        """Return the network's input for these keyframes, oldest first; PolicyError where a view of one is missing."""
        model = self._model
        given = () if not model.history.remembers else keyframes
        kept = given if self._condense is not None else first_and_newest(given, model.slots)
        frames = tuple(seen.frame for seen in kept)
        if self._last is not None and self._last[:2] == (frames, instruction):
            return self._last[2]
        there = {seen.frame for seen in given}  # one without a slot may get it back: the newest can turn out to be none
        self._of = {frame: was for frame, was in self._of.items() if frame in there}
        for seen in kept:
            if seen.frame not in self._of:
                self._of[seen.frame] = self._new(seen)
        found = self._slots([self._of[frame] for frame in frames], instruction)
        self._last = frames, instruction, found
        return found

    def _new(self, seen: RememberedFrame) -> Array:
        maps, state = self._look(seen)
        found: Array = self._memory.run(None, {"maps": maps[None], "state": state})[0][0]
        return found

    def _slots(self, kept: list[Array], instruction: int) -> HistorySlots:
        if self._condense is not None and kept:
            given = {"kept": np.stack(kept)[None], "instruction": np.array([instruction], np.int64)}
            return HistorySlots(*self._condense.run(None, given))
        remembered = np.zeros((1, self._model.slots, self._width), np.float32)
        present = np.zeros((1, self._model.slots), np.float32)
        for slot, was in enumerate(kept):
            remembered[0, slot], present[0, slot] = was, 1.0
        return HistorySlots(remembered, present)
