"""The detectors that come with the stack. A row imports what it makes when it makes it: nothing else waits for that."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.core.options import option
from kc_vla.core.topics import DETECTIONS_TRUTH
from kc_vla.perception.detectors import DetectorError, DetectorKind, ListeningDetector, ObjectDetector
from kc_vla.perception.options import LearnedDetectorOptions, VisionMsgsOptions, VlmOptions


@dataclass(frozen=True)
class TruthOptions:
    """The options of the detector that passes on what a simulator knows."""

    topic: str = option("topic of the simulator's detections", DETECTIONS_TRUTH)


def _learned(options: LearnedDetectorOptions) -> ObjectDetector:
    from kc_vla.perception.learned import learned_detector

    return learned_detector(options)


def _learned_types(options: LearnedDetectorOptions) -> tuple[str, ...]:
    from kc_vla.inference.models import ModelError, models_in
    from kc_vla.perception.detector_model import load_detector

    try:
        return load_detector(models_in(options.models_folder), options.model).vocabulary.types
    except ModelError as error:
        raise DetectorError(str(error)) from error


def _vision_msgs(options: VisionMsgsOptions) -> ListeningDetector:
    from kc_vla.perception.vision_msgs_detector import VisionMsgsDetector

    return VisionMsgsDetector(options)


def _vision_msgs_types(options: VisionMsgsOptions) -> tuple[str, ...]:
    from kc_vla.perception.class_names import names_of

    named = options.only or (() if options.labels else names_of(options.names, options.names_file).known)
    return tuple(each for each in named if each not in options.ignored)


def _vlm(options: VlmOptions) -> ObjectDetector:
    from kc_vla.perception.vlm_detector import VlmDetector

    return VlmDetector(options)


def _truth(options: TruthOptions) -> ListeningDetector:
    from kc_vla.perception.truth import SimulatorTruth

    return SimulatorTruth(options.topic)


LEARNED = DetectorKind(
    "a small network that `kc-vla train detector` trains on rendered images",
    LearnedDetectorOptions,
    _learned,
    types=_learned_types,
)
VISION_MSGS = DetectorKind(
    "an external node that publishes vision_msgs, such as YOLO",
    VisionMsgsOptions,
    _vision_msgs,
    listens=("vision_msgs/msg/Detection2DArray", "vision_msgs/msg/Detection3DArray", "vision_msgs/msg/LabelInfo"),
    types=_vision_msgs_types,
)
VLM = DetectorKind(
    "a vision-language model at an OpenAI-compatible server",
    VlmOptions,
    _vlm,
    types=lambda options: options.classes,
)
TRUTH = DetectorKind(
    "what the simulator knows, for comparison",
    TruthOptions,
    _truth,
    graphs=("maniskill", "replay"),
    listens=("kc_vla_msgs/msg/ObjectDetections",),
    passes_on=True,
)
