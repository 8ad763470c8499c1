"""Which object is which over many views, and which is not there any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.located_object import LocatedObject


@dataclass(frozen=True)
class TrackerSettings:
    """How looks become objects."""


@dataclass(frozen=True)
class Tracked:
    """What is known after a look.

    Attributes:
        objects: that are reported now, with their ids: those that were seen, and those that were just shut in something
            (their `box` is empty and their attribute "place" says where they are).
        gone: ids of the objects that are not there any more, each once.
        undecided: ids of the objects that ought to be in view and were not seen, without proof that they are gone.
        refused: what was left out, a line for each reason.
    """

    objects: list[LocatedObject]
    gone: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


class Tracker:
    """Objects over the views of all cameras, for one thread."""

    def __init__(self, settings: TrackerSettings | None = None) -> None:
        """Begin with no object."""
        self._settings = settings or TrackerSettings()

    def update(self, frame: CameraFrame, located: Sequence[LocatedObject]) -> Tracked:
        """Take in what one image shows."""
        return Tracked([replace(each, object_id=f"{each.object_type}_{at}") for at, each in enumerate(located, 1)])
