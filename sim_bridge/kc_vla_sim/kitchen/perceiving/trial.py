"""One kitchen: a robot looks around, and what its memories hold then is compared with the truth."""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla_sim.choices import STANDARD_ASSETS
from kc_vla_sim.envs.kitchen import kitchen_of
from kc_vla_sim.frame import GroundTruthObject, SimulatedFrame
from kc_vla_sim.kitchen.perceiving.judging import AT_ITS_PLACE_M, BELIEVED, TrueObject, Vector, claims_near, judge
from kc_vla_sim.kitchen.perceiving.known_ids import KnownIds, RestingThings
from kc_vla_sim.kitchen.perceiving.remembering import KitchenMemories, RememberedObject
from kc_vla_sim.kitchen.perceiving.seen_truth import LEAST_LOOKS, SeenTruth
from kc_vla_sim.kitchen.perceiving.simulated_perception import SimulatedPerception
from kc_vla_sim.robot import CONTROL_RATE
from kc_vla_sim.simulator import Simulator

FURNITURE, THINGS = "furniture", "things"
LONG, SHORT = "long-term", "short-term"
_HOLDER_M = 0.1
"""So near to its middle a drawer is the one that is meant."""


@dataclass(frozen=True)
class PerceptionSetting:
    """How a robot looks around.

    Attributes:
        detector: name of a row of the detectors, or "truth".
        options: of the detector.
        depth: whether depth images are used.
        looks: of the kitchens.
        image_size: of each camera, px.
        looks_per_s: images of each camera that perception takes in a second of simulated time.
        seconds: most simulated time; the tour ends before, or is cut.
        unwatched: no camera looks while a thing moves.
        assets: that the kitchens are made of.
    """

    detector: str
    options: Mapping[str, Any] = field(default_factory=dict)
    depth: bool = True
    looks: str = "standard"
    image_size: int = 256
    looks_per_s: float = 5.0
    seconds: float = 120.0
    unwatched: bool = False
    assets: str = STANDARD_ASSETS


@dataclass
class TrialOutcome:
    """What a kitchen gave.

    Attributes:
        seed: of the kitchen.
        complete: whether the tour came to its end.
        verdicts: by memory and by `THINGS` or `FURNITURE`, the fields of a `MemoryVerdict`.
        drawers: by memory, for each thing that was put into something in view, whether the memory has it there.
        refuted: by memory, for each old place that was seen empty, whether the memory claims it no more.
        kept: by memory, for each thing that was moved and is at its new place there, whether it has the id that it had.
        refused: how often something was left out, by the reason.
        images: that perception took.
        perceive_ms: of one image, median.
    """

    seed: int
    complete: bool = False
    verdicts: dict[str, dict[str, Any]] = field(default_factory=dict)
    drawers: dict[str, list[bool]] = field(default_factory=dict)
    refuted: dict[str, list[bool]] = field(default_factory=dict)
    kept: dict[str, list[bool]] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    images: int = 0
    perceive_ms: float = 0.0


