"""What chooses the keyframes of a kitchen while a second hand moves things in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from kc_vla.core.episode import Episode
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import FrameToScore, LiveSelector
from kc_vla.keyframes.selectors import open_selector
from kc_vla.keyframes.smoothing import Decision
from kc_vla.memory.episodic.changes import PlaceChanges
from kc_vla.memory.episodic.joining import DetectedScene
from kc_vla_sim.envs.kitchen import kitchen_of
from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm
from kc_vla_sim.scorer_inputs import PERIOD_NS, sight_of_frame

ORACLE, PLACES, EVENTS = "oracle", "places", "events"

ChosenFrame = tuple[int, str]
"""Frame of a keyframe, and its label."""


class KeyframeChooser(Protocol):
    """Chooses the keyframes of one episode."""

    def take(self, arm: KitchenArm, scene: DetectedScene | None) -> Iterator[ChosenFrame]:
        """Yield the keyframes that are settled with the newest frame.

        Args:
            arm: in that frame.
            scene: what perception reports of it; None where it did not look.
        """
        ...


class OracleChooser:
    """The first frame, and each frame in which a thing has come to its new place, by the truth of the simulator."""

    def __init__(self) -> None:
        self._known = -1

    def take(self, arm: KitchenArm, scene: DetectedScene | None) -> Iterator[ChosenFrame]:
        """Yield the frames of the events."""
        if self._known < 0:
            self._known = 0
            yield arm.frame.index, "start"
        events = kitchen_of(arm.simulator.environment).events
        for each in events[self._known :]:
            yield each.step, f"{each.object_id} {each.what}"
        self._known = len(events)


class PlacesChooser:
    """The first frame, and each in which perception reports that a thing rests elsewhere than before."""

    def __init__(self) -> None:
        self._changes = PlaceChanges()
        self._begun = False

    def take(self, arm: KitchenArm, scene: DetectedScene | None) -> Iterator[ChosenFrame]:
        """Yield the frames in which a thing has come to rest."""
        if not self._begun:
            self._begun = True
            yield arm.frame.index, "start"
        change = None if scene is None else self._changes.take(scene)
        if change is not None:
            yield arm.frame.index, change.label


class EventsChooser:
    """The selector `events`, which looks at the images of each frame."""

    def __init__(self) -> None:
        self._live = LiveSelector(open_selector(EVENTS))
        self._live.begin(Episode("before", "kitchen", "", 0, PERIOD_NS, True))

    def take(self, arm: KitchenArm, scene: DetectedScene | None) -> Iterator[ChosenFrame]:
        """Yield the frames that the selector has confirmed."""
        drawn = all(image.size for image in arm.frame.views.values())
        frame = arm.frame if drawn else arm.simulator.redrawn(arm.frame)
        found = self._live.take(FrameToScore(frame.index, sight_of_frame(frame, frame.views), -1.0, Start()))
        for event in found.events if found is not None else ():
            if event.decision is Decision.COMMITTED:
                yield event.frame, event.label


CHOOSERS: Mapping[str, Callable[[], KeyframeChooser]] = {
    ORACLE: OracleChooser,
    PLACES: PlacesChooser,
    EVENTS: EventsChooser,
}
