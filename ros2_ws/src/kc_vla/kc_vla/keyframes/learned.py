"""The learned selector at run time: each image passes the backbone once, its features are kept for the window."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from kc_vla.core.episode import Episode
from kc_vla.inference.models import ModelError, models_in
from kc_vla.inference.onnx_sessions import InferenceError, open_session
from kc_vla.keyframes.image_crop import Picture, side_by_side
from kc_vla.keyframes.instructions import known_tasks
from kc_vla.keyframes.model import SelectorModel, load_selector
from kc_vla.keyframes.scoring import ScorerInput, Scoring, SourceError
from kc_vla.keyframes.selectors import NetworkOptions

Features = NDArray[np.float32]
_SLACK = 0.25
"""Share by which a frame rate may differ from the model's: people and policies differ in tempo by as much."""


class SelectorNetwork:
    """Backbone and head of a model, for as many episodes as wanted."""

    def __init__(self, model: SelectorModel, device: str = "auto", threads: int = 1) -> None:
        """Load both.

        Raises:
            InferenceError: they cannot be run here.
        """
        self.model = model
        self._trunk: onnxruntime.InferenceSession = open_session(model.trunk, device, threads)
        self._head: onnxruntime.InferenceSession = open_session(model.head, "cpu", 1)  # too small for a GPU

    @property
    def provider(self) -> str:
        """Return what the backbone really runs on."""
        return str(self._trunk.get_providers()[0])

    def features(self, pictures: NDArray[np.uint8]) -> Features:
        """Return features (N, 512) of images (N, S, V S, 3) of the model's size and cameras."""
        return np.asarray(self._trunk.run(None, {"pictures": pictures})[0], np.float32)

    def features_of(self, views: Sequence[Picture]) -> Features:
        """Return features (512,) of one moment: an image of each of the model's cameras, of any size."""
        features: Features = self.features(side_by_side(views, self.model.image_size)[None])[0]
        return features

    def scores(self, windows: Features, task: str, phase: int) -> NDArray[np.float32]:
        """Return scores (N,) of windows of features (N, window, 512) for a phase of a task."""
        task_index = np.full(len(windows), self.model.tasks.index(task), np.int64)
        phases = np.full(len(windows), phase, np.int64)
        return np.asarray(self._head.run(None, {"features": windows, "task": task_index, "phase": phases})[0])


class LearnedSource:
    """Keyframes by a network, which looks at the images alone and takes the task from the instruction."""

    def __init__(self, network: SelectorNetwork) -> None:
        """Take the network of a learned selector.

        Args:
            network: to score with.
        """
        self._network = network
        self.runs_on = network.provider
        self._tasks = known_tasks(network.model.known_tasks())
        self.needs: tuple[str, ...] = tuple(camera.view for camera in network.model.cameras)

    def begin(self, episode: Episode) -> Scoring:
        """Begin an episode; see `SelectorBackend.begin`.

        Raises:
            UnknownInstructionError: The instruction is similar to that of no known task.
            ValueError: The network was not trained on the most similar task.
        """
        task = self._tasks.find(episode.instruction, self._network.model.thresholds)
        model = self._network.model
        if task not in model.thresholds:
            raise ValueError(
                f"model '{model.name}' was not trained on '{task}': it knows {', '.join(model.thresholds)}: "
                "train one with it, or choose another selector:="
            )
        scorer = LearnedScorer(self._network, task)
        return Scoring(model.keyframes[task], scorer, model.thresholds[task], _at_another_rate(model, episode), True)


def _at_another_rate(model: SelectorModel, episode: Episode) -> str:
    """Return a warning where the frames come at another rate than those of the training; "" otherwise."""
    rate = 1e9 / episode.period_ns if episode.period_ns else 0.0
    if not model.rate or abs(rate / model.rate - 1.0) < _SLACK:
        return ""
    return (
        f"model '{model.name}' has learnt from {model.rate:g} frames a second, here are {rate:g}: its window spans "
        "another time, and keyframes may be missed; learn from data at this rate, or set the cameras' fps"
    )


def open_learned(settings: NetworkOptions) -> LearnedSource:
    """Return the learned selector with the model of the settings; errors as `open_network`."""
    return LearnedSource(open_network(settings))


def open_network(settings: NetworkOptions) -> SelectorNetwork:
    """Return the network of the settings.

    Raises:
        SourceError: there is no such model, or it cannot be run here.
    """
    try:
        model = load_selector(models_in(settings.models_folder), settings.model)
        return SelectorNetwork(model, settings.device, settings.threads)
    except (ModelError, InferenceError) as error:
        raise SourceError(str(error)) from error


class LearnedScorer:
    """Scores the frames of one episode; see `kc_vla.keyframes.scoring.Scorer`."""

    def __init__(self, network: SelectorNetwork, task: str) -> None:
        """Begin an episode of `task`, a name that the model knows."""
        self._network = network
        self._task = task
        model = network.model
        self._recent: deque[Features] = deque(maxlen=(model.window - 1) * model.stride + 1)

    def score(self, sight: ScorerInput, phase: int) -> float:
        """Return how much the frame looks like the keyframe of `phase`, 0..1; 0 when every phase is done."""
        model = self._network.model
        if phase >= model.phases(self._task):
            return 0.0  # for the rest of the episode, so the picture need not be looked at
        self._look([sight.views[camera.view] for camera in model.cameras])
        window = np.stack([self._recent[k] for k in range(0, len(self._recent), model.stride)])
        return float(self._network.scores(window[None], self._task, phase)[0])

    def _look(self, views: Sequence[Picture]) -> None:
        """Take in the next images; before the first there are the first again."""
        features = self._network.features_of(views)
        self._recent.append(features)
        while len(self._recent) < (self._recent.maxlen or 1):
            self._recent.append(features)
