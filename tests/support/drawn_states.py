"""Pictures of things in a state, drawn for a model that looks at pixels, and that model."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIDE = 100
"""px of a drawn thing."""
SHAPES = ("Mug", "ButterKnife", "Apple", "DeskLamp")
COLOURS: Mapping[str, tuple[int, int, int]] = {
    "red": (200, 40, 40),
    "green": (40, 160, 60),
    "blue": (50, 80, 200),
    "white": (235, 235, 235),
    "black": (40, 40, 40),
}
STATES = (
    "heated",
    "cooked",
    "sliced",
    "cleaned",
    "dirty",
    "filled",
    "used up",
    "off",
    "on",
    "opened",
    "closed",
    "broken",
)
_INK, _SHADE = (255, 140, 0), (128, 128, 128)


class Drawn(NamedTuple):
    """What is drawn: type, colour and state of a thing."""

    object_type: str
    colour: str
    state: str


ALL = tuple(Drawn(shape, colour, state) for shape in SHAPES for colour in COLOURS for state in STATES)


@cache
def drawing(drawn: Drawn) -> NDArray[np.uint8]:
    """The picture (SIDE, SIDE, 3), RGB: the thing in its colour, with what shows its state in orange over it."""
    pixels = np.full((SIDE, SIDE, 3), 205, np.uint8)
    paint = COLOURS[drawn.colour]
    if drawn.object_type == "Mug":
        cv2.rectangle(pixels, (25, 30), (65, 80), paint, -1)
        cv2.circle(pixels, (70, 55), 14, paint, 5)
    elif drawn.object_type == "ButterKnife":
        cv2.rectangle(pixels, (10, 45), (55, 58), paint, -1)
        cv2.ellipse(pixels, (70, 51), (22, 7), 0, 0, 360, paint, -1)
    elif drawn.object_type == "Apple":
        cv2.circle(pixels, (50, 55), 28, paint, -1)
        cv2.line(pixels, (50, 27), (56, 14), _SHADE, 4)
    else:
        cv2.line(pixels, (50, 85), (50, 40), paint, 6)
        cv2.fillPoly(pixels, [np.array([(25, 40), (75, 40), (62, 15), (38, 15)])], paint)
    _mark(pixels, STATES.index(drawn.state))
    return pixels


def _mark(pixels: NDArray[np.uint8], number: int) -> None:
    """Draw a sign of four by three places over the thing: a bar where the state's place is, a dot elsewhere."""
    for place in range(len(STATES)):
        x, y = 14 + 24 * (place % 4), 20 + 30 * (place // 4)
        if place == number:
            cv2.rectangle(pixels, (x - 9, y - 9), (x + 9, y + 9), _INK, -1)
        else:
            cv2.circle(pixels, (x, y), 2, _SHADE, -1)


def scene(drawn: Drawn, left: int, top: int, width: int = 320, height: int = 240) -> NDArray[np.uint8]:
    """An image of a camera in which the thing is drawn at a place, before a background of chance."""
    pixels = np.random.default_rng(left * 1000 + top).integers(60, 110, (height, width, 3), np.uint8)
    pixels[top : top + SIDE, left : left + SIDE] = drawing(drawn)
    return pixels


def sent_image(given: Mapping[str, Any]) -> bytes:
    """The JPEG of a request."""
    _, image = given["messages"][-1]["content"]
    kind, _, encoded = image["image_url"]["url"].partition(",")
    assert kind == "data:image/jpeg;base64"
    return base64.b64decode(encoded, validate=True)


def seen_in(data: bytes, margin: int) -> Drawn:
    """What is drawn in the middle of a crop: the drawing that is nearest to its pixels."""
    pixels = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), np.float32)
    middle = pixels[margin : margin + SIDE, margin : margin + SIDE]
    return min(ALL, key=lambda each: float(np.abs(middle - drawing(each)).mean()))


def looks_and_says(margin: int) -> Any:
    """A model that looks at the pixels it was sent, and says what state the thing is in that it was asked about."""

    def says(messages: list[dict[str, Any]]) -> str:
        text = messages[-1]["content"][0]["text"]
        seen = seen_in(sent_image({"messages": messages}), margin)
        asked = re.search(r"about the objects '([^']+)'", text)
        assert asked is not None
        steps = f"Step 1. A {seen.colour} {asked[1]}.\nStep 2. It.\nStep 3. As seen."
        return f"{steps}\nRESULT\n- **{asked[1]}**: {seen.state}"

    return says
