"""How good a detector is on labeled images: precision, states, colors, places, and what it misses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.detections.folder import LabeledImage, LabeledImages
from kc_vla.datasets.detections.labels import ImageLabel, ObjectLabel
from kc_vla.learning.detector.matching import MatchedDetection, is_ignored, matched
from kc_vla.learning.detector.precision import Precision, TypeRows, precisions
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.decoding import ALSO, COLOR
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.localization import Localizer, LocalizerSettings
from kc_vla.perception.vocabulary import DetectionVocabulary

Floats = NDArray[np.float32]
SHARES = (0.15, 0.4, 0.7, 0.95)
"""Lower ends of the ranges of visible shares whose recall is reported."""
_WELL_SEEN = 0.5
"""Visible share from which state, color and place are judged."""
Detect = Callable[[LabeledImage], Sequence[ImageDetection]]
_ANYWHERE = LocalizerSettings(lowest_m=None)
"""Nothing is left out for its height: what is in a sink is below the worktop."""


@dataclass(frozen=True)
class DetectorFigures:
    """What was measured.

    Attributes:
        images, scenes: how many were looked at.
        types: precision by type; a type that is not there is left out.
        mean: of all types.
        states: by type, how many states were right, and of how many.
        colors: how many were right, and of how many.
        recalls: for each of `SHARES`, how many objects were found with at least the threshold, and of how many.
        precise: how many detections above the threshold were right, and of how many.
        errors_mm: errors of position as the node `perception` locates objects, mm, ascending.
    """

    images: int
    scenes: int
    types: dict[str, Precision]
    mean: Precision
    states: dict[str, tuple[int, int]]
    colors: tuple[int, int]
    recalls: tuple[tuple[int, int], ...]
    precise: tuple[int, int]
    errors_mm: Floats

    @property
    def state_share(self) -> float:
        """Return the share of the states that were right; NaN where there was none."""
        return share_of([sum(each) for each in zip(*self.states.values(), strict=True)] or [0, 0])


def share_of(counted: Sequence[int]) -> float:
    """Return how many were right, of how many; NaN where there were none."""
    return counted[0] / counted[1] if counted[1] else float("nan")


@dataclass(eq=False)
class _Tally:
    """What is counted over all images."""

    vocabulary: DetectionVocabulary
    threshold: float
    rows: dict[str, list[tuple[float, NDArray[np.bool_], int]]] = field(default_factory=dict)
    objects: dict[str, list[int]] = field(default_factory=dict)
    states: dict[str, list[int]] = field(default_factory=dict)
    colors: list[int] = field(default_factory=lambda: [0, 0])
    recalls: list[list[int]] = field(default_factory=lambda: [[0, 0] for _ in SHARES])
    precise: list[int] = field(default_factory=lambda: [0, 0])
    errors: list[float] = field(default_factory=list)

    def add(self, rows: Iterable[MatchedDetection], asked: Sequence[ObjectLabel], scene: int) -> None:
        for label in asked:
            self.objects.setdefault(label.object_type, []).append(scene)
        found = set()
        for row in rows:
            if row.left_out:
                continue
            self.rows.setdefault(row.found.object_type, []).append((row.found.confidence, row.right, scene))
            if row.found.confidence >= self.threshold:
                self.precise[0] += bool(row.right[0])
                self.precise[1] += 1
                found |= {row.truth.object_id} if row.truth is not None else set()
        for label in asked:
            at = max(0, int(np.searchsorted(SHARES, label.visible_share, side="right")) - 1)
            self.recalls[at][0] += label.object_id in found
            self.recalls[at][1] += 1

    def judge(self, found: ImageDetection, truth: ObjectLabel, label: ImageLabel, depth: Floats | None) -> None:
        said = {found.state, *found.attributes.get(ALSO, "").split(", ")} - {""}
        for group, state in truth.states.items():
            counted = self.states.setdefault(truth.object_type, [0, 0])
            counted[0] += state in said if state else said.isdisjoint(self.vocabulary.states[group])
            counted[1] += 1
        if truth.color:
            self.colors[0] += found.attributes.get(COLOR) == truth.color
            self.colors[1] += 1
        place = np.array(truth.position)
        self.errors += [_off(each, place) for each in located_position(found, label, depth)]


def _off(place: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    return 1e3 * float(np.linalg.norm(place - truth))


def evaluate_detector(
    data: LabeledImages, detect: Detect, threshold: float, least_share: float, least_pixels: int, depth: bool = True
) -> DetectorFigures:
    """Return how good a detector is.

    Args:
        data: images to judge by.
        detect: what finds objects, with the least confidence that it can have: the threshold is applied here.
        threshold: least confidence of what counts for recall, states and places.
        least_share, least_pixels: objects of which less can be seen are not asked for.
        depth: whether objects are located with the depth images that there are.

    Raises:
        DataSetError: an image cannot be read.
    """
    scenes = {scene: index for index, scene in enumerate(data.scenes)}
    tally = _Tally(data.vocabulary, threshold)
    for image in data.images:
        objects = image.label.objects
        ignored = [each for each in objects if is_ignored(each, least_share, least_pixels)]
        asked = [each for each in objects if not is_ignored(each, least_share, least_pixels)]
        rows = matched(detect(image), asked, ignored)
        tally.add(rows, asked, scenes[image.scene])
        depths = image.depth_if_any() if depth else None
        for row in rows:
            if row.truth is None or row.found.confidence < threshold or row.truth.visible_share < _WELL_SEEN:
                continue
            tally.judge(row.found, row.truth, image.label, depths)
    return _figures(tally, data, len(scenes))


def _figures(tally: _Tally, data: LabeledImages, scenes: int) -> DetectorFigures:
    kinds = data.vocabulary.types
    each_one, mean = precisions([_rows(tally, kind, scenes) for kind in kinds], scenes)
    return DetectorFigures(
        images=len(data.images),
        scenes=scenes,
        types={kind: found for kind, found in zip(kinds, each_one, strict=True) if found is not None},
        mean=mean,
        states={kind: (right, count) for kind, (right, count) in sorted(tally.states.items())},
        colors=(tally.colors[0], tally.colors[1]),
        recalls=tuple((found, count) for found, count in tally.recalls),
        precise=(tally.precise[0], tally.precise[1]),
        errors_mm=np.sort(np.array(tally.errors, np.float32)),
    )


def _rows(tally: _Tally, kind: str, scenes: int) -> TypeRows:
    rows = tally.rows.get(kind, [])
    return TypeRows(
        confidences=np.array([each[0] for each in rows], np.float64),
        right=np.array([each[1] for each in rows], np.bool_).reshape(len(rows), -1) if rows else _NO_ROWS,
        scenes=np.array([each[2] for each in rows], np.int64),
        objects=np.bincount(np.array(tally.objects.get(kind, []), np.int64), minlength=scenes),
    )


_NO_ROWS = np.zeros((0, 10), np.bool_)


def located_position(found: ImageDetection, label: ImageLabel, depth: Floats | None) -> list[NDArray[np.float64]]:
    """Return where the node `perception` locates an object in the camera's optical frame, m; none where it refuses.

    Args:
        found: by the detector.
        label: of the image, for its camera.
        depth: of the image (H, W), m, 0 where it is not known; None: the detector's own estimate counts.
    """
    width, height = label.size
    blank = np.zeros((height, width, 3), np.uint8)
    frame = CameraFrame(label.camera, 0, blank, label.matrix, label.pose, depth)
    objects = Localizer(_ANYWHERE).locate(frame, [found]).objects
    return [(np.array(each.position) - label.pose[:3, 3]) @ label.pose[:3, :3] for each in objects]
