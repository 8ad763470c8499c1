"""Boxes from a model at an OpenAI-compatible server: what is asked, what counts, and what is refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from openai_server import OpenAiServer

from kc_vla.media.images import file_pixels
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detectors import DetectorError, SkippedImageError, open_detector
from kc_vla.perception.options import VlmOptions
from kc_vla.perception.vlm_detector import VlmDetector, detections_in

FRAME = CameraFrame("wrist", 1, np.full((240, 320, 3), 90, np.uint8), np.diag([300.0, 300.0, 1.0]), np.eye(4))
MUG = {"label": "Mug", "state": "", "box": [100, 200, 300, 400], "confidence": 0.9}


def answer(*objects: Any) -> str:
    return json.dumps({"objects": list(objects)})


def test_the_objects_of_an_image_are_asked_for_and_found() -> None:
    with OpenAiServer(says=lambda messages: answer(MUG, {**MUG, "label": "drawer", "state": "opened"})) as server:
        options = {"vision_model": "m", "server": server.url, "classes": ["mug", "drawer"], "longest": 160}
        mug, drawer = open_detector("vlm", options).detect(FRAME)
    assert (mug.object_type, mug.confidence, mug.state) == ("mug", 0.9, "")
    assert mug.box == PixelBox(32.0, 48.0, 96.0, 96.0)
    assert (drawer.object_type, drawer.state) == ("drawer", "opened")
    text, picture = server.asked[0]["messages"][1]["content"]
    assert "mug, drawer" in text["text"]
    sent = file_pixels(base64.b64decode(picture["image_url"]["url"].partition(",")[2]))
    assert sent.shape == (120, 160, 3)
    assert server.asked[0]["response_format"]["json_schema"]["strict"] is True


def test_the_budget_of_a_minute_is_kept() -> None:
    now = [0.0]
    with OpenAiServer(says=lambda messages: answer()) as server:
        detector = VlmDetector(VlmOptions("m", server.url, a_minute=2), clock=lambda: now[0])
        assert [detector.detect(FRAME), detector.detect(FRAME)] == [[], []]
        with pytest.raises(SkippedImageError):
            detector.detect(FRAME)
        now[0] = 60.0
        assert detector.detect(FRAME) == []
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("a mug", "gave no JSON"),
        ("[]", "without a list of objects"),
        (answer("mug"), "object 1 .* has not the fields label, state, box, confidence"),
        (answer({**MUG, "extra": 1}), "has not the fields"),
        (answer({**MUG, "label": " "}), "has no label"),
        (answer({**MUG, "label": "m" * 61}), "more than 60 letters"),
        (answer({**MUG, "confidence": 7}), "confidence 7: 0 to 1 can be"),
        (answer({**MUG, "confidence": True}), "confidence True"),
        (answer({**MUG, "box": [1, 2, 3]}), "no box of four numbers"),
        (answer({**MUG, "box": [1, 2, "3", 4]}), "no box of four numbers"),
        (answer({**MUG, "box": [300, 200, 100, 400]}), "not within 0 to 1000"),
        (answer({**MUG, "box": [0, 0, 1280, 720]}), "not within 0 to 1000"),
        (answer({**MUG, "box": [float("nan"), 0, 10, 10]}), "gave no JSON|no box of four numbers"),
        (answer(*[MUG] * 3), "gave 3 objects: 2 are the most"),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for_is_refused_in_a_line(said: str, words: str) -> None:
    with pytest.raises(DetectorError, match=words) as caught:
        detections_in(said, 320, 240, 2)
    assert "\n" not in str(caught.value)


def test_an_answer_in_a_fence_is_read() -> None:
    assert len(detections_in(f"```json\n{answer(MUG)}\n```", 320, 240, 5)) == 1


def test_without_a_model_or_a_server_it_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(DetectorError, match="'vlm': option 'vision_model' is missing - vision-language model"):
        open_detector("vlm")
    with pytest.raises(DetectorError, match="no key for the model m"):
        open_detector("vlm", {"vision_model": "m"})
    with pytest.raises(DetectorError, match="its address has no http"):
        open_detector("vlm", {"vision_model": "m", "server": "ftp://x"})


def test_a_server_that_fails_is_one_line() -> None:
    with OpenAiServer() as server:
        server.answers = [(500, {"error": {"message": "out\nof memory"}})]
        with pytest.raises(DetectorError, match=r"answered 500: .*out of memory") as caught:
            open_detector("vlm", {"vision_model": "m", "server": server.url}).detect(FRAME)
    assert "\n" not in str(caught.value)
