"""The state and the error counters that a CAN controller reports, from the error frames of SocketCAN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

BITRATE, RESTART_MS = 1_000_000, 100
"""The bit rate of a Piper's bus, bit/s; and after how long it comes back by itself when it went off, ms."""
_CONTROLLER, _BUS_OFF, _RESTARTED, _COUNTERS = 0x004, 0x040, 0x100, 0x200
"""Classes of an error frame, bits of its id: see linux/can/error.h."""
_WARNING, _PASSIVE, _ACTIVE = 0x04 | 0x08, 0x10 | 0x20, 0x40
"""Bits of the second byte of a frame of the class `_CONTROLLER`; of both directions."""
_STATUS, _SENT, _RECEIVED = 1, 6, 7
"""Bytes of an error frame: state of the controller, error counters of sending and receiving."""
_INTERFACES = Path("/sys/class/net")


class BusState(StrEnum):
    """The state of a CAN controller, by the words of socketcan.

    `GONE` says that there is no interface any more.
    """

    ACTIVE = "error-active"
    WARNING = "error-warning"
    PASSIVE = "error-passive"
    OFF = "bus-off"
    GONE = "gone"


@dataclass(frozen=True)
class BusHealth:
    """How a bus is.

    Attributes:
        state: of the controller; `GONE` while there is none.
        transmit_errors: error counter of sending, 0 to 255.
        receive_errors: error counter of receiving.
        error_frames: that came so far.
    """

    state: BusState = BusState.ACTIVE
    transmit_errors: int = 0
    receive_errors: int = 0
    error_frames: int = 0

    def after(self, error: int, data: bytes) -> BusHealth:
        """Return the health after an error frame of class `error` with that data."""
        data = data.ljust(8, b"\0")
        state = self.state
        if error & _BUS_OFF:
            state = BusState.OFF
        elif error & _RESTARTED:
            state = BusState.ACTIVE
        elif error & _CONTROLLER:
            state = _state_of(data[_STATUS], state)
        counters = data[_SENT], data[_RECEIVED]
        if not error & _COUNTERS and not any(counters):
            counters = self.transmit_errors, self.receive_errors  # older drivers tell them with the controller's state
        return BusHealth(state, *counters, self.error_frames + 1)

    def gone(self) -> BusHealth:
        """Return the health once the adapter was pulled out, or its interface was taken down."""
        return replace(self, state=BusState.GONE)


def advice(health: BusHealth, channel: str, exists: Callable[[str], bool] | None = None) -> str:
    """Return what a person can do about a bus that is not well; empty if it is."""
    up = f"sudo ip link set {channel} up type can bitrate {BITRATE} restart-ms {RESTART_MS}"
    if health.state is BusState.OFF:
        return f"the bus is off after too many errors: look at cable and termination, then '{up}'"
    if health.state is BusState.GONE:
        there = (exists or _exists)(channel)
        return f"'{channel}' is down: '{up}'" if there else f"'{channel}' is gone: put the adapter back, then '{up}'"
    if health.state is BusState.ACTIVE:
        return ""
    return (
        f"the bus is {health.state} (errors: {health.transmit_errors} sending, {health.receive_errors} receiving): "
        "look at its cable and the arm's power"
    )


def _exists(channel: str) -> bool:
    return (_INTERFACES / channel).exists() if "/" not in channel else Path(channel).exists()


def _state_of(status: int, before: BusState) -> BusState:
    if status & _PASSIVE:
        return BusState.PASSIVE
    if status & _WARNING:
        return BusState.WARNING
    return BusState.ACTIVE if status & _ACTIVE else before
