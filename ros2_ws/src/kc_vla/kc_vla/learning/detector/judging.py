"""How good a network in training is on validation images."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from kc_vla.datasets.detections.folder import LabeledImage, LabeledImages
from kc_vla.learning.common.device import Device
from kc_vla.learning.detector.config import DetectorConfig
from kc_vla.learning.detector.evaluation import evaluate_detector
from kc_vla.learning.detector.networks import DetectorNetwork, FoundObjects
from kc_vla.perception.decoding import NetworkOutput, decoded
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.letterbox import inverse_depth, letterboxed

THRESHOLD = 0.3
"""Least confidence of what counts for recall, states and places."""
LEAST_CONFIDENCE = 0.01
"""The same of what counts for precision."""


def judged_network(
    network: DetectorNetwork, data: LabeledImages, config: DetectorConfig, device: Device
) -> dict[str, float]:
    """Return figures of a network that is in evaluation mode, on these images.

    Returns:
        "map_50", "map", "recall", "states_right" (shares), "place_m" and "place_90_m", the median of the error of
        position and its 90th percentile, and "score", the mean of the first two and of the share that is found, in the
        right state.
    """
    found = iter(_found(network, data, config, device))
    figures = evaluate_detector(data, lambda _: next(found), THRESHOLD, config.least_share, config.least_pixels)
    hits, objects = (sum(counted) for counted in zip(*figures.recalls, strict=True))
    said = {
        "map_50": figures.mean.at_50,
        "map": figures.mean.average,
        "recall": hits / objects if objects else 0.0,
        "states_right": figures.state_share,
    }
    right = 1.0 if np.isnan(figures.state_share) else figures.state_share
    said["score"] = (said["map_50"] + said["map"] + said["recall"] * right) / 3
    if len(figures.errors_mm):
        said["place_m"], said["place_90_m"] = (
            1e-3 * float(each) for each in np.percentile(figures.errors_mm, (50, 90))
        )
    return {name: value for name, value in said.items() if not np.isnan(value)}


@torch.inference_mode()
def _found(
    network: DetectorNetwork, data: LabeledImages, config: DetectorConfig, device: Device
) -> Iterator[list[ImageDetection]]:
    finder = FoundObjects(network, data.vocabulary).to(device.torch).eval()
    for first in range(0, len(data.images), config.batch):
        images = data.images[first : first + config.batch]
        squares = [letterboxed(image.pixels(), config.image_size) for image in images]
        pictures = torch.from_numpy(np.stack([square for square, _ in squares])).to(device.torch)
        depths = [
            inverse_depth(image.depth_if_any(), _focal(image), placed, config.image_size)
            for image, (_, placed) in zip(images, squares, strict=True)
        ]
        with device.autocast():
            outputs = finder(pictures, torch.from_numpy(np.stack(depths)).to(device.torch))
        scores, types, numbers = (each.cpu().numpy() for each in outputs)
        for index, image in enumerate(images):
            output = NetworkOutput(scores[index], types[index], numbers[index])
            placed = squares[index][1]
            focal = _focal(image) * placed.scale / config.image_size
            yield decoded(output, data.vocabulary, placed, focal, LEAST_CONFIDENCE, depths[index])


def _focal(image: LabeledImage) -> float:
    return float(image.label.matrix[0, 0])
