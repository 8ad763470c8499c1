"""An image to draw on: shapes through OpenCV, text through Pillow.

Pillow is there for the text alone: OpenCV's own strokes cannot be read at the size of a caption.
"""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

Colour = tuple[int, int, int]
Picture = npt.NDArray[np.uint8]

BACKGROUND: Colour = (14, 18, 27)
PANEL: Colour = (24, 30, 43)
OUTLINE: Colour = (52, 61, 80)
TEXT: Colour = (236, 240, 247)
MUTED: Colour = (146, 157, 178)
BLUE: Colour = (96, 165, 250)
AMBER: Colour = (251, 191, 36)
GREEN: Colour = (52, 211, 153)
RED: Colour = (248, 113, 113)

_BOLD_STROKE = 0.4  # px; the built-in typeface has no bold cut


class Canvas:
    """An RGB image. Positions and sizes are in px from the upper left corner.

    Attributes:
        pixels: (height, width, 3) uint8 RGB.
    """

    def __init__(self, width: int, height: int, colour: Colour = BACKGROUND) -> None:
        self.pixels: Picture = np.full((height, width, 3), colour, np.uint8)

    def copy(self) -> Canvas:
        """Return an equal image to draw on."""
        twin = Canvas(1, 1)
        twin.pixels = self.pixels.copy()
        return twin

    def box(self, x: int, y: int, width: int, height: int, colour: Colour) -> None:
        """Fill a rectangle."""
        if width > 0 and height > 0:
            cv2.rectangle(self.pixels, (x, y), (x + width - 1, y + height - 1), colour, -1)

    def frame(self, x: int, y: int, width: int, height: int, colour: Colour, thickness: int = 1) -> None:
        """Draw the outline of a rectangle, inside it."""
        for t in range(thickness):
            cv2.rectangle(self.pixels, (x + t, y + t), (x + width - 1 - t, y + height - 1 - t), colour, 1)

    def line(self, points: npt.ArrayLike, colour: Colour, thickness: int = 1) -> None:
        """Draw smooth lines through `points`, (n, 2)."""
        fixed = np.round(np.asarray(points, np.float64) * 16).astype(np.int32)
        cv2.polylines(self.pixels, [fixed.reshape(-1, 1, 2)], False, colour, thickness, cv2.LINE_AA, shift=4)

    def diamond(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """Fill a diamond around a point."""
        corners = np.array([(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)])
        fixed = np.round(corners * 16).astype(np.int32)
        cv2.fillConvexPoly(self.pixels, fixed, colour, cv2.LINE_AA, shift=4)

    def text(
        self, x: int, y: int, text: str, size: int, colour: Colour = TEXT, *, bold: bool = False, anchor: str = "left"
    ) -> int:
        """Write one line with its upper edge at `y`; return its width.

        Args:
            x: its left end, middle or right end, as `anchor` says.
            y: upper edge.
            text: what to write.
            size: height of the letters with their descents.
            colour: of the letters.
            bold: heavier letters.
            anchor: "left", "middle" or "right".
        """
        mask = _text_mask(text, size, bold)
        height, width = mask.shape
        x -= {"left": 0, "middle": width // 2, "right": width}[anchor]
        left, top = max(0, x), max(0, y)
        area = self.pixels[top : y + height, left : x + width]
        cover = mask[top - y : top - y + area.shape[0], left - x : left - x + area.shape[1], None].astype(np.float32)
        area[:] = (area + (np.array(colour, np.float32) - area) * (cover / 255)).astype(np.uint8)
        return int(width)

    def chip(self, x: int, y: int, text: str, size: int, colour: Colour, ink: Colour = BACKGROUND) -> int:
        """Write `text` on a filled label with its upper left corner at (x, y); return the width of the label."""
        width = text_width(text, size, bold=True) + 14
        self.box(x, y, width, size + 9, colour)
        self.text(x + 7, y + 4, text, size, ink, bold=True)
        return width

    def picture(self, x: int, y: int, side: int, picture: Picture) -> None:
        """Put an image into the square of `side` px at (x, y), as large as it fits, in its own proportions."""
        height, width = picture.shape[:2]
        scale = side / max(height, width)
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        method = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
        scaled = cv2.resize(picture, size, interpolation=method)
        self.box(x, y, side, side, (0, 0, 0))
        left, top = x + (side - size[0]) // 2, y + (side - size[1]) // 2
        self.pixels[top : top + size[1], left : left + size[0]] = scaled


def text_width(text: str, size: int, *, bold: bool = False) -> int:
    """Return the width of one line of text in px."""
    return int(_text_mask(text, size, bold).shape[1])


def shortened(text: str, size: int, width: int, *, bold: bool = False) -> str:
    """Return `text`, cut with an ellipsis where it is wider than `width` px."""
    if text_width(text, size, bold=bold) <= width:
        return text
    while text and text_width(text + "…", size, bold=bold) > width:
        text = text[:-1]
    return text.rstrip() + "…"


@lru_cache(maxsize=16)
def _font(size: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)  # with a size, Pillow always gives its built-in outline font
    return font


@lru_cache(maxsize=2048)
def _text_mask(text: str, size: int, bold: bool) -> npt.NDArray[np.uint8]:
    """Return how much each pixel of a line of text is covered, (height, width) uint8."""
    font = _font(size)
    width = max(1, round(font.getlength(text)) + 2)
    ascent, descent = font.getmetrics()
    image = Image.new("L", (width, ascent + descent))
    ImageDraw.Draw(image).text((1, 0), text, 255, font, stroke_width=_BOLD_STROKE if bold else 0)
    return np.asarray(image)
