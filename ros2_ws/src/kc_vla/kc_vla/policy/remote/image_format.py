"""Images as servers want them: a size, black where the camera saw nothing, turned, channels last or first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kc_vla.policy.remote.wire import WireError

Picture = NDArray[np.uint8]
TURNS = (0, 90, 180, 270)


@dataclass(frozen=True)
class ImageFormat:
    """How one image is sent.

    Attributes:
        view: of the robot.
        size: height and width, px; None as the camera has it.
        turn: degrees, counter-clockwise: 0, 90, 180 or 270.
        channels_first: (3, H, W) and not (H, W, 3).
    """

    view: str
    size: tuple[int, int] | None = None
    turn: int = 0
    channels_first: bool = False

    def sent(self, picture: Picture) -> Picture:
        """Return a camera's image (H, W, 3) as it is sent."""
        turned = np.rot90(picture, self.turn // 90)
        fitted = turned if self.size is None else resized_with_pad(turned, *self.size)
        return np.ascontiguousarray(fitted.transpose(2, 0, 1) if self.channels_first else fitted)

    def seen(self, sent: object, what: str) -> Picture:
        """Return what has come, as an image (H, W, 3); a size is left as it is.

        Raises:
            WireError: it is no image; `what` names it.
        """
        if not isinstance(sent, np.ndarray) or sent.dtype != np.uint8 or sent.ndim != 3:
            kind = f"{sent.dtype} of shape {list(sent.shape)}" if isinstance(sent, np.ndarray) else type(sent).__name__
            raise WireError(f"{what} is {kind}: an image has the type uint8 and the shape height, width, 3")
        upright = sent.transpose(1, 2, 0) if self.channels_first else sent
        if upright.shape[2] != 3 or 0 in upright.shape:
            raise WireError(f"{what} has the shape {list(sent.shape)}: an image has three color channels")
        return np.ascontiguousarray(np.rot90(upright, -(self.turn // 90)))


def resized_with_pad(picture: Picture, height: int, width: int) -> Picture:
    """Return an image (H, W, 3) as large as fits into height and width, in the middle, black around it.

    The same pixels as those of openpi's client and its training: bilinear, as Pillow has it.
    """
    was_height, was_width = picture.shape[:2]
    if (was_height, was_width) == (height, width):
        return picture
    ratio = max(was_width / width, was_height / height)
    fitted = max(1, int(was_height / ratio)), max(1, int(was_width / ratio))
    small = Image.fromarray(np.ascontiguousarray(picture)).resize(fitted[::-1], Image.Resampling.BILINEAR)
    padded = np.zeros((height, width, 3), np.uint8)
    top, left = (height - fitted[0]) // 2, (width - fitted[1]) // 2
    padded[top : top + fitted[0], left : left + fitted[1]] = np.asarray(small)
    return padded
