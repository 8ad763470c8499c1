"""The states of an emulated arm, one for each control step of a simulator."""

from __future__ import annotations

import numpy as np
import pytest

from kc_vla.arm.emulator.process import View
from kc_vla.arm.emulator.simulated_body import FingerDrive
from kc_vla_sim.piper.arm_track import ArmTrack

PERIOD = 0.05


def view(time: float, angle: float, drive: FingerDrive | None = None) -> View:
    """Return what an arm shows with all joints at `angle`, rad."""
    return View(np.full(6, angle), np.zeros((6, 3)), np.ones(6, bool), 0.0, "normal", "", time, drive)


def test_the_arm_is_seen_at_the_end_of_each_control_step_wherever_its_views_lie() -> None:
    track = ArmTrack(PERIOD)
    assert track.next_state() is None
    times = np.arange(10.0, 11.0, 0.02)
    track.add([view(10.0, 10.0)])
    first = track.next_state()
    assert first is not None
    assert first.time == pytest.approx(10.0)
    track.add([view(time, time) for time in times[1:12]])
    states = [state for _ in range(10) if (state := track.next_state()) is not None]
    assert [state.time for state in states] == pytest.approx([10.05, 10.1, 10.15, 10.2])
    assert [state.angles[0] for state in states] == pytest.approx([10.05, 10.1, 10.15, 10.2])
    assert track.next_state() is None


def test_a_step_has_the_drive_of_the_newest_view_before_its_end() -> None:
    track = ArmTrack(PERIOD)
    drives = [FingerDrive(width, 1.0) for width in (0.0, 0.01, 0.02)]
    track.add([view(0.0, 0.0, drives[0])])
    assert track.next_state() is not None
    track.add([view(0.04, 0.0, drives[1]), view(0.06, 0.0, drives[2])])
    state = track.next_state()
    assert state is not None
    assert state.drive == drives[1]


def test_a_body_that_is_far_behind_leaves_out_what_lies_between() -> None:
    track = ArmTrack(PERIOD)
    track.add([view(0.0, 0.0)])
    assert track.next_state() is not None
    track.add([view(0.02, 0.0), view(3.0, 1.0)])
    state = track.next_state()
    assert state is not None
    assert (state.time, state.angles[0]) == (pytest.approx(3.0), pytest.approx(1.0))
    assert track.skipped == pytest.approx(2.95)
