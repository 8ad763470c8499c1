"""The options that each row with a network of the registry has."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.core.options import option


@dataclass(frozen=True)
class ModelOptions:
    """The options of a network of the registry of models; a row names its own one as the default of `model`."""

    model: str = option("name of the model in the registry")
    models_folder: str = option("folder of the registry of models; empty: the shipped models", "")
    device: str = option("device for the model: auto, cpu or cuda", "auto")
    threads: int = option("CPU threads for the model", 1, low=1, high=64)