class PerceptionTrial:
    """Plays one kitchen after another with one detector."""

    def __init__(self, setting: PerceptionSetting) -> None:
        """Open the detector.

        Raises:
            DetectorError: it cannot be had.
        """
        self._setting = setting
        self._perception = SimulatedPerception(setting.detector, setting.options, setting.depth)
        self._simulator = Simulator(
            setting.image_size, draw=False, looks=setting.looks, depth=True, assets=setting.assets
        )

    def close(self) -> None:
        """Release detector and simulator."""
        self._perception.close()
        self._simulator.close()

    def play(self, seed: int) -> TrialOutcome:
        """Play a kitchen and judge what both memories hold then."""
        with tempfile.TemporaryDirectory(prefix="kc_vla_perception_") as folder:
            memories = KitchenMemories(Path(folder) / "memory.db", shared_embedder())
            try:
                return self._play(seed, memories)
            finally:
                memories.close()

    def _play(self, seed: int, memories: KitchenMemories) -> TrialOutcome:
        outcome, seen, times = TrialOutcome(seed), SeenTruth(), list[float]()
        known: dict[str, KnownIds] = {LONG: KnownIds(), SHORT: KnownIds()}
        self._perception.begin()
        refused: Counter[str] = Counter()
        for frame in self._looks(seed):
            images = self._perception.images(self._simulator, frame)
            seen.note(frame, images, kitchen_of(self._simulator.environment).events)
            for image in images:
                began = time.perf_counter()
                perceived = self._perception.look(image)
                times.append(time.perf_counter() - began)
                moved = [perceived.held] if perceived.held else []
                refused.update(map(_reason, [*moved, *perceived.refused, *memories.take(perceived, image.stamp_ns)]))
            known[LONG].note(seen.objects(), list(memories.long_term()))
            known[SHORT].note(seen.objects(), list(memories.short_term()))
            outcome.complete = frame.done
        outcome.images, outcome.perceive_ms = len(times), 1000.0 * float(np.median(times))
        outcome.refused = dict(refused)
        for name, held in ((LONG, list(memories.long_term())), (SHORT, list(memories.short_term()))):
            _judge(outcome, name, held, seen)
            outcome.kept[name] = known[name].kept(seen.objects(), held, {each.event.object_id for each in seen.left})
        return outcome

    def _looks(self, seed: int) -> Iterator[SimulatedFrame]:
        """Yield each moment that perception looks at, drawn."""
        every = max(1, round(CONTROL_RATE / self._setting.looks_per_s))
        frame = self._simulator.reset("kitchen", seed)
        watch = RestingThings()
        while True:
            rests = watch.rest(frame) or not self._setting.unwatched
            if (frame.index % every == 0 and rests) or frame.done:
                yield self._simulator.redrawn(frame)
            if frame.done or frame.index >= self._setting.seconds * CONTROL_RATE:
                return
            frame = self._simulator.step(self._simulator.expert.plan(1)[0][0])


def _reason(line: str) -> str:
    """Return a line without its numbers, to count it with those like it."""
    return re.sub(r"[-+]?\d+(\.\d+)?", "N", line)


def _judge(outcome: TrialOutcome, memory: str, held: Sequence[RememberedObject], seen: SeenTruth) -> None:
    truth = list(seen.objects())
    for what, movable in ((THINGS, True), (FURNITURE, False)):
        outcome.verdicts[f"{memory} {what}"] = asdict(judge(truth, held, movable))
    last = {event.object_id: event for event in seen.put}
    now = seen.now()
    outcome.drawers[memory] = [
        _is_in(held, now[event.object_id].object_type, now, event.after.partition(" ")[2])
        for name, event in last.items()
        if now[name].attributes.get("place", "") == event.after
    ]
    outcome.refuted[memory] = [
        not any(True for _ in claims_near(held, place.object_type, place.position(now)))
        for place in seen.left
        if place.known and place.empty >= LEAST_LOOKS and not _taken(place.object_type, place.position(now), truth)
    ]


def _taken(object_type: str, position: Vector, truth: Sequence[TrueObject]) -> bool:
    """Return whether another one of the type is there now."""
    gaps = (np.linalg.norm(np.subtract(each.position, position)) for each in truth if each.object_type == object_type)
    return any(gap <= 2 * AT_ITS_PLACE_M for gap in gaps)


def _is_in(
    held: Sequence[RememberedObject], object_type: str, now: Mapping[str, GroundTruthObject], holder: str
) -> bool:
    """Return whether a memory claims that a thing of a type is in a holder of the kitchen."""
    there = now[holder].pose.position
    same = {
        each.object_id
        for each in held
        if each.object_type == now[holder].object_type and np.linalg.norm(np.subtract(each.position, there)) < _HOLDER_M
    }
    places = (each.place for each in held if each.object_type == object_type and each.confidence >= BELIEVED)
    return any(place.startswith("in ") and place[3:] in same for place in places)
