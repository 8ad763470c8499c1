"""The cameras that a selector looks at: of a data set when it learns, of the robot when it runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kc_vla.core.errors import StackError
from kc_vla.core.views import DEFAULT_VIEWS, checked_views, in_usual_order


class CameraChoiceError(StackError):
    """A choice of cameras that cannot be."""


@dataclass(frozen=True)
class Camera:
    """A camera.

    Attributes:
        view: which of the robot's it is, by its name in the robot file.
        named: what data sets call it, where it is none of the usual names.
    """

    view: str
    named: str = ""

    def __str__(self) -> str:
        return f"{self.view}={self.named}" if self.named else self.view


THIRD_PERSON = Camera(DEFAULT_VIEWS[0])
"""The paper's selector looks at this camera alone: what a selector looks at of which nothing else is said."""


def parse_cameras(texts: Iterable[str]) -> tuple[Camera, ...]:
    """Return the cameras named by texts as "wrist" or "third_person=observation.images.cam_7".

    However they were written down, the first view of most robots comes first: the images stand side by side.

    Raises:
        CameraChoiceError: none, one that no robot can have, or one twice.
    """
    found: dict[str, Camera] = {}
    for text in texts:
        view, equals, named = text.partition("=")
        try:
            checked_views([view])
        except ValueError as error:
            raise CameraChoiceError(
                f"no camera '{text}': write a view of the robot, and where the data set calls it otherwise "
                f"what it does: {DEFAULT_VIEWS[0]}={text.rpartition('=')[2] or 'KEY'}"
            ) from error
        if equals and not named:
            raise CameraChoiceError(f"camera '{text}': what the data set calls it is missing after '='")
        if view in found:
            raise CameraChoiceError(f"camera '{view}' is named twice: '{found[view]}', '{text}'")
        found[view] = Camera(view, named)
    if not found:
        raise CameraChoiceError(f"no camera at all: name a view of the robot, such as {DEFAULT_VIEWS[0]}")
    return tuple(found[view] for view in in_usual_order(found))
