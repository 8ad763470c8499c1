"""The images of units as vectors, where a model of images is configured: what recall compares beside words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np

from kc_vla.media.images import ImageError, file_pixels
from kc_vla.memory.embedding.interface import EmbeddingError, ImageEmbedder, Vectors
from kc_vla.memory.images.crop import CropError
from kc_vla.memory.recall.slots import SlotNumbers
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import Unit

AGAIN_S = 30.0


class UnitImages:
    """A vector of the crop of each unit. It costs what the memory holds, however much went through it."""

    def __init__(self, embedder: ImageEmbedder, read: Callable[[str], bytes], again_s: float = AGAIN_S) -> None:
        """Make it; `follow` has it follow a memory.

        Args:
            embedder: of images and sentences in one space.
            read: returns the JPEG for `Unit.image`, as `CropStore.read`; CropError where there is none.
            again_s: a newer crop of a unit is embedded after so long, s.
        """
        self._embedder, self._read, self._again_s = embedder, read, again_s
        self._pending: dict[str, Unit] = {}
        self._embedded: dict[str, Unit] = {}
        self._slots: SlotNumbers[str] = SlotNumbers()
        self._vectors: Vectors = np.zeros((0, 0), np.float32)

    def __len__(self) -> int:
        return len(self._embedded)

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return self._embedder.name

    def follow(self, memory: ShortTermMemory) -> None:
        """Take in the units of a memory, and each change from now on."""
        memory.listen(self._changed)

    def update(self, most: int | None = None) -> bool:
        """Embed crops that are new; one that is gone or damaged is left out.

        Args:
            most: units whose crops are embedded now, those that came first; None: all.

        Returns:
            Whether that was all.

        Raises:
            EmbeddingError: the model fails; the crops are embedded the next time.
        """
        units, images = [], []
        chosen = list(islice(self._pending.items(), most))
        for object_id, unit in chosen:
            try:
                images.append(file_pixels(self._read(unit.image)))
                units.append(unit)
            except (CropError, ImageError):
                self._leave(object_id)  # its vector would be of another crop
        vectors = self._embedder.embed_images(images) if images else self._vectors[:0]
        for unit, vector in zip(units, vectors, strict=True):
            self._hold(unit, vector)
        for object_id, _ in chosen:
            del self._pending[object_id]
        return not self._pending

    def scores(self, text: str, units: Sequence[Unit | None]) -> Vectors:
        """Compare a text with the images of units.

        Args:
            text: of the question.
            units: of the memory; None for a place without one.

        Returns:
            (N,): the cosine with each unit's image, less the mean of those of all units here; 0 where a unit has no
            image, so that it is neither better nor worse for that.

        Raises:
            EmbeddingError: the text cannot be embedded, or in another length than the images.
        """
        scores = np.zeros(len(units), np.float32)
        there = [at for at, unit in enumerate(units) if unit is not None and unit.object_id in self._embedded]
        if not there:
            return scores
        (question,) = self._embedder.embed([text])
        if len(question) != self._vectors.shape[1]:
            raise EmbeddingError(
                f"{self.name} gives sentences {len(question)} numbers, images {self._vectors.shape[1]}"
            )
        rows = [self._slots[unit.object_id] for at in there if (unit := units[at]) is not None]
        cosines = self._vectors[rows] @ question
        scores[there] = cosines - cosines.mean()
        return scores

    def _changed(self, object_id: str, unit: Unit | None) -> None:
        if unit is None or not unit.image:
            self._pending.pop(object_id, None)
            self._leave(object_id)
            return
        known = self._embedded.get(object_id)
        if known is None or (unit.image != known.image and unit.stamp - known.stamp >= self._again_s):
            self._pending[object_id] = unit

    def _hold(self, unit: Unit, vector: Vectors) -> None:
        if unit.object_id not in self._slots:
            self._slots.take(unit.object_id)
        at = self._slots[unit.object_id]
        if at >= len(self._vectors):
            grown = np.zeros((max(64, 2 * len(self._vectors)), len(vector)), np.float32)
            grown[: len(self._vectors)] = self._vectors if len(self._vectors) else grown[:0]
            self._vectors = grown
        self._vectors[at] = vector
        self._embedded[unit.object_id] = unit

    def _leave(self, object_id: str) -> None:
        if self._embedded.pop(object_id, None) is not None:
            self._slots.leave(object_id)
