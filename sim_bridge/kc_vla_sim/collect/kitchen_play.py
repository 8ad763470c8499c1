"""Moments of a kitchen in which the arm does what it is asked for: what its own cameras show a detector then."""

from __future__ import annotations

from collections.abc import Mapping

from kc_vla.datasets.detections.labels import ImageLabel
from kc_vla.perception.detectors import TRUTH
from kc_vla_sim.collect.kitchen_labels import kitchen_labels
from kc_vla_sim.envs.kitchen import KitchenEnv
from kc_vla_sim.frame import Capture, SimulatedFrame
from kc_vla_sim.kitchen.sequences.drawing import draw_sequence
from kc_vla_sim.kitchen.sequences.robots import SimulatedKitchenRobot
from kc_vla_sim.kitchen.sequences.trial import SequenceTrial
from kc_vla_sim.kitchen.words import kitchen_words
from kc_vla_sim.robot import CONTROL_RATE

EVERY_S = 3
"""Time of the robot between two moments, s."""
_MEMORY = "both"

PlayedMoment = tuple[Mapping[str, Capture], Mapping[str, ImageLabel]]


def played_moments(seed: int, image_size: int, looks: str, renderer: str) -> list[PlayedMoment]:
    """Return captures and labels of all views, by view, while the arm did the instructions of a kitchen.

    The arm knows the simulator's truth, so that it gets on whatever the detector can do that is to be trained.

    Args:
        seed: of the kitchen and its instructions.
        image_size: of the cameras, px.
        looks: of the simulator.
        renderer: see `Simulator`.
    """
    words, moments = kitchen_words(), list[PlayedMoment]()

    def watch(frame: SimulatedFrame) -> None:
        if frame.index % (EVERY_S * CONTROL_RATE):
            return
        world = robot.arm.simulator.environment
        assert isinstance(world, KitchenEnv)
        captures, held = world.captures(), robot.arm.station.context.held_id
        labels = kitchen_labels(world, captures, words, held or "")
        moments.append((captures, labels))

    robot = SimulatedKitchenRobot(TRUTH, {}, watch, image_size, looks, renderer)
    try:
        SequenceTrial(robot).play(draw_sequence(seed), _MEMORY)
    finally:
        robot.close()
    return moments
