"""Which frames of an episode events take for keyframes while it is recorded, see `kc_vla.keyframes.event_selector`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.episode import Episode
from kc_vla.keyframes.afterwards import Watcher
from kc_vla.keyframes.event_selector import EventSource, open_events
from kc_vla.keyframes.selectors import NetworkOptions, fitting_selector
from kc_vla_sim.envs.tabletop import THIRD_PERSON_CAMERA
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.scorer_inputs import PERIOD_NS, sight_of_frame
from kc_vla_sim.simulator import Simulator


class WatchedEvents(Watcher):
    """The event keyframes of the episode that a simulator has begun; a frame is drawn only if they look at it."""

    def __init__(self, simulator: Simulator) -> None:
        """Begin with the episode that a simulator has begun.

        Args:
            simulator: with an episode.

        Raises:
            SourceError: the backbone is missing.
        """
        task = simulator.task
        assert task is not None
        told = Episode("recorded", task.name, task.instruction, 0, PERIOD_NS, True)
        super().__init__(_source(), told)
        self._simulator = simulator

    def see(self, frame: SimulatedFrame) -> bool:
        """Take in the present frame; return whether it is to be kept."""
        return self.take(frame.index, sight_of_frame(frame, _WhenSeen(self._simulator)))


class _WhenSeen(Mapping[str, NDArray[np.uint8]]):
    """The image of the first view, drawn once it is looked at."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._drawn: NDArray[np.uint8] | None = None

    def __getitem__(self, view: str) -> NDArray[np.uint8]:
        if view != THIRD_PERSON_CAMERA:
            raise KeyError(view)
        if self._drawn is None:
            self._drawn = self._simulator.picture(view)
        return self._drawn

    def __iter__(self) -> Iterator[str]:
        yield THIRD_PERSON_CAMERA

    def __len__(self) -> int:
        return 1


@cache
def _source() -> EventSource:
    """Return this process's event selector, with the backbone that `policy:=learned selector:=events` has."""
    return open_events(NetworkOptions(fitting_selector("learned"), device="cpu"))
