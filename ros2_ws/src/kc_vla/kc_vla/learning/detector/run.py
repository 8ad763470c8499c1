"""The folder of a detector's training: what it notes of itself, and the network in its checkpoints."""

from __future__ import annotations

from pathlib import Path

from kc_vla.learning.common.run import TrainingRun
from kc_vla.learning.detector.config import DetectorConfig, as_dict, detector_config_from
from kc_vla.learning.detector.networks import DetectorNetwork
from kc_vla.perception.vocabulary import DetectionVocabulary, vocabulary_from

CHECKPOINT, BEST = "detector", "best"
HOW = "let kc-vla train detector come to the end of its first epoch"


class DetectorRun(TrainingRun):
    """A run with what a detector's training notes of itself."""

    made_by = "kc-vla train detector"
    defaults = as_dict(DetectorConfig())
    trained = BEST, HOW

    @property
    def config(self) -> DetectorConfig:
        """Return settings of the run; TrainingRunError where the folder holds none."""
        return detector_config_from(self.settings)

    @property
    def vocabulary(self) -> DetectionVocabulary:
        """Return the words that it is trained to say."""
        return vocabulary_from(self.data["vocabulary"])

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return where the images are that it is trained on."""
        return tuple(map(Path, self.data["train"]))

    @property
    def is_folded(self) -> bool:
        """Return whether it is a released model that was restored, whose batch norms have no statistics."""
        return "model" in self.data


def trained_detector(run: DetectorRun) -> DetectorNetwork:
    """Return the averaged network of the epoch that was best on validation images.

    Raises:
        TrainingRunError: there is none yet.
    """
    state = run.need(BEST, HOW)
    network = DetectorNetwork(run.vocabulary, run.config.size)
    network.load_state_dict(state["average"])
    return network.eval()
