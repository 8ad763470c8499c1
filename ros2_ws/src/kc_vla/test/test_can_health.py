"""What the error frames of SocketCAN say of a bus, and what a person is told to do about it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.arm.can_health import BusHealth, BusState, advice

CONTROLLER, BUS_OFF, RESTARTED, COUNTERS = 0x004, 0x040, 0x100, 0x200


def status(bits: int, sent: int = 0, received: int = 0) -> bytes:
    return bytes([0, bits, 0, 0, 0, 0, sent, received])


def test_a_bus_goes_from_bad_to_worse_and_back():
    health = BusHealth()
    seen = []
    for error, data in (
        (CONTROLLER | COUNTERS, status(0x08, 104)),
        (CONTROLLER | COUNTERS, status(0x20, 136)),
        (BUS_OFF | COUNTERS, status(0, 248)),
        (RESTARTED, bytes(8)),
        (CONTROLLER, status(0x10, 0, 130)),
        (CONTROLLER, status(0x40, 0, 90)),
    ):
        health = health.after(error, data)
        seen.append((str(health.state), health.transmit_errors, health.receive_errors))
    assert seen == [
        ("error-warning", 104, 0),
        ("error-passive", 136, 0),
        ("bus-off", 248, 0),
        ("error-active", 248, 0),
        ("error-passive", 0, 130),
        ("error-active", 0, 90),
    ]
    assert health.error_frames == 6


@given(st.integers(0, 0x7FF), st.binary(max_size=8))
def test_any_error_frame_is_understood_and_counted(error, data):
    health = BusHealth(BusState.PASSIVE, 3, 4, 10).after(error, data)
    assert health.error_frames == 11
    assert health.state in BusState
    if error & BUS_OFF:
        assert health.state is BusState.OFF


@pytest.mark.parametrize(
    ("health", "there", "words"),
    [
        (BusHealth(), True, ""),
        (BusHealth(BusState.OFF), True, "the bus is off after too many errors: .* 'sudo ip link set can3 up"),
        (BusHealth(BusState.GONE), False, "'can3' is gone: put the adapter back, then 'sudo ip link set can3 up"),
        (BusHealth(BusState.GONE), True, "'can3' is down: 'sudo ip link set can3 up"),
        (BusHealth(BusState.PASSIVE, 136, 2), True, r"error-passive \(errors: 136 sending, 2 receiving\)"),
    ],
)
def test_a_person_is_told_what_to_do(health, there, words):
    told = advice(health, "can3", lambda channel: there)
    assert re.search(words, told) if words else told == ""
