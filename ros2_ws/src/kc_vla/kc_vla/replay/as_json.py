"""A comparison as values that a program reads."""

from __future__ import annotations

import math
from typing import Any

from kc_vla.replay.differences import Comparison


def plain(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values for JSON; what is no number is None."""
    chunks = comparison.chunks
    return {
        "same_keyframes": comparison.same_keyframes,
        "annotated_by": comparison.annotated.author if comparison.annotated is not None else None,
        "keyframes": [
            {
                "phase": pair.phase,
                "label": pair.label,
                "bag": pair.bag.frame if pair.bag is not None else None,
                "live": pair.live.frame if pair.live is not None else None,
                "oracle": pair.oracle,
                "annotated": pair.annotated,
                "as_annotated": pair.as_annotated,
                "difference": pair.difference,
                "verdict": pair.verdict,
            }
            for pair in comparison.keyframes
        ],
        "scores": {name: _finite(value) for name, value in vars(comparison.scores).items()},
        "frames": {**vars(comparison.frames), "dropped": list(comparison.frames.dropped)},
        "chunks": None
        if chunks is None
        else {
            **vars(chunks),
            "other_keyframes": [
                {"frame": frame, "bag": list(bag), "live": list(live)} for frame, bag, live in chunks.other_keyframes
            ],
            "missing": [{"frame": frame, "reason": reason} for frame, reason in chunks.missing],
            "columns": [{name: _finite(value) for name, value in vars(column).items()} for column in chunks.columns],
        },
        "latency_ms": [
            {"node": s.node, "stage": s.stage, "bag": s.bag and dict(s.bag), "live": s.live and dict(s.live)}
            for s in comparison.stages
        ],
        "losses": [vars(loss) for loss in comparison.losses],
    }


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
