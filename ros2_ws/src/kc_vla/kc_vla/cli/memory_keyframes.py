"""`kc-vla memory keyframes`: the keyframes of a long-term memory, and where an object was in each."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kc_vla.memory.episodic.linked import LinkedKeyframe, LinkedKeyframes
    from kc_vla.memory.things import ObservedThing

_CLOCK_S = 1e9
"""Stamps above this are of the wall clock, since 1970."""


def add_arguments(keyframes: argparse.ArgumentParser) -> None:
    """Add the arguments beside the store and the map."""
    keyframes.add_argument("object", nargs="?", default="", help="id of an object: only keyframes that show it")


def keyframe_lines(history: LinkedKeyframes, object_id: str) -> Iterator[str]:
    """Yield a line for each keyframe, or for each that shows an object.

    Args:
        history: of a map.
        object_id: of the object; empty for all.
    """
    found = history.showing(object_id) if object_id else list(history.keyframes)
    if not found:
        yield f"no keyframe{f' shows {object_id!r}' if object_id else ''}"
    for each in found:
        what = _where(each, each.of(object_id)) if object_id else _shown(each)
        yield f"{each.name}  {_when(each.stamp_ns / 1e9)}  {each.label or '-'}  {what}"
    if history.left:
        yield f"{history.left} older keyframes have left for newer ones"


def _when(stamp_s: float) -> str:
    """Return a time in words; one of a clock that began with its run as it is."""
    if stamp_s < _CLOCK_S:
        return f"{stamp_s:.2f} s"
    return datetime.fromtimestamp(stamp_s).astimezone().isoformat(sep=" ", timespec="seconds")


def _where(keyframe: LinkedKeyframe, thing: ObservedThing | None) -> str:
    if thing is None:
        return ""
    place = f", {thing.relation} {thing.container}" if thing.container else ""
    return f"at ({', '.join(f'{each:.2f}' for each in thing.position)}) m in {keyframe.frame_id!r}{place}"


def _shown(keyframe: LinkedKeyframe) -> str:
    return ", ".join(each.object_id for each in keyframe.seen) or "nothing was detected near it"
