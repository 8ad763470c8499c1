"""A simulator: the toy robot with cameras that have noise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from kc_vla.core.options import option
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.simulators import SimulatorContext, SimulatorKind
from kc_vla_sim.toy import ToySimulator


@dataclass(frozen=True)
class NoisyOptions:
    """The options of the simulator."""

    noise: float = option("standard deviation, of 255", 10.0, low=0.0, high=255.0)


class NoisyToy(ToySimulator):
    """See `kc_vla_sim.protocol.Simulation`."""

    def __init__(self, context: SimulatorContext, noise: float) -> None:
        super().__init__(context.image_size, context.robot.cameras)
        self._noise = noise

    def reset(self, task: str, seed: int) -> SimulatedFrame:
        """See `Simulation`: the same seed gives the same noise."""
        frame = super().reset(task, seed)
        self._chance = np.random.default_rng(seed)
        return self._noisy(frame)

    def step(self, tool_delta: ArrayLike) -> SimulatedFrame:
        """See `Simulation`."""
        return self._noisy(super().step(tool_delta))

    def step_joints(self, positions: ArrayLike) -> SimulatedFrame:
        """See `Simulation`."""
        return self._noisy(super().step_joints(positions))

    def hold(self) -> SimulatedFrame:
        """See `Simulation`."""
        return self._noisy(super().hold())

    def _noisy(self, frame: SimulatedFrame) -> SimulatedFrame:
        views = {
            view: (image + self._chance.normal(0.0, self._noise, image.shape)).clip(0, 255).astype(np.uint8)
            for view, image in frame.views.items()
        }
        return replace(frame, views=views)


NOISY = SimulatorKind(
    "the toy robot with noise in its cameras", NoisyOptions, lambda context, options: NoisyToy(context, options.noise)
)
