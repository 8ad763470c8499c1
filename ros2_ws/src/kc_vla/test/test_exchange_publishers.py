"""One publisher is never taken for two, however a robot moves; two are never taken for one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.robot import load_robot
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.publishers import one_publisher
from kc_vla.datasets.exchange.stream_clock import far_off, steps

NAMES = (*(f"j{k}" for k in range(5)), "gripper")
PIPER = load_robot("piper").names


def motion(
    seed: int, rate: float, seconds: float, speed: float, noise: float, width: int = 6
) -> tuple[np.ndarray, np.ndarray]:
    """Stamps with jitter (N,), ns, and a smooth motion of joints (N, D) of at most that velocity, rad/s, with noise."""
    chance = np.random.default_rng(seed)
    count = max(12, int(seconds * rate))
    times = (np.arange(count) + chance.uniform(-0.3, 0.3, count)) / rate
    phases, beats = chance.uniform(0, 6, width), chance.uniform(0.1, 0.5, width)
    size = np.minimum(speed / (2 * np.pi * beats), 1.5)
    rests = chance.random() < 0.5
    turned = np.where(rests, np.minimum(times, seconds / 2), times)
    rows = chance.uniform(-1, 1, width) + size * np.sin(2 * np.pi * beats * turned[:, None] + phases)
    rows[:, -1] = 0.02 + 0.015 * np.sin(times)
    rows += chance.normal(0, noise, rows.shape) * np.where(np.arange(width) == width - 1, 0.01, 1.0)
    return np.round(times * 1e9).astype(np.int64) + 10**18, rows


@given(
    seed=st.integers(0, 2**31),
    rate=st.sampled_from([10.0, 30.0, 100.0, 250.0]),
    speed=st.floats(0.0, 3.0),
    noise=st.floats(0.0, 0.001),
    named=st.booleans(),
)
def test_one_robot_that_moves_is_one_publisher(seed: int, rate: float, speed: float, noise: float, named: bool) -> None:
    stamps, rows = motion(seed, rate, 6.0, speed, noise, width=7 if named else 6)
    for targets in (False, True):
        cleaned = one_publisher("x", PIPER if named else NAMES, stamps, rows, targets=targets)
        assert cleaned.keep.all()
        assert cleaned.notes == ()


@given(seed=st.integers(0, 2**31), gap=st.floats(0.1, 3.0))
def test_a_pause_of_the_recorder_is_no_second_publisher(seed: int, gap: float) -> None:
    stamps, rows = motion(seed, 50.0, 6.0, 1.0, 0.0)
    keep = (stamps < stamps[100]) | (stamps > stamps[100] + round(gap * 1e9))
    assert one_publisher("x", NAMES, stamps[keep], rows[keep]).keep.all()


@given(
    seed=st.integers(0, 2**31),
    rate=st.sampled_from([20.0, 50.0, 125.0]),
    other=st.sampled_from([10.0, 50.0, 200.0]),
    speed=st.floats(0.0, 2.0),
    fill=st.sampled_from(["zeros", "home", "another robot"]),
)
def test_a_second_publisher_is_left_out_or_refused(
    seed: int, rate: float, other: float, speed: float, fill: str
) -> None:
    stamps, rows = motion(seed, rate, 6.0, speed, 0.0003)
    rows[:, 0] += 4.0  # it is not where the other is
    more, others = motion(seed + 1, other, 6.0, speed, 0.0003)
    if fill != "another robot":
        others[:] = 0.0
        others[:, 1:] += 0.3 * (fill == "home")
    others[:, 0] = 0.0
    both = np.concatenate([stamps, more])
    order = np.argsort(both, kind="stable")
    right = np.concatenate([np.ones(len(stamps), bool), np.zeros(len(more), bool)])[order]
    values = np.concatenate([rows, others])[order]
    few = min(len(stamps), len(more)) <= 0.05 * len(both)
    if fill != "zeros" and not few:
        with pytest.raises(ExchangeError, match="two publishers tell x in turn"):
            one_publisher("x", NAMES, both[order], values)
        return
    cleaned = one_publisher("x", NAMES, both[order], values)
    assert (cleaned.keep == right).all() or (few and fill != "zeros" and len(stamps) < len(more))
    assert cleaned.notes


@given(
    seed=st.integers(0, 2**31),
    rate=st.sampled_from([10.0, 30.0, 100.0]),
    slow=st.floats(0.2, 5.0),
    jitter=st.floats(0.0, 0.4),
    lost=st.floats(0.0, 0.2),
)
def test_a_camera_with_jitter_losses_and_a_slow_simulator_keeps_one_clock(
    seed: int, rate: float, slow: float, jitter: float, lost: float
) -> None:
    chance = np.random.default_rng(seed)
    seconds = (np.arange(200) + chance.uniform(-jitter, jitter, 200)) / rate
    kept = np.sort(chance.choice(200, round(200 * (1 - lost)), replace=False))
    stamps = np.round(np.sort(seconds[kept]) * 1e9).astype(np.int64) + 10**18
    logs = np.round(kept / rate * slow * 1e9).astype(np.int64)
    assert steps(stamps, logs) == []
    assert not far_off(stamps, logs).any()


@pytest.mark.parametrize("by", [-2.0, -0.25, 4.0, 1e6])
@given(seed=st.integers(0, 2**31), at=st.integers(10, 90))
def test_a_clock_that_is_set_is_found_where_it_was(by: float, seed: int, at: int) -> None:
    chance = np.random.default_rng(seed)
    logs = np.round((np.arange(100) + chance.uniform(-0.2, 0.2, 100)) * 5e7).astype(np.int64)
    stamps = logs + 10**18 + np.where(np.arange(100) >= at, round(by * 1e9), 0)
    found = steps(stamps, logs)
    assert [step.at for step in found] == [at]
    assert found[0].seconds == pytest.approx(by, abs=0.1)
