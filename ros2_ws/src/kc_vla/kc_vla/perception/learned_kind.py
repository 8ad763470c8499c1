"""The row of the learned detector: what runs it is imported when it is made."""

from __future__ import annotations

from kc_vla.perception.detectors import DetectorKind, ObjectDetector
from kc_vla.perception.learned_options import LearnedDetectorOptions


def _make(options: LearnedDetectorOptions) -> ObjectDetector:
    from kc_vla.perception.learned import learned_detector

    return learned_detector(options)


LEARNED = DetectorKind(
    "a small network that `kc-vla train detector` trains on rendered images", LearnedDetectorOptions, _make
)
