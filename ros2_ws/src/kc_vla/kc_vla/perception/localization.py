"""Locates the objects of an image in 3-D: from depth, or by an estimate without depth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.long_term.detections import IMMOVABLE, plain_type
from kc_vla.perception.camera_frame import CameraFrame, CameraFrameError
from kc_vla.perception.depth_surface import surface_depth, valid_depth
from kc_vla.perception.front import CONTAINERS, OPENED, PART, WHOLE, Front, fronts_in
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.left_out import LeftOutError, check, left_out
from kc_vla.perception.level_top import furniture_shape
from kc_vla.perception.located_object import POSITION, LocatedObject
from kc_vla.perception.neighbors import Neighbors
from kc_vla.perception.open_door import OpenDoor, open_door_in
from kc_vla.perception.standing_shape import StandingShape, standing_shape
from kc_vla.perception.view_ray import ViewRay, half_chord, view_rays
from kc_vla.perception.visible_extent import visible_size
from kc_vla.perception.without_depth import Estimate, by_size, on_support

Vector = tuple[float, float, float]
_FOUND_3D_M, _ESTIMATED_SHARE = 0.01, 0.05
"""Standard deviation of a place that a detector gives itself: in 3-D, m, and as a share of an estimated depth."""
_SUNK_M = 0.01
_CARRIES = IMMOVABLE | {"tray"}
"""Types whose points are mostly those of what stands in or on them."""
_CUT_M = 0.04
"""Standard deviation of the place of an object of unknown size that the rim of the image cuts: its middle may be
outside."""
_CUT_SHARE = 0.1
"""The same of one whose size is known, as a share of its diagonal."""
_SURE_SHARE, _UNSURE_SHARE = 0.02, 0.2
"""The same of a middle that a detector takes from an image with depth, as a share of the object's diagonal, from full
confidence to none: what is cut off or half hidden is found with less confidence, and further off."""
_HIGHEST_SIGMA_M = 0.5
_DOUBTFUL_M = 0.02
"""A detector and a depth image that differ by more do not agree where a thing is, m."""
_HOLLOW = frozenset({"sink", "sinkbasin"})
_WITH_TOP = (CONTAINERS - {PART, "box"}) | _HOLLOW | {"stove"}
"""Types of furniture whose top shows where they are; of the first it is a rim."""
_MOST_DRAWERS = 8
"""Fronts of one cabinet that are looked for."""
_SHAPE_M, _HIDDEN_SHARE, _THING_M2 = 0.004, 0.5, 0.035
"""Standard deviation of the middle of a whole shape, m, and of one whose outline is all hidden, as a share of its
diagonal; and the footprint up to which a thing is looked at so, m2."""


@dataclass(frozen=True)
class LocalizerSettings:
    """What is known of the place that a robot looks at.

    Attributes:
        support_m: height of the surface that things stand on, m, in the frame that objects are located in; None: not
            known, and without depth no place follows from it.
        lowest_m: what has its middle lower is left out: below a table there is nothing, below a work surface with
            drawers there is; None: no limit.
        lower: corner of the workspace: what lies outside of it is left out; None: no limit.
        upper: the opposite corner, m.
        nearest_m: what is nearer to the camera is left out.
        farthest_m: what is deeper in the image is left out.
        sizes: known size by type, m.
        estimated: share of the confidence that is left where a place is estimated without depth.
        most_detections: of one image; the surest are taken.
    """

    support_m: float | None = 0.0
    lowest_m: float | None = -0.05
    lower: Vector | None = None
    upper: Vector | None = None
    nearest_m: float = 0.05
    farthest_m: float = 4.0
    sizes: Mapping[str, Vector] = field(default_factory=dict)
    estimated: float = 0.7
    most_detections: int = 200

    def __post_init__(self) -> None:
        limits = [*(self.lower or ()), *(self.upper or ()), *(size for each in self.sizes.values() for size in each)]
        if not all(map(math.isfinite, limits)) or not 0.0 < self.nearest_m < self.farthest_m:
            raise CameraFrameError("a workspace, a size or a distance that is none: give finite m, nearest < farthest")
        if not 0.0 < self.estimated <= 1.0 or self.most_detections < 1:
            raise CameraFrameError("estimated lies between 0 and 1, and most_detections is 1 or more")


@dataclass(frozen=True)
class Located:
    """What of an image has a place.

    Attributes:
        objects: in the frame of the camera's pose.
        refused: what is left out and why, a line each.
        frame: of the image, its depth with NaN where it is not known, and None where it cannot be believed.
    """

    objects: list[LocatedObject]
    refused: list[str]
    frame: CameraFrame


class Localizer:
    """Computes the 3-D positions of detections."""

    def __init__(self, settings: LocalizerSettings | None = None) -> None:
        """Take what is known of the place."""
        self.settings = settings or LocalizerSettings()
        self._sizes = {plain_type(name): size for name, size in self.settings.sizes.items()}

    def with_valid_depth(self, frame: CameraFrame) -> tuple[CameraFrame, list[str]]:
        """Return an image without a depth that cannot be believed, and a line that says why it is refused.

        A detector that looks at depth has to be given this, too.
        """
        depth, problem = valid_depth(frame, self.settings.support_m)
        return replace(frame, depth_m=depth), [problem] if problem else []

    def locate(self, frame: CameraFrame, found: Sequence[ImageDetection]) -> Located:
        """Return the detections of an image with their places, and why others are left out.

        Raises:
            CameraFrameError: The lens of the camera is of a model that is not known.
        """
        frame, problem = self.with_valid_depth(frame)
        located = self.locate_valid(frame, found)
        return replace(located, refused=[*problem, *located.refused])

    def locate_valid(self, frame: CameraFrame, found: Sequence[ImageDetection]) -> Located:
        """Return the same of an image that `with_valid_depth` has returned.

        Raises:
            CameraFrameError: The lens of the camera is of a model that is not known.
        """
        refused: list[str] = []
        sound = list(self._sound(found, refused))
        views = _views(frame, [each for _, each in sound])
        boxes = np.array([each.box for _, each in sound], float).reshape(-1, 4)
        there = Neighbors(boxes, np.full((len(sound), 3), np.nan), np.zeros((len(sound), 3)))
        places: dict[int, Estimate] = {}
        for at, (number, each) in enumerate(sound):
            try:
                places[at] = self._in_3d(frame, each) or self._along_ray(frame, each, views[at], boxes)
                there.middles[at], there.sizes[at] = places[at].position, places[at].size
            except LeftOutError as error:
                refused.append(left_out(number, each, error))
        objects = []
        for at, place in places.items():  # which pixels are whose follows from the places of all
            number, each = sound[at]
            try:
                objects.append(self._placed(frame, each, views[at], place, there))
            except LeftOutError as error:
                refused.append(left_out(number, each, error))
        return Located(objects, refused, frame)

    def _sound(self, found: Sequence[ImageDetection], refused: list[str]) -> Iterator[tuple[int, ImageDetection]]:
        """Yield the sound detections, each after its number; `refused` gets a line for each of the others."""
        for number, each in enumerate(self._surest(found, refused), 1):
            try:
                check(each)
            except LeftOutError as error:
                refused.append(f"detection {number} is left out: {error}")
            else:
                yield number, each

    def _surest(self, found: Sequence[ImageDetection], refused: list[str]) -> Sequence[ImageDetection]:
        most = self.settings.most_detections
        if len(found) <= most:
            return found
        refused.append(f"{len(found)} detections in one image: the surest {most} are taken; check the detector")
        return sorted(found, key=lambda each: -each.confidence if math.isfinite(each.confidence) else 0.0)[:most]

    def _placed(
        self, frame: CameraFrame, each: ImageDetection, ray: ViewRay | None, place: Estimate, others: Neighbors
    ) -> LocatedObject:
        shape, fronts = (None, []) if each.faint else _by_depth(frame, each, place, others)
        front = fronts[0] if fronts else None
        measures = each.depth_measured and frame.depth_m is not None and not each.faint
        if shape is None and front is None and measures:
            shape = self._shape_at_surface(frame, each, ray, place, others)
        door = None if each.faint else _door_by_depth(frame, each, place, front)
        if each.position is None and not each.faint:
            place, shape = self._by_top(frame, each, place, shape)
        if shape is not None and each.position is None:
            named = self._known_size(each) if each.size is None else None
            hidden_m = _HIDDEN_SHARE * shape.hidden * math.hypot(shape.length, shape.width)
            sigma_m = math.hypot(_SHAPE_M, _noise_m(_away_m(frame, place)), hidden_m)
            place = Estimate(shape.middle, named or shape.extent, sigma_m, "")
        self._check_place(frame, place.position)
        attributes = dict(each.attributes) | ({POSITION: place.way} if place.way else {})
        return LocatedObject(
            each.object_type,
            place.position,
            place.size,
            each.confidence * (self.settings.estimated if place.way else 1.0),
            min(place.sigma_m, _HIGHEST_SIGMA_M),
            each.box,
            each.state,
            attributes,
            each.object_id,
            shape=shape,
            front=front,
            door=door,
            others=tuple(fronts[1:]),
            faint=each.faint,
        )

    def _by_top(
        self, frame: CameraFrame, each: ImageDetection, place: Estimate, shape: StandingShape | None
    ) -> tuple[Estimate, StandingShape | None]:
        """Return where furniture is, and the box of what has no front, by its top; as they were where none is seen."""
        kind = plain_type(each.object_type)
        if place.way or kind not in _WITH_TOP:
            return place, shape
        box = furniture_shape(frame, each.box, place.position, place.size, kind in _HOLLOW, self.settings.support_m)
        if box is None:
            return place, shape
        sigma_m = math.hypot(_SHAPE_M, _noise_m(_away_m(frame, place)))
        return Estimate(box.middle, box.extent, sigma_m, ""), None if kind in CONTAINERS else box

    def _shape_at_surface(
        self, frame: CameraFrame, each: ImageDetection, ray: ViewRay | None, place: Estimate, others: Neighbors
    ) -> StandingShape | None:
        """Return how a thing stands whose detector places it far from the surface that its box shows; None else."""
        if _fits_depth(frame, each, place):
            return None
        other = self._along_ray(frame, replace(each, depth_measured=False, depth_m=None), ray, others.boxes)
        if other.way or math.dist(other.position, place.position) < _DOUBTFUL_M:
            return None
        return _by_depth(frame, each, other, others)[0]

    def _in_3d(self, frame: CameraFrame, each: ImageDetection) -> Estimate | None:
        if each.position is None:
            return None
        x, y, z = (float(value) for value in frame.pose[:3, :3] @ np.asarray(each.position) + frame.pose[:3, 3])
        return Estimate((x, y, z), each.size or self._known_size(each) or (0.0, 0.0, 0.0), _FOUND_3D_M, "")

    def _along_ray(
        self, frame: CameraFrame, each: ImageDetection, ray: ViewRay | None, others: NDArray[np.float64]
    ) -> Estimate:
        if ray is None:
            raise LeftOutError("the lens shows nothing at its pixel")
        if each.depth_m is not None and each.depth_measured:
            return self._measured(frame, each, ray, each.depth_m, others)
        if frame.depth_m is not None:
            surface_m = surface_depth(frame.depth_m, each.box, _middle(each), others)
            if surface_m is not None:
                return self._behind_surface(frame, each, ray, frame.depth_m, surface_m)
        return self._estimated(each, ray)

    def _behind_surface(
        self, frame: CameraFrame, each: ImageDetection, ray: ViewRay, depth: NDArray[np.float32], surface_m: float
    ) -> Estimate:
        known = each.size or self._known_size(each)
        size = known or visible_size(frame, depth, each.box, ray, surface_m, self.settings.support_m)
        behind_m = half_chord(size, ray.direction) / ray.length
        unsure_m = (0.15 if known else 0.3) * behind_m
        depth_m = self._standing(ray, size, surface_m, surface_m + behind_m)
        hidden_m = ray.hidden_m(known, surface_m) / 4 if known else _CUT_M * frame.cuts(each.box)
        return Estimate(ray.at(depth_m), size, math.hypot(_noise_m(surface_m), unsure_m, hidden_m), "")

    def _measured(
        self, frame: CameraFrame, each: ImageDetection, ray: ViewRay, depth_m: float, others: NDArray[np.float64]
    ) -> Estimate:
        """Return the place of an object whose detector has seen the depth image: no thing stands in its support."""
        size = each.size or self._known_size(each)
        cut_m = _CUT_M if size is None else _CUT_SHARE * math.hypot(*size)
        hidden_m = 0.0 if size is None else ray.hidden_m(size, depth_m) / 4
        hidden_m = math.hypot(cut_m * frame.cuts(each.box), hidden_m)
        size = size or ray.extent_at(depth_m)
        if frame.depth_m is not None and _is_thing(size) and self._is_sunk(ray, size, depth_m):
            surface_m = surface_depth(frame.depth_m, each.box, _middle(each), others)
            depth_m = depth_m if surface_m is None else self._standing(ray, size, surface_m, depth_m)
        share = _SURE_SHARE + (1.0 - each.confidence) * (_UNSURE_SHARE - _SURE_SHARE)
        sigma_m = math.hypot(_noise_m(depth_m), hidden_m, share * math.hypot(*size))
        return Estimate(ray.at(depth_m), size, sigma_m, "")

    def _standing(self, ray: ViewRay, size: Vector, surface_m: float, middle_m: float) -> float:
        """Return the depth of the middle of what would reach through the surface that things stand on.

        A camera that looks into a bowl measures the bottom, and not the side towards it.
        """
        support_m = self.settings.support_m
        if support_m is None or ray.at(surface_m)[2] < support_m - _SUNK_M or not self._is_sunk(ray, size, middle_m):
            return middle_m
        standing_m = ray.depth_at_height(support_m + size[2] / 2)
        return middle_m if standing_m is None else min(standing_m, middle_m)

    def _is_sunk(self, ray: ViewRay, size: Vector, middle_m: float) -> bool:
        """Return whether something would reach through the surface that things stand on."""
        support_m = self.settings.support_m
        return support_m is not None and ray.at(middle_m)[2] - size[2] / 2 < support_m - _SUNK_M

    def _estimated(self, each: ImageDetection, ray: ViewRay) -> Estimate:
        size = each.size or self._known_size(each)
        if each.depth_m is not None:
            share = _ESTIMATED_SHARE * each.depth_m
            return Estimate(
                ray.at(each.depth_m), size or ray.extent_at(each.depth_m), max(share, 0.02), "by the detector's depth"
            )
        ways = (on_support(ray, size, self.settings.support_m), by_size(ray, size))
        best = min((way for way in ways if way is not None), key=lambda way: way.sigma_m, default=None)
        if best is None:
            raise LeftOutError("it has no depth, no known size, and is not above the support surface: name its size")
        return best

    def _known_size(self, each: ImageDetection) -> Vector | None:
        return self._sizes.get(plain_type(each.object_type))

    def _check_place(self, frame: CameraFrame, position: Vector) -> None:
        """Raise `LeftOutError` for a place that cannot be."""
        settings = self.settings
        if not all(map(math.isfinite, position)):
            raise LeftOutError("its place is not finite")
        way = [at - eye for at, eye in zip(position, frame.pose[:3, 3].tolist(), strict=True)]
        away_m = math.hypot(*way)
        deep_m = sum(part * ahead for part, ahead in zip(way, frame.pose[:3, 2].tolist(), strict=True))
        if deep_m <= 0.0 or away_m < settings.nearest_m:
            raise LeftOutError(f"it would be {away_m:.2f} m from the camera, nearer than {settings.nearest_m} m")
        if deep_m > settings.farthest_m:
            raise LeftOutError(f"it would be {deep_m:.2f} m deep, farther than {settings.farthest_m} m")
        if settings.lowest_m is not None and position[2] < settings.lowest_m:
            raise LeftOutError(f"it would be at {_shown(position)}, below the lowest place at {settings.lowest_m} m")
        lower, upper = settings.lower or (-math.inf,) * 3, settings.upper or (math.inf,) * 3
        if any(at < low or at > high for at, low, high in zip(position, lower, upper, strict=True)):
            raise LeftOutError(f"it would be at {_shown(position)}, outside of the workspace")


def _shown(position: Vector) -> str:
    return f"({position[0]:.2f}, {position[1]:.2f}, {position[2]:.2f}) m"


def _views(frame: CameraFrame, found: Sequence[ImageDetection]) -> list[ViewRay | None]:
    """Return the rays through the middles of detections; none where their detector has found all places itself."""
    if frame.depth_m is None and all(each.position is not None for each in found):
        return [None] * len(found)
    return view_rays(frame, [(each.box, _middle(each)) for each in found])


def _middle(each: ImageDetection) -> tuple[float, float]:
    """Return the pixel in the middle of an object."""
    box = each.box
    return each.center or ((box.left + box.right) / 2, (box.top + box.bottom) / 2)


def _by_depth(
    frame: CameraFrame, each: ImageDetection, place: Estimate, others: Neighbors
) -> tuple[StandingShape | None, list[Front]]:
    """Return how a thing stands, or the fronts of what opens, where the depth image shows them."""
    if frame.depth_m is None or place.way:
        return None, []
    kind = plain_type(each.object_type)
    if kind in CONTAINERS:
        most = _MOST_DRAWERS if kind == WHOLE else 1
        return None, fronts_in(frame, each.box, place.position, place.size, most)
    if not _is_thing(place.size) or kind in _CARRIES:
        return None, []
    return standing_shape(frame, each.box, place.position, place.size, others), []


def _door_by_depth(frame: CameraFrame, each: ImageDetection, place: Estimate, front: Front | None) -> OpenDoor | None:
    """Return the door of what is seen open, where the depth image shows it and no bar of it."""
    kind = plain_type(each.object_type)
    may_have = kind in CONTAINERS - {PART, WHOLE} and plain_type(each.state) in OPENED
    if not may_have or place.way or (front is not None and front.standing):
        return None
    return open_door_in(frame, each.box, place.position[2] - place.size[2] / 2, place.size[2])


def _fits_depth(frame: CameraFrame, each: ImageDetection, place: Estimate) -> bool:
    """Return whether the depth at the middle of a thing's box is about that of the near side of the thing there."""
    assert frame.depth_m is not None
    rows, columns = frame.depth_m.shape
    row = min(max(int((each.box.top + each.box.bottom) / 2), 0), rows - 1)
    column = min(max(int((each.box.left + each.box.right) / 2), 0), columns - 1)
    way = np.asarray(place.position) - frame.pose[:3, 3]
    deep_m, away_m = float(way @ frame.pose[:3, 2]), float(np.linalg.norm(way))
    near_m = deep_m * (1.0 - half_chord(place.size, way / away_m) / away_m)
    return abs(near_m - float(frame.depth_m[row, column])) < _DOUBTFUL_M


def _is_thing(size: Vector) -> bool:
    """Return whether something is no larger than a thing, as furniture is."""
    return size[0] * size[1] <= _THING_M2


def _away_m(frame: CameraFrame, place: Estimate) -> float:
    return math.dist(place.position, frame.pose[:3, 3].tolist())


def _noise_m(depth_m: float) -> float:
    """Return the standard deviation of a depth that cameras of robots measure, m."""
    return 0.003 + 0.002 * depth_m**2
