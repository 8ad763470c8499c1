"""A trained detector as a model that the stack runs: its file in a folder of models, and its entry in the registry."""

from __future__ import annotations

import tempfile
from pathlib import Path

import onnx
import torch

from kc_vla.core.files import copy_whole
from kc_vla.inference.models import register, require_free
from kc_vla.learning.common.onnx_files import write_onnx
from kc_vla.learning.detector.config import as_dict
from kc_vla.learning.detector.networks import DetectorNetwork, FoundObjects
from kc_vla.learning.detector.run import BEST, HOW, DetectorRun, trained_detector
from kc_vla.perception.detector_model import KIND
from kc_vla.perception.vocabulary import DetectionVocabulary

_FILE = "network.onnx"
_METRICS = ("map_50", "map", "recall", "states_right", "place_m", "place_90_m")


def release_detector(run: DetectorRun, models: Path, name: str, replace_it: bool = False) -> int:
    """Add the best network of a run to a folder of models; return the epochs after which it was best.

    Args:
        run: that has come to the end of an epoch.
        models: folder; a registry is made where there is none.
        name: of the model there.
        replace_it: it may take the place of another model.

    Raises:
        LearningError: the run has come to no end of an epoch yet.
        ModelError: no folder can have the name, or there is such a model.
    """
    state = run.need(BEST, HOW)
    require_free(models, name, replace_it)
    network, config = trained_detector(run), run.config
    models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=models, prefix=f".{name}.", suffix=".part") as part:
        export_detector(network, run.vocabulary, config.image_size, Path(part) / _FILE)
        (models / name).mkdir(exist_ok=True)
        copy_whole(Path(part) / _FILE, models / name / _FILE)
    logged = next(line for line in run.read_log() if line["epoch"] == state["epoch"])
    begun = {key: run.data[key] for key in ("init",) if key in run.data}
    entry = {
        "kind": KIND,
        "settings": {"image_size": config.image_size, "vocabulary": run.vocabulary.as_dict()},
        "source": {
            **begun,
            "training": as_dict(config),
            "epochs": int(state["epoch"]) + 1,
            "steps": int(state["step"]),
        },
        "metrics": {f"validation_{key}": round(logged[key], 4) for key in _METRICS if key in logged},
    }
    register(models, name, entry, {"network": f"{name}/{_FILE}"})
    return int(state["epoch"]) + 1


def export_detector(network: DetectorNetwork, vocabulary: DetectionVocabulary, size: int, path: Path) -> None:
    """Write a network, with its peaks, for one image of `size` px and its depth; its types stand in the file."""
    pictures, depth = torch.zeros((1, size, size, 3), dtype=torch.uint8), torch.zeros((1, size, size))
    finder = FoundObjects(network, vocabulary).eval()
    write_onnx(finder, (pictures, depth), ["pictures", "inverse_depth"], ["scores", "types", "numbers"], path)
    model = onnx.load(str(path))
    onnx.helper.set_model_props(model, {"types": ",".join(vocabulary.types)})
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
