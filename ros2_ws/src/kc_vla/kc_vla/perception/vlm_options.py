"""The options of the detector `vlm`."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.core.options import option


@dataclass(frozen=True)
class VlmOptions:
    """The options of the detector `vlm`."""

    vision_model: str = option("vision-language model, as the server calls it")
    server: str = option("address of its OpenAI-compatible API; empty: OpenAI's own", "")
    classes: tuple[str, ...] = option("what it is to look for; empty: all things that a hand can move", ())
    a_minute: int = option("images that it is asked about within a minute", 6, low=1, high=600)
    server_timeout: float = option("s for one answer", 20.0, low=0.1, high=600.0)
    longest: int = option("px of the longest side of the image that is sent", 768, low=64, high=4096)
    most: int = option("objects of one image that count", 50, low=1, high=500)
