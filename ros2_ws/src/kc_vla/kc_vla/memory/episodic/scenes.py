"""What is detected in a message as what a keyframe may show; and where the scene graph has it."""

from __future__ import annotations

import math
from dataclasses import replace

from kc_vla.memory.episodic.joining import DetectedScene
from kc_vla.memory.episodic.linked import LinkedKeyframe
from kc_vla.memory.intake import Taken
from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.relations import told_place
from kc_vla.memory.things import ObservedThing, wrong_with

_STILL_M = 0.03
"""A thing of a keyframe that the graph has so near is still where it was then, m."""


def scene_of(taken: Taken, received_ns: int) -> DetectedScene:
    """Return the detections of a message that say which object they are of.

    Args:
        taken: from the message, in the frame of the memory.
        received_ns: when it came, ns of the wall clock.
    """
    things = (_thing_of(each) for each in taken.detections if each.source_id)
    seen = tuple(each for each in things if not wrong_with(each))
    return DetectedScene(taken.stamp_ns, received_ns, taken.episode_id, seen)


def placed_in(graph: SceneGraph, keyframe: LinkedKeyframe) -> LinkedKeyframe:
    """Return a keyframe whose things have their areas, and what they are on or in where only the graph knows that."""
    return replace(keyframe, seen=tuple(_placed(graph, each) for each in keyframe.seen))


def _thing_of(seen: Detection) -> ObservedThing:
    relation, container = told_place(seen.attributes) or ("", "")
    return ObservedThing(
        seen.object_type,
        seen.source_id,
        seen.position,
        seen.size,
        seen.state,
        dict(seen.attributes),
        relation,
        container,
        "",
        seen.can_be_moved,
        seen.confidence,
    )


def _placed(graph: SceneGraph, thing: ObservedThing) -> ObservedThing:
    thing = replace(thing, area=thing.area or graph.area_at(thing.position))
    known = graph.named(thing.object_id)
    if thing.container or known is None or math.dist(known.position, thing.position) > _STILL_M:
        return thing
    holder = graph.objects.get(known.holder)
    if holder is None:
        return thing
    return replace(thing, relation=known.placed, container=holder.source_id or holder.id)
