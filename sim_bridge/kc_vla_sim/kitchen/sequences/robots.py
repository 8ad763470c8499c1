"""What plays the instructions in a kitchen: the simulated arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from kc_vla.memory.things import ObservedThing
from kc_vla.planning.interface import CallResult
from kc_vla.planning.skills import Call
from kc_vla_sim.choices import STANDARD_LOOKS
from kc_vla_sim.frame import GroundTruthObject, SimulatedFrame
from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm
from kc_vla_sim.robot import CONTROL_RATE

_REST_STEPS = 10
"""Control steps until what was released is at rest."""
FrameWatcher = Callable[[SimulatedFrame], None]


class KitchenRobot(Protocol):
    """A `SkillRobot` in a kitchen whose truth can be asked for.

    Attributes:
        each_step: called after each control step, or after each skill; None for nobody.
    """

    each_step: Callable[[], None] | None

    @property
    def now_s(self) -> float:
        """Return the time since the kitchen began, s."""
        ...

    def begin(self, seed: int) -> None:
        """Begin the kitchen of a seed."""
        ...

    def do(self, call: Call) -> CallResult:
        """Do a skill."""
        ...

    def look(self) -> Sequence[ObservedThing]:
        """Return what is seen now."""
        ...

    def cancel(self) -> None:
        """Stop the skill that is being done."""
        ...

    def truth(self) -> Mapping[str, GroundTruthObject]:
        """Return every object of the kitchen by its id, after what was released has come to rest."""
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


class SimulatedKitchenRobot:
    """The arm in ManiSkill's kitchen."""

    def __init__(
        self,
        detector: str,
        options: Mapping[str, Any],
        watch: FrameWatcher | None = None,
        image_size: int = 0,
        looks: str = STANDARD_LOOKS,
        renderer: str = "auto",
    ) -> None:
        """Prepare to begin a kitchen.

        Args:
            detector: name of a row of the detectors, or "truth".
            options: of the detector.
            watch: gets each frame of the simulator.
            image_size: of the cameras, px; 0: what is usual for the detector.
            looks: of the simulator.
            renderer: of the simulator.
        """
        self.each_step: Callable[[], None] | None = None
        self._seen_by: dict[str, Any] = {"detector": detector, "options": options, "image_size": image_size}
        self._drawn_by: dict[str, Any] = {"looks": looks, "renderer": renderer}
        self._watcher = watch
        self._began: KitchenArm | None = None

    @property
    def arm(self) -> KitchenArm:
        """Return the arm of the present kitchen."""
        assert self._began is not None
        return self._began

    @property
    def now_s(self) -> float:
        """Return the time since the kitchen began, s."""
        return self.arm.frame.index / CONTROL_RATE

    def begin(self, seed: int) -> None:
        """Begin the kitchen of a seed.

        Raises:
            DetectorError: the detector cannot be had.
        """
        if self._began is None:
            self._began = KitchenArm(seed, **self._seen_by, **self._drawn_by)
            self._began.watch = lambda frame, station: self._watch(frame)
        else:
            self._began.begin(seed)

    def do(self, call: Call) -> CallResult:
        """Do a skill."""
        return self.arm.do(call)

    def look(self) -> Sequence[ObservedThing]:
        """Return what is seen now."""
        return self.arm.look()

    def cancel(self) -> None:
        """Stop the skill that is being done."""
        self.arm.cancel()

    def truth(self) -> Mapping[str, GroundTruthObject]:
        """Return every object of the kitchen by its id, after what was released has come to rest."""
        for _ in range(_REST_STEPS):
            self.arm.stay()
        return {each.object_id: each for each in self.arm.frame.detections}

    def close(self) -> None:
        """Release simulator and detector."""
        if self._began is not None:
            self._began.close()

    def _watch(self, frame: SimulatedFrame) -> None:
        if self._watcher is not None:
            self._watcher(frame)
        if self.each_step is not None:
            self.each_step()
