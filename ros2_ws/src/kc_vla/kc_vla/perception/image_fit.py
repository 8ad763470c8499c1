"""How the image that a detector was given lies in that of the camera."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.memory.images.crop import PixelBox


@dataclass(frozen=True)
class ImageFit:
    """Brings boxes of a detector's input to pixels of the camera's image.

    Attributes:
        across, down: px of the camera's image in one px of the input.
        left, top: px of the input before the camera's image begins.
    """

    across: float
    down: float
    left: float = 0.0
    top: float = 0.0

    def box(self, x: float, y: float, width: float, height: float) -> PixelBox:
        """Return the box around a middle, all in px of the input, in px of the camera's image."""
        return PixelBox(
            (x - width / 2 - self.left) * self.across,
            (y - height / 2 - self.top) * self.down,
            (x + width / 2 - self.left) * self.across,
            (y + height / 2 - self.top) * self.down,
        )


def fit_of(input_size: tuple[float, ...], fit: str, image_size: tuple[int, int]) -> ImageFit:
    """Return how an input of a size was made of an image.

    Args:
        input_size: its width and height, px; empty: those of the image.
        fit: "stretched"; "letterboxed", with bars on both sides; or "padded", with one at the right or below.
        image_size: width and height of the camera's image, px.
    """
    if not input_size:
        return ImageFit(1.0, 1.0)
    width, height = input_size
    across, down = image_size[0] / width, image_size[1] / height
    if fit == "stretched":
        return ImageFit(across, down)
    scale = max(across, down)
    if fit == "padded":
        return ImageFit(scale, scale)
    return ImageFit(scale, scale, (width - image_size[0] / scale) / 2, (height - image_size[1] / scale) / 2)
