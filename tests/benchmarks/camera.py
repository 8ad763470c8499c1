"""Camera-to-event latency: from the publishing of an image to the keyframe score, event and index at a reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kc_vla.core import topics

from .measuring import Spread, Table
from .stack import CONTROL, SELECTION, Record, Setting, chain_parameters, record

WHOLE = (*SELECTION, *CONTROL, "recorder")
FULL = (
    (256, 256, 20, SELECTION, "oracle"),
    (256, 256, 30, SELECTION, "oracle"),
    (640, 480, 20, SELECTION, "oracle"),
    (640, 480, 30, SELECTION, "oracle"),
    (640, 480, 30, SELECTION, "rules"),
    (256, 256, 20, WHOLE, "oracle"),
    (640, 480, 30, WHOLE, "oracle"),
    (224, 224, 20, WHOLE, "oracle"),
    (224, 224, 20, SELECTION, "learned"),
    (224, 224, 30, SELECTION, "learned"),
    (224, 224, 20, WHOLE, "learned"),
    (224, 224, 30, WHOLE, "learned"),
)
QUICK = ((256, 256, 20, SELECTION, "oracle"), (640, 480, 30, WHOLE, "oracle"), (224, 224, 20, WHOLE, "learned"))


def measure(quick: bool, work: Path) -> Table:
    """Stream pictures through the selector and look at what comes out."""
    rows = []
    for number, (width, height, rate, nodes, source) in enumerate(QUICK if quick else FULL):
        folder = work / str(number)
        # Every score of a network is above 0: so every frame makes an event, and none is the last to be looked at.
        selector = {"selector": source, **({"threshold": 0.0} if source == "learned" else {})}
        parameters = {**chain_parameters(folder), "keyframe_selector": selector}
        setting = Setting(width, height, rate, nodes, parameters)
        found = record(setting, 10 if quick else 25, folder, f"camera: {setting.pictures}")
        rows.append(_row(setting, source, found))
    return Table(
        "Camera-to-event latency, ms from the publishing of the image: p50 / p99 / max",
        rows,
        [
            "Two cameras of that size. Time runs from just before the publishing call of the third-person image to the "
            "callback of a reader in another process, so it holds two passages through the middleware.",
            "Reference: the same images at a plain rclpy reader, in the same run (one passage). `ratio` is the p50 of "
            "the score over the p50 of the reference.",
            "`event`: a keyframe event, from the image that decided it; of `learned`, the model shipped, every frame "
            "is made to give one. `index`: the buffer holds the frame with both images and has settled its "
            "keyframes. `selector, CPU`: share of one core that the node took.",
            f"`whole`: {', '.join(WHOLE)}; otherwise {' and '.join(SELECTION)}.",
        ],
    )


def _row(setting: Setting, source: str, found: Record) -> dict[str, Any]:
    published = {(s["episode"], s["frame"]): s["at"] for s in found.sent}
    by_stamp = {s["stamp"]: s["at"] for s in found.sent}
    arrived = [e for e in found.images[topics.image_topic("third_person")] if e["stamp"] in by_stamp]
    bare = Spread.of((e["at"] - by_stamp[e["stamp"]]) / 1e6 for e in arrived)

    def since_image(topic: str) -> Spread:
        entries = {(e["episode"], e["frame"]): e for e in reversed(found.results[topic])}
        return Spread.of((e["at"] - published[k]) / 1e6 for k, e in entries.items() if k in published)

    score = since_image(topics.KEYFRAME_SCORE)
    return {
        "images": setting.pictures,
        "nodes": "whole" if setting.nodes == WHOLE else "selection",
        "source": source,
        "frames": len(found.sent),
        "bare transport": bare,
        "score": score,
        "ratio": score.p50 / bare.p50,
        "event": since_image(topics.KEYFRAME_EVENT),
        "index": since_image(topics.KEYFRAME_INDEX),
        "selector, CPU": f"{100 * found.cpu['keyframe_selector']:.0f} %",
        "lost, bare": len(found.sent) - bare.count,
        "lost, score": len(found.sent) - score.count,
    }
