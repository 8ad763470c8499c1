"""Objects that a vision-language model at an OpenAI-compatible server finds in an image, as checked JSON."""

from __future__ import annotations

import base64
import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from kc_vla.core.untrusted import one_line, parsed_json
from kc_vla.media.images import jpeg
from kc_vla.memory.images.crop import PixelBox
from kc_vla.memory.served import Server, ServerError, ServerSettings
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detectors import DetectorError, SkippedImageError
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.options import VlmOptions

_WINDOW_S = 60.0
_FULL = 1000
"""Boxes are in thousandths of the image's sides: models know that form best, whatever size they see it at."""
_TOKENS_EACH, _TOKENS = 60, 200
_MOST_LETTERS = 60
_NUMBER: Mapping[str, Any] = {"type": "number"}
_OBJECT: Mapping[str, Any] = {
    "label": {"type": "string"},
    "state": {"type": "string"},
    "box": {"type": "array", "items": _NUMBER},
    "confidence": _NUMBER,
}
SCHEMA: Mapping[str, Any] = {
    "name": "objects",
    "strict": True,
    "schema": {
        "type": "object",
        "properties": {
            "objects": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": dict(_OBJECT),
                    "required": list(_OBJECT),
                    "additionalProperties": False,
                },
            }
        },
        "required": ["objects"],
        "additionalProperties": False,
    },
}
_ROLE = "You find objects in images of a robot's camera. Answer with the JSON alone."
_TASK = """\
Find {what} in the image, each object once, {most} at most. Give for each:
- label: its class, one or two words in lower case, such as "mug";
- state: "opened", "closed", "on", "off" or another word where the image shows it; otherwise empty;
- box: [left, top, right, bottom], in thousandths of the image's width and height, 0 to 1000;
- confidence: from 0 to 1.
The form is {{"objects": [{{"label": "mug", "state": "", "box": [120, 340, 260, 520], "confidence": 0.9}}]}}."""


class VlmDetector:
    """An `ObjectDetector` that asks a server."""

    def __init__(self, options: VlmOptions, clock: Callable[[], float] = time.monotonic) -> None:
        """Make a client; nothing is sent yet.

        Raises:
            DetectorError: no server is named, or there is no key for it.
        """
        tokens = _TOKENS + _TOKENS_EACH * options.most
        settings = ServerSettings(
            options.vision_model, options.server, options.server_timeout, retries=0, most_tokens=tokens
        )
        try:
            self._server = Server(settings)
        except ServerError as error:
            raise DetectorError(f"detector 'vlm': {error}") from error
        self._options, self._clock = options, clock
        self._asked: deque[float] = deque()

    def detect(self, frame: CameraFrame) -> list[ImageDetection]:
        """Return the objects of an image.

        Raises:
            SkippedImageError: the budget of the minute is spent.
            DetectorError: the server does not answer, or not in the form that was asked for.
        """
        now = self._clock()
        while self._asked and now - self._asked[0] >= _WINDOW_S:
            self._asked.popleft()
        if len(self._asked) >= self._options.a_minute:
            raise SkippedImageError(f"{self._options.a_minute} images were looked at within a minute")
        self._asked.append(now)
        picture = base64.b64encode(jpeg(frame.image, self._options.longest, 90)).decode()
        what = ", ".join(self._options.classes) or "the things that a hand can move, and their containers"
        content = [
            {"type": "text", "text": _TASK.format(what=what, most=self._options.most)},
            {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{picture}"}},
        ]
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": _ROLE},
            {"role": "user", "content": content},
        ]
        try:
            said = self._server.stream(messages, SCHEMA, lambda bit: None).text
        except ServerError as error:
            raise DetectorError(f"detector 'vlm': {error}") from error
        height, width = frame.image.shape[:2]
        return detections_in(said, width, height, self._options.most)

    def close(self) -> None:
        """Do nothing: no connection is held."""


def detections_in(said: str, width: int, height: int, most: int) -> list[ImageDetection]:
    """Return the objects in the answer of a model for an image of this size, px.

    Raises:
        DetectorError: it is not the JSON that was asked for, or one of its objects cannot be.
    """
    body = said.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        form = parsed_json(body)
    except ValueError as error:
        raise DetectorError(f"the model of detector 'vlm' gave no JSON: {error}") from error
    objects = form.get("objects") if isinstance(form, dict) else None
    if not isinstance(objects, list):
        raise DetectorError("the model of detector 'vlm' gave JSON without a list of objects")
    if len(objects) > most:
        raise DetectorError(f"the model of detector 'vlm' gave {len(objects)} objects: {most} are the most")
    return [_detection(number, each, width, height) for number, each in enumerate(objects, 1)]


def _detection(number: int, told: Any, width: int, height: int) -> ImageDetection:
    where = f"object {number} of the model of detector 'vlm'"
    if not isinstance(told, dict) or set(told) != set(_OBJECT):
        raise DetectorError(f"{where} has not the fields {', '.join(_OBJECT)}")
    label, state, box, confidence = (told[name] for name in _OBJECT)
    if not (isinstance(label, str) and label.strip() and isinstance(state, str)):
        raise DetectorError(f"{where} has no label, or a state that is no text")
    if max(len(label), len(state)) > _MOST_LETTERS:
        raise DetectorError(f"{where} has a label or a state of more than {_MOST_LETTERS} letters")
    if not _is_number(confidence) or not 0.0 <= confidence <= 1.0:
        raise DetectorError(f"{where} has the confidence {str(confidence)[:20]}: 0 to 1 can be")
    if not isinstance(box, list) or len(box) != 4 or not all(map(_is_number, box)):
        raise DetectorError(f"{where} has no box of four numbers")
    left, top, right, bottom = box
    if not (0 <= left < right <= _FULL and 0 <= top < bottom <= _FULL):
        raise DetectorError(f"{where} has the box {str(box)[:60]}, which is not within 0 to {_FULL}")
    across, down = width / _FULL, height / _FULL
    inside = PixelBox(left * across, top * down, right * across, bottom * down)
    return ImageDetection(_word(label), inside, float(confidence), _word(state))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _word(text: str) -> str:
    return one_line(text).strip().lower()
