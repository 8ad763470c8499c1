"""One object over many looks: where it is, what it is, in which state, and how long it was missed."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.images.crop import PixelBox
from kc_vla.memory.long_term.detections import IMMOVABLE, plain_type
from kc_vla.memory.long_term.relations import PLACE
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.front import OPENED, PART
from kc_vla.perception.front_record import OF_FRONT, FrontRecord, KnownFront
from kc_vla.perception.located_object import POSITION, YAW, LocatedObject
from kc_vla.perception.place_filter import PlaceFilter
from kc_vla.perception.shut_bar import is_shut
from kc_vla.perception.standing_shape import StandingShape, turned_extent

Numbers = NDArray[np.float64]
_TYPE_KEPT, _STATE_KEPT, _ATTRIBUTE_KEPT = 0.9, 0.6, 0.8
"""Shares of the votes that are left after another look: a type does not change, a state does in two or three looks."""
_NONE, _SILENT = " ", 0.5
"""A look that reports no state counts for none, with this share of the weight: not every detector always reads one."""
_SHAPES, _LESS_HIDDEN = 8, 0.05
"""So many shapes are kept. Those that are hidden about the least count: of these, the one with the middle footprint."""
_MOST_ATTRIBUTES = 12
_NOWHERE = PixelBox(0.0, 0.0, 0.0, 0.0)

_LEAST = 0.02
"""Weight below which a vote is forgotten, and the least that one counts."""


class Votes:
    """What most of the last looks say: counts of values that fade with each look."""

    def __init__(self, keep: float) -> None:
        """Begin without a vote.

        Args:
            keep: share of the older votes that is left after a newer one.
        """
        self._keep = keep
        self._counts: dict[str, float] = {}
        self.best = ""
        """The value with most votes; of two with as many, the one that was ahead before."""

    def add(self, value: str, weight: float) -> None:
        """Count a vote; an empty value says nothing."""
        if not value:
            return
        faded = ((name, count * self._keep) for name, count in self._counts.items())
        self._counts = {name: count for name, count in faded if count > _LEAST}
        self._counts[value] = self._counts.get(value, 0.0) + max(weight, _LEAST)
        if self._counts[value] > self._counts.get(self.best, 0.0) or self.best not in self._counts:
            self.best = max(self._counts, key=lambda name: self._counts[name])

    def support(self, value: str, weight: float) -> None:
        """Count a vote beside the one of the same look."""
        if value:
            self._counts[value] = self._counts.get(value, 0.0) + weight
            self.best = max(self._counts, key=lambda name: (self._counts[name], name == self.best))


class ObjectTrack:
    """One object.

    Attributes:
        object_id: empty until it is believed.
        place: where it is, and how large.
        types: votes on its type ...
        states: ... and on its state.
        begun_ns: when it was seen first.
        placed_ns: since when it is where it is.
        seen_ns: when it was seen last.
        gone_ns: when it was found to be gone; 0 while it is not.
        source_id: by which a trusted detector knows it; empty if it does not.
        looks: of the last looks at its place, which found it; while it is not believed.
        empty: looks in a row that showed its place empty.
        unseen: looks in a row at its place that did not find it.
        holder: id of what it was last seen in; empty for nothing.
        offset: of its middle from that of its holder (3,), m.
        outside: looks in a row that found it beside its holder.
        shut: its holder was closed over it.
        has_parts: it is a cabinet whose drawers are known: its front is theirs.
        announced: how often it was reported to be shut in.
    """

    def __init__(self, seen: LocatedObject, stamp_ns: int) -> None:
        """Begin with what was seen once."""
        self.object_id, self.source_id = "", seen.object_id
        self.place = PlaceFilter(seen)
        self.types = Votes(_TYPE_KEPT)
        self._states: dict[str, Votes] = {}
        self.begun_ns = self.placed_ns = self.seen_ns = stamp_ns
        self.gone_ns = 0
        self.looks = [True]
        self.empty = self.unseen = self.announced = self.outside = 0
        self.holder, self.offset, self.shut, self.has_parts = "", np.zeros(3), False, False
        self._attributes: dict[str, Votes] = {}
        self._shapes: deque[StandingShape] = deque(maxlen=_SHAPES)
        self._front = FrontRecord()
        self._published: set[str] = set()
        self._position: tuple[Numbers, Numbers] | None = None
        """Its place, and the position of its middle that follows from that (3,), m, which tracking asks for many times;
        None where that has to be computed anew."""
        self._last = seen
        self._vote(seen)

    @property
    def position(self) -> Numbers:
        """Return the position of its middle (3,), m: behind its front, where that was seen; not to be changed."""
        place = self.place.position
        if self._position is None or self._position[0] is not place:
            slides = plain_type(self.types.best) == PART
            self._position = place, self._front.behind(self.is_open, slides, place)
        return self._position[1]

    @property
    def size(self) -> Numbers:
        """Return its size (3,), m; zeros where it is not known."""
        return self.place.size

    @property
    def extent(self) -> Numbers:
        """Return the size of its own box along the axes (3,), m: of furniture without bars and open doors."""
        return np.array(turned_extent(*self._own_box(self._known_front())))

    @property
    def state(self) -> str:
        """Return the state that most looks report that took it for what it is; empty for none."""
        votes = self._states.get(self.types.best)
        return "" if votes is None or votes.best == _NONE else votes.best

    @property
    def color(self) -> str:
        """Return the color that most looks report; empty for none."""
        return self.attribute("color") or self.attribute("colour")

    @property
    def is_open(self) -> bool:
        """Return whether most looks say that it is open."""
        return plain_type(self.state) in OPENED

    @property
    def bar(self) -> Numbers:
        """Return the middle of the bar of its front as it was seen last (3,), m; NaN where none was seen."""
        return self._front.bar

    @property
    def bar_height(self) -> float:
        """Return how high the bar of its front is, m; NaN where none was seen."""
        return self._front.bar_height

    def is_sure(self, least: float) -> bool:
        """Return whether its last look was so sure, and its place measured."""
        return self._last.confidence >= least and not self.place.way

    def attribute(self, name: str) -> str:
        """Return what most looks report of an attribute; empty for nothing."""
        votes = self._attributes.get(name)
        return "" if votes is None else votes.best

    def see(self, seen: LocatedObject, stamp_ns: int) -> None:
        """Take in another look that found it."""
        if self.place.see(seen):
            self.placed_ns = stamp_ns
            self._shapes.clear()
        self.meet(stamp_ns)
        self._vote(seen)

    def move(self, seen: LocatedObject, stamp_ns: int) -> None:
        """Take in a look that found it elsewhere."""
        self.place, self.placed_ns = PlaceFilter(seen), stamp_ns
        self._shapes.clear()
        self.meet(stamp_ns)
        self._vote(seen)

    def meet(self, stamp_ns: int) -> None:
        """Take in that a look found it, whatever that measured of it."""
        self.seen_ns, self.gone_ns = max(self.seen_ns, stamp_ns), 0
        self.empty = self.unseen = self.announced = 0
        self.shut = False

    def take_over(self, young: ObjectTrack) -> None:
        """Go on where a younger track is that turned out to be the same object."""
        self.place, self._states, self._last, self._position = young.place, young._states, young._last, None
        self.placed_ns, self._shapes = young.placed_ns, young._shapes
        self._front = self._front if np.isnan(young.bar_height) else young._front
        self.meet(young.seen_ns)

    def look_at_bar(self, frame: CameraFrame) -> bool | None:
        """Take in whether an image with depth shows that it is shut, or not; None where it shows neither."""
        if self._front.shut is None or self.has_parts or not self.state:  # a cabinet has the bars of its drawers
            return None
        shut = is_shut(frame, self._front.shut)
        if shut is not None:
            self._position = None
            self._states.setdefault(self.types.best, Votes(_STATE_KEPT)).add("closed" if shut else "opened", 1.0)
        return shut

    def look_at_door(self, frame: CameraFrame) -> None:
        """Take in how far its door is open in an image, where it is one whose axis is known."""
        self._front.look(frame, self.is_open)

    def look_for_bar(self, frame: CameraFrame) -> None:
        """Take in the handle of its door in an image with depth, where that stands open and no handle was seen."""
        if self.is_open:
            self._front.look_for_bar(frame)
            self._position = None

    def carry(self, holder_position: Numbers) -> None:
        """Move along with what it is in."""
        self.place.position = holder_position + self.offset

    def support_type(self, seen: LocatedObject) -> None:
        """Count what a second detection of the same thing in one look says of its type."""
        self.types.support(seen.object_type, seen.confidence)
        self._position = None

    def reported(self, in_image: bool = True) -> LocatedObject:
        """Return it as it is reported after a look.

        Args:
            in_image: it was seen in that look; otherwise its box is empty.
        """
        x, y, z = (float(value) for value in self.position)
        width, depth, height = (float(value) for value in self.size)
        front = self._known_front()
        yaw, box_size = self._own_box(front)
        return LocatedObject(
            self.types.best,
            (x, y, z),
            (width, depth, height),
            self._last.confidence,
            self.place.sigma_m,
            self._last.box if in_image else _NOWHERE,
            self.state,
            self._current_attributes(front),
            self.object_id,
            yaw,
            box_size,
        )

    def summary(self) -> LocatedObject:
        """Return what all looks say together, as one look that found it."""
        x, y, z = (float(value) for value in self.position)
        width, depth, height = (float(value) for value in self.size)
        size, front = (width, depth, height), self._front.newest
        return replace(self._last, object_type=self.types.best, position=(x, y, z), size=size, front=front)

    def _known_front(self) -> KnownFront:
        return self._front.known(self.is_open, self.place.position, self.size)

    def _own_box(self, front: KnownFront) -> tuple[float, tuple[float, float, float]]:
        """Return the yaw of its own box, rad, and its size along the axes of that, m."""
        wide, deep, high = (float(value) for value in self.size)
        if self._shapes:
            least = min(each.hidden for each in self._shapes) + _LESS_HIDDEN
            shapes = sorted((each for each in self._shapes if each.hidden <= least), key=_footprint_m2)
            shape = shapes[len(shapes) // 2]
            return shape.yaw, (shape.length, shape.width, shape.height)
        out = front.yaw
        if out is None:
            return 0.0, (wide, deep, high)
        yaw = (out + 2 * np.pi) % (2 * np.pi) - np.pi
        into, across = (deep, wide) if abs(np.sin(yaw)) > abs(np.cos(yaw)) else (wide, deep)
        if front.hinge is not None:
            into, across = front.behind_door(into, across, self.position)
        else:
            into = self._front.depth(into)
        if plain_type(self.types.best) == PART:
            across, high = self._front.plate(across, high)
        return yaw, (into, across, high)

    def _current_attributes(self, front: KnownFront) -> dict[str, str]:
        """Return the attributes to report; one that was reported and holds no more is empty."""
        current = {name: votes.best for name, votes in self._attributes.items() if votes.best}
        if self.place.way:
            current[POSITION] = self.place.way
        if self.holder:
            current[PLACE] = f"in {self.holder}"
        if not self.has_parts:
            current |= front.attributes
        if front.yaw is None and plain_type(self.types.best) in IMMOVABLE:
            current[YAW] = "of its sides"
        ended = self._published - current.keys()
        self._published |= {POSITION, PLACE, YAW, *OF_FRONT} & current.keys()
        return current | dict.fromkeys(ended, "")

    def _vote(self, seen: LocatedObject) -> None:
        self._last, self._position = seen, None
        self.types.add(seen.object_type, seen.confidence)
        states = self._states.setdefault(seen.object_type, Votes(_STATE_KEPT))
        states.add(seen.state or _NONE, seen.confidence * (1.0 if seen.state else _SILENT))
        if seen.shape is not None:
            self._shapes.append(seen.shape)
        if seen.front is not None:
            self._front.see(seen.front, self.is_open, seen.position, seen.size)
        self._front.see_door(seen.door, self.is_open)
        for name, value in seen.attributes.items():
            if name != POSITION and (name in self._attributes or len(self._attributes) < _MOST_ATTRIBUTES):
                self._attributes.setdefault(name, Votes(_ATTRIBUTE_KEPT)).add(value, seen.confidence)


def _footprint_m2(shape: StandingShape) -> float:
    return shape.length * shape.width
