"""The detector that the stack trains itself: one network that runs in ONNX Runtime."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kc_vla.inference.models import ModelError, models_in
from kc_vla.inference.onnx_sessions import InferenceError, open_session
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.decoding import NetworkOutput, decoded
from kc_vla.perception.detector_model import MOST_OBJECTS, DetectorModel, DetectorOutput, load_detector
from kc_vla.perception.detectors import DetectorError
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.letterbox import inverse_depth, letterboxed
from kc_vla.perception.options import LearnedDetectorOptions

_PICTURES, _DEPTH, _OUTPUTS = "pictures", "inverse_depth", ["scores", "types", "numbers"]


class LearnedDetector:
    """Finds objects with a trained network."""

    def __init__(
        self, model: DetectorModel, device: str = "auto", threads: int = 1, threshold: float = 0.3, faint: float = 1.0
    ) -> None:
        """Open the model's file.

        Args:
            model: network and vocabulary.
            device: auto, cpu or cuda.
            threads: of the CPU.
            threshold: least confidence of an object.
            faint: least confidence of what is reported as faint, see `ImageDetection`.

        Raises:
            DetectorError: it cannot be run here, or is none of a detector with these words.
        """
        try:
            self._session = open_session(model.network, device, threads)
        except InferenceError as error:
            raise DetectorError(str(error)) from error
        self._model, self._threshold, self._faint = model, threshold, min(faint, threshold)
        self._require_fit()

    @property
    def model(self) -> DetectorModel:
        """Return the model of the detector."""
        return self._model

    def detect(self, frame: CameraFrame) -> list[ImageDetection]:
        """Return the objects of an image, the most certain first, at most `MOST_OBJECTS`.

        Raises:
            DetectorError: the network gives no finite numbers.
        """
        size = self._model.image_size
        square, placed = letterboxed(frame.image, size)
        depth = inverse_depth(frame.depth_m, float(frame.matrix[0, 0]), placed, size)
        scores, types, numbers = self._session.run(_OUTPUTS, {_PICTURES: square[None], _DEPTH: depth[None]})
        if not (np.isfinite(scores).all() and np.isfinite(numbers).all()):
            raise DetectorError(
                f"the detector '{self._model.name}' gave no finite numbers: its weights are damaged, export it anew"
            )
        focal = float(frame.matrix[0, 0]) * placed.scale / size
        output = NetworkOutput(scores[0], types[0], numbers[0])
        found = decoded(output, self._model.vocabulary, placed, focal, self._faint, depth)
        return [replace(each, faint=True) if each.confidence < self._threshold else each for each in found]

    def close(self) -> None:
        """Release nothing: the session goes with this object."""

    def _require_fit(self) -> None:
        """Check that the file is a detector's, with as many types and numbers as the registry says."""
        size, words = self._model.image_size, self._model.vocabulary
        inputs = {each.name: list(each.shape[1:]) for each in self._session.get_inputs()}
        outputs = {each.name: list(each.shape[1:]) for each in self._session.get_outputs()}
        wanted = {
            "scores": [MOST_OBJECTS],
            "types": [MOST_OBJECTS],
            "numbers": [MOST_OBJECTS, DetectorOutput(words).count],
        }
        if inputs != {_PICTURES: [size, size, 3], _DEPTH: [size, size]} or outputs != wanted:
            raise DetectorError(
                f"{self._model.network} is no detector of {size} px with the types, colors and states of "
                f"'{self._model.name}' in its registry: export it anew"
            )
        types = self._session.get_modelmeta().custom_metadata_map.get("types", "")
        if types != ",".join(words.types):
            raise DetectorError(
                f"{self._model.network} finds {types or 'no named types'}, and its registry says "
                f"{','.join(words.types)}: export it anew"
            )


def learned_detector(options: LearnedDetectorOptions) -> LearnedDetector:
    """Return the detector that some options choose.

    Raises:
        DetectorError: the model is not there, or cannot be run here.
    """
    try:
        model = load_detector(models_in(options.models_folder), options.model)
    except ModelError as error:
        raise DetectorError(str(error)) from error
    return LearnedDetector(model, options.device, options.threads, options.threshold, options.faint)
