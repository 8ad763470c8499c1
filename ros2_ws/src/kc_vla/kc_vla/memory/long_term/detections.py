"""What a detector saw, in the frame of the map, and how long and how sure a graph holds on to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.nodes import Vector, check_embedding, check_seen

_STANDING = """
armchair bathtub bathtubbasin bed bookcase bookshelf cabinet closet coffeetable counter countertop cupboard curtain desk
diningtable dishwasher door drawer dresser faucet fireplace fridge furniture garbagecan handtowelholder lightswitch
microwave mirror oven painting refrigerator safe shelf shower showercurtain showerdoor showerglass showerhead sidetable
sink sinkbasin sofa stairs stove stoveburner stoveknob table television toilet toiletpaperhanger towelholder tvstand
wall wardrobe washingmachine window worktop
"""
IMMOVABLE = frozenset(_STANDING.split())
"""Classes that nobody carries elsewhere, in small letters without spaces."""


@dataclass(frozen=True, slots=True)
class Detection:
    """One object that a detector sees.

    Attributes:
        object_type: class, e.g. "mug".
        position: of the middle of its box, m.
        size: extent of its box along the axes of the map, m; zeros where it is not known.
        confidence: of the detector, 0..1.
        state: e.g. "opened"; empty if the detector does not say.
        attributes: what else it says, as text.
        movable: whether such a thing may be carried elsewhere; None: by its class, see `IMMOVABLE`.
        source_id: what the detector calls this object each time it sees it; empty if it does not know it again.
        embedding: float32 numbers of what it looks like; empty if not given.
        image: JPEG or PNG of what the detector saw of it, which the scene graph does not keep; empty if not given.
    """

    object_type: str
    position: Vector
    size: Vector = (0.0, 0.0, 0.0)
    confidence: float = 1.0
    state: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    movable: bool | None = None
    source_id: str = ""
    embedding: bytes = b""
    image: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        check_seen(self.object_type, self.position, self.size, self.state, self.attributes, self.confidence)
        check_embedding(self.embedding)
        if type(self.source_id) is not str or len(self.source_id) > 200:
            raise GraphError("a source_id is text of up to 200 letters")

    @property
    def can_be_moved(self) -> bool:
        """Return what `movable` says, or the class."""
        return plain_type(self.object_type) not in IMMOVABLE if self.movable is None else self.movable


@dataclass(frozen=True)
class FusionSettings:
    """How detections become objects.

    Attributes:
        gate_m: a detection within this of an object of its class can be that object; more for large ones.
        gate_share: of the mean diagonal of both boxes, where that is more.
        size_ratio: boxes whose diagonals differ by more are not the same object.
        alike: cosine of two embeddings below which objects of one class are not the same.
        same: cosine from which they are even where the detector names another class.
        trust_source_ids: a detection whose `source_id` and class are known is that object, wherever it is; of another
            class, it is that object at its place, and its class is the newer one.
        learn: share of the doubt that a sure detection takes away.
        keep: share of the confidence that is left after a look at its place did not find it.
        gone: confidence below which it is gone.
        most_objects: of one map; what is new beyond is left out.
    """

    gate_m: float = 0.3
    gate_share: float = 0.6
    size_ratio: float = 3.0
    alike: float = 0.4
    same: float = 0.9
    trust_source_ids: bool = True
    learn: float = 0.5
    keep: float = 0.6
    gone: float = 0.1
    most_objects: int = 50_000

    def __post_init__(self) -> None:
        shares = (self.learn, self.keep, self.gone)
        if not all(0.0 < share < 1.0 for share in shares) or min(self.gate_m, self.gate_share) < 0.0:
            raise GraphError("learn, keep and gone lie between 0 and 1, and no gate is negative")
        if self.size_ratio < 1.0 or not 0 < self.most_objects <= 100_000:
            raise GraphError("size_ratio is at least 1, most_objects 1 to 100,000")


@lru_cache(maxsize=4096)
def plain_type(object_type: str) -> str:
    """Return a class for comparing: "Dining Table" and "dining_table" are one."""
    return "".join(letter for letter in object_type.lower() if letter.isalnum()) or object_type


def upright_size(rotation: NDArray[np.float64], size: Vector) -> Vector:
    """Return the extent along the axes of the map, m, of a box that is turned by `rotation` (3, 3)."""
    x, y, z = np.abs(rotation) @ np.asarray(size, float)
    return float(x), float(y), float(z)
