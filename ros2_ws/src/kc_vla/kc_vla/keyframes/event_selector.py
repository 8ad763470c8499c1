"""Keyframes of a task that nobody has annotated: events, but for those that look as the keyframe before them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.episode import Episode
from kc_vla.keyframes.events import GRIPPER, SCENE, EventDetector
from kc_vla.keyframes.learned import Features, SelectorNetwork, open_network
from kc_vla.keyframes.scoring import DEFAULT_THRESHOLD, ScorerInput, Scoring
from kc_vla.keyframes.selectors import NetworkOptions

MOST = 1000
"""Keyframes of an episode, at most. Memory does not grow with them: the buffer holds the first and the newest ones."""
ALIKE = 0.3
"""Share of the largest distance so far (1 - cosine of the features) within which images look alike: it scores 0.5.

A share, because the backbone tells far less apart in scenes that it was not trained on: by a tenth or a hundredth.
"""
_NOISE = 1e-4
"""Distance that a camera's noise makes at most."""
SOON_S = 0.8
"""Time after a keyframe, s, in which a change of the scene counts however it looks: a hand comes, then releases."""
_LABELS = ("start", *(f"event {number}" for number in range(1, MOST)))
Encoder = Callable[[ScorerInput], Features]
"""Features (F,) of a moment."""


class EventSource:
    """The selector of events: it knows nothing of the task, and has no phases to wait for."""

    def __init__(self, network: SelectorNetwork) -> None:
        """Take the network whose backbone measures how much two images look alike.

        Args:
            network: of a selector.
        """
        self._network = network
        self.cameras = network.model.cameras
        self._views = tuple(camera.view for camera in self.cameras)
        self.runs_on = network.provider
        # a trunk that has learnt from one camera looks at a robot's first, whatever that is called
        self.needs: tuple[str, ...] = ("joints", "tool_pose", *(self._views if len(self._views) > 1 else ()))

    def begin(self, episode: Episode) -> Scoring:
        """Begin an episode of any task, with a fresh scorer of events."""
        return Scoring(_LABELS, EventScorer(self._encode))

    def _encode(self, sight: ScorerInput) -> Features:
        views = [sight.views[view] for view in self._views] if len(self._views) > 1 else [sight.pixels]
        return self._network.features_of(views)


def open_events(settings: NetworkOptions) -> EventSource:
    """Open the event selector with the backbone of the settings; errors as `open_network`."""
    return EventSource(open_network(settings))


class EventScorer:
    """Scores the frames of one episode; see `kc_vla.keyframes.scoring.Scorer`.

    A frame with an event gets how much it looks unlike the keyframe before it; 1 where the gripper has gripped or
    released, which a far camera hardly sees, and where the scene has changed soon after a keyframe; every other frame
    0. Only the frames of events pass the backbone. What looks like an *earlier* keyframe counts: a lamp that flashes a
    second time looks as it did the first time.
    """

    def __init__(self, encode: Encoder, detector: EventDetector | None = None) -> None:
        """Begin an episode.

        Args:
            encode: gives the features of an observation.
            detector: finds the events; a fresh one.
        """
        self._encode = encode
        self._events = detector or EventDetector()
        self._largest = _NOISE
        self._kept: Features | None = None
        self._kept_ns: int | None = None  # None for the first frame: what looks like it later is no event

    def score(self, sight: ScorerInput, phase: int) -> float:
        """Return the score, 0..1; NaN for a frame whose proprioception is not finite, 0 once there are `MOST`."""
        assert sight.tool_position is not None
        assert sight.gripper is not None
        if sight.unsound:
            return math.nan
        ended = self._events.update(sight.stamp_ns, sight.tool_position, sight.gripper, lambda: sight.pixels)
        if self._kept is None:
            self._kept = self._encode(sight)
            return 0.0
        if not ended or phase >= MOST:
            return 0.0
        seen = self._encode(sight)
        distance = _unlike(seen, self._kept)
        self._largest = max(self._largest, distance)
        soon = self._kept_ns is not None and sight.stamp_ns - self._kept_ns <= SOON_S * 1e9
        score = 1.0 if GRIPPER in ended or (SCENE in ended and soon) else distance / (distance + ALIKE * self._largest)
        if score > DEFAULT_THRESHOLD:
            self._kept, self._kept_ns = seen, sight.stamp_ns
        return score


def _unlike(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Return the distance 0..2 by the angle between features; 0 where one of them is nothing."""
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return max(0.0, 1.0 - float(one @ other) / lengths) if lengths > 0.0 else 0.0
