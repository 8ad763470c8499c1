"""An emulated Piper that was left raised, with power, as a controller that was killed leaves it."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.arm.session import ArmSession
from kc_vla.arm.wiring import Wiring
from tests.support.piper import PIPER

RAISED = np.radians([10.0, 90.0, -60.0, 0.0, 20.0, 5.0])
PATIENCE_S = 60.0


def raise_it(path: Path) -> None:
    """By a session of its own, which leaves it there with power."""
    wiring = Wiring("piper", PIPER, {"channel": str(path), "bus": INTERFACE})
    session = ArmSession(wiring, ServoSettings(speed=3.0), 100.0, 50, lambda: False, print)
    end, far = time.monotonic() + PATIENCE_S, np.inf
    while far > 0.01 or not session.ready:
        assert time.monotonic() < end
        if session.poll() is not None and session.ready:
            session.set_target(RAISED, 0.0, 0.05)
            assert session.told is not None
            far = float(np.abs(session.told.report.state.angles - RAISED).max())
        time.sleep(0.005)
    session.hang_up()
    while not session.ended:
        time.sleep(0.01)
