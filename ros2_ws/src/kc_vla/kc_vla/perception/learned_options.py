"""The options of the detector `learned`."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.core.options import option


@dataclass(frozen=True)
class LearnedDetectorOptions:
    """The options of the learned detector."""

    model: str = option("name of the model in the registry", "detector")
    models_folder: str = option("folder with that registry; empty: the models shipped", "")
    device: str = option("auto, cpu or cuda", "auto")
    threads: int = option("CPU threads for the model", 1, low=1, high=64)
    threshold: float = option("least confidence of an object", 0.5, low=0.01, high=1.0)
