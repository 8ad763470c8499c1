"""The cameras that a selector looks at: of a data set when it learns, of the robot when it runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kc_vla.core.errors import StackError
from kc_vla.core.views import VIEWS


class CameraError(StackError):
    """A choice of cameras that cannot be."""


@dataclass(frozen=True)
class Camera:
    """A camera.

    Attributes:
        view: which of the robot's it is, one of `VIEWS`.
        named: what data sets call it, where it is none of the usual names.
    """

    view: str
    named: str = ""

    def __str__(self) -> str:
        return f"{self.view}={self.named}" if self.named else self.view


THIRD_PERSON = Camera("third_person")
"""The paper's selector looks at this camera alone."""


def parse_cameras(texts: Iterable[str]) -> tuple[Camera, ...]:
    """The cameras named by texts as "wrist" or "third_person=observation.images.cam_7", those of `VIEWS` in order.

    Raises:
        CameraError: none, one that the robot does not have, or one twice.
    """
    found: dict[str, Camera] = {}
    for text in texts:
        view, equals, named = text.partition("=")
        if view not in VIEWS:
            raise CameraError(
                f"no camera '{text}': write {' or '.join(VIEWS)}, and where the data set calls it otherwise "
                f"what it does: {VIEWS[0]}={text.rpartition('=')[2] or 'KEY'}"
            )
        if equals and not named:
            raise CameraError(f"camera '{text}': what the data set calls it is missing after '='")
        if view in found:
            raise CameraError(f"camera '{view}' is named twice: '{found[view]}', '{text}'")
        found[view] = Camera(view, named)
    if not found:
        raise CameraError(f"no camera at all: name {' or '.join(VIEWS)}")
    return tuple(found[view] for view in VIEWS if view in found)
