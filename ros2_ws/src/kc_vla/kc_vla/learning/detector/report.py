"""The evaluation of a model: its figures as a table, and a sheet of images with what it found in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.core.files import write_whole
from kc_vla.datasets.detections.folder import LabeledImage, read_images
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.detector.evaluation import SHARES, DetectorFigures, evaluate_detector, share_of
from kc_vla.learning.detector.judging import LEAST_CONFIDENCE, THRESHOLD
from kc_vla.learning.detector.precision import Precision
from kc_vla.learning.detector.sheet import SHOWN, ShownImage, write_sheet
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.detector_model import DetectorModel
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.learned import LearnedDetector

TABLE, SHEET = "detector.md", "detector.png"


def report_detector(
    model: DetectorModel,
    data: Sequence[Path],
    output: Path,
    least_share: float,
    least_pixels: int,
    threads: int = 1,
) -> str:
    """Return the table of a detector's figures; the table and a sheet of images are in `output`.

    Args:
        model: to measure.
        data: folders of labeled images.
        output: folder.
        least_share, least_pixels: objects of which less can be seen are not asked for.
        threads: of the CPU.

    Raises:
        DataError: the images have another vocabulary.
        DataSetError: an image cannot be read.
        DetectorError: the model cannot be run.
    """
    images = read_images(data)
    if images.vocabulary != model.vocabulary:
        raise DataError(
            f"{data[0]} has another vocabulary than the detector '{model.name}': collect anew, or train anew"
        )
    detector = LearnedDetector(model, "cpu", threads, LEAST_CONFIDENCE)
    count = len(images.images)
    chosen = {int(each) for each in np.random.default_rng(0).choice(count, min(SHOWN, count), replace=False)}
    shown: list[ShownImage] = []
    looked = 0

    def detect(image: LabeledImage) -> list[ImageDetection]:
        nonlocal looked
        pixels = image.pixels()
        found = detector.detect(camera_frame(image, pixels))
        bar.update()
        if looked in chosen:
            certain = [each for each in found if each.confidence >= THRESHOLD]
            shown.append(ShownImage(f"{image.scene.stem} {image.label.camera}", pixels, certain, image.label.objects))
        looked += 1
        return found

    def detect_flat(image: LabeledImage) -> list[ImageDetection]:
        bar.update()
        return detector.detect(camera_frame(image, image.pixels(), depth=False))

    measured = any(image.label.depth for image in images.images)
    with tqdm(total=count * (1 + measured), desc="detector", unit="image") as bar:
        columns = {"": evaluate_detector(images, detect, THRESHOLD, least_share, least_pixels)}
        if measured:
            flat = evaluate_detector(images, detect_flat, THRESHOLD, least_share, least_pixels, depth=False)
            columns = {"with depth": columns[""], "without depth": flat}
    text = table(model.name, columns)
    output.mkdir(parents=True, exist_ok=True)
    write_whole(output / TABLE, text + "\n")
    write_sheet(shown, output / SHEET)
    return text


def camera_frame(image: LabeledImage, pixels: NDArray[np.uint8], depth: bool = True) -> CameraFrame:
    """Return a labeled image as a camera gives it, with its depth where there is one, unless `depth` is false."""
    label = image.label
    measured = image.depth_if_any() if depth else None
    return CameraFrame(label.camera, 0, pixels, label.matrix, label.pose, measured)


def table(name: str, columns: Mapping[str, DetectorFigures]) -> str:
    """Return figures as Markdown: a column for each, and the types of the first."""
    figures = next(iter(columns.values()))
    said = list(columns.values())
    rows: dict[str, list[str]] = {
        "mAP@0.5, % (95 % of resampled scenes)": [
            f"{_percent(each.mean.at_50)} ({_interval(each.mean)})" for each in said
        ],
        "mAP@0.5:0.95, %": [_percent(each.mean.average) for each in said],
        f"right among those found from a confidence of {THRESHOLD}, %": [_share(each.precise) for each in said],
    }
    for index, text in enumerate(_ranges()):
        rows[f"recall, {text} visible, %"] = [_share(each.recalls[index]) for each in said]
    rows["states right, %"] = [_percent(each.state_share) for each in said]
    rows["colors right, %"] = [_share(each.colors) for each in said]
    rows["position, mm, median and 90th percentile"] = [_errors(each.errors_mm) for each in said]
    lines = [
        f"{name}: {figures.images} images of {figures.scenes} scenes, {figures.mean.objects} objects",
        "",
        f"| | {' | '.join(columns)} |",
        f"| --- |{' --- |' * len(columns)}",
        *(f"| {row} | {' | '.join(cells)} |" for row, cells in rows.items()),
        "",
        "| type | objects | AP@0.5, % | 95 % | AP@0.5:0.95, % | states right, % |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for kind, each in figures.types.items():
        states = _share(figures.states[kind]) if kind in figures.states else ""
        lines.append(
            f"| {kind} | {each.objects} | {_percent(each.at_50)} | {_interval(each)} | "
            f"{_percent(each.average)} | {states} |"
        )
    return "\n".join(lines)


def _ranges() -> list[str]:
    ends = [*SHARES[1:], 1.0]
    return [f"{100 * low:.0f} to {100 * high:.0f} %" for low, high in zip(SHARES, ends, strict=True)]


def _interval(each: Precision) -> str:
    return f"{_percent(each.low)} to {_percent(each.high)}"


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.1f}"


def _share(counted: tuple[int, int]) -> str:
    return f"{_percent(share_of(counted))} of {counted[1]}"


def _errors(errors: NDArray[np.float32]) -> str:
    if not len(errors):
        return "-"
    return f"{np.percentile(errors, 50):.1f}, {np.percentile(errors, 90):.1f}"
