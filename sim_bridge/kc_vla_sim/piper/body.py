"""The body of an emulated arm: it follows what the arm shows, and tells the arm what it touches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kc_vla.arm.emulator.process import View
from kc_vla.arm.emulator.simulated_body import SimulatedBody
from kc_vla.core.robot import Vector
from kc_vla_sim.piper.arm_track import ArmSample, ArmTrack
from kc_vla_sim.piper.table import STEP_S, PiperTable


class FollowingBody:
    """A body at a table that follows an emulated arm.

    Attributes:
        table: with the body.
    """

    def __init__(self, table: PiperTable, report: Callable[[SimulatedBody], None]) -> None:
        """Follow an arm.

        Args:
            table: where the body is.
            report: takes what the body touches, after each control step.
        """
        self.table, self._report = table, report
        self._track = ArmTrack(STEP_S)
        self._last: View | None = None

    def see(self, views: Sequence[View]) -> None:
        """Take in what the arm showed, the oldest first."""
        self._track.add(views)
        self._last = views[-1]

    def begin(self, seed: int, angles: Vector) -> None:
        """Begin an episode where the arm was last seen, or else at `angles` (6,), rad."""
        if self._last is None:
            self.table.begin(seed, angles, 0.0)
        else:
            self.table.begin(seed, self._last.angles, self._last.opening)

    def catch_up(self) -> ArmSample | None:
        """Take the control steps that the arm has gone on; return its state after them, None where there were none."""
        reached = None
        while (state := self._track.next_state()) is not None:
            self._report(self.table.advance(state))
            reached = state
        return reached

    @property
    def skipped(self) -> float:
        """Return how much of the arm's time the body left out, since this machine was too slow, s."""
        return self._track.skipped
