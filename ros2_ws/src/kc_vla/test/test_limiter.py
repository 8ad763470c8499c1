import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import tried

from kc_vla.arm.limiter import MotionLimits, SetPointLimiter
from kc_vla.core.robot import JointLimits

JOINTS, PERIOD = 3, 0.005
LIMITS = MotionLimits(
    JointLimits(np.array([-1.0, 0.0, -2.0]), np.array([1.0, 2.0, 0.0]), np.array([1.0, 2.0, 3.0])),
    np.array([5.0, 10.0, 20.0]),
    np.array([100.0, 200.0, 400.0]),
)
START = np.array([0.0, 1.0, -1.0])

vectors = st.lists(st.floats(-4, 4), min_size=JOINTS, max_size=JOINTS).map(np.array)
stretches = st.lists(st.tuples(vectors, vectors, st.integers(1, 60)), min_size=1, max_size=8)


def begun() -> SetPointLimiter:
    limiter = SetPointLimiter(LIMITS, PERIOD)
    limiter.begin(START)
    return limiter


@given(stretches)
@settings(deadline=None)
def test_whatever_is_asked_for_every_set_point_keeps_the_limits(stretches):
    limiter = begun()
    before, speeds, accelerations = START, np.zeros(JOINTS), np.zeros(JOINTS)
    for target, moving, periods in stretches:
        for _ in range(periods):
            angles = limiter.next(target, moving)
            assert (angles >= LIMITS.joints.lowest - 1e-3).all()
            assert (angles <= LIMITS.joints.highest + 1e-3).all()
            speed = (angles - before) / PERIOD
            assert (np.abs(speed) <= LIMITS.joints.speed + 1e-6).all()
            acceleration = (limiter.speeds - speeds) / PERIOD
            assert (np.abs(acceleration) <= LIMITS.acceleration + 1e-6).all()
            assert (np.abs(acceleration - accelerations) / PERIOD <= LIMITS.jerk + 1e-3).all()
            before, speeds, accelerations = angles, limiter.speeds, acceleration


@given(vectors)
@tried(20, 100)
def test_a_target_that_stands_is_reached_as_far_as_it_is_allowed(target):
    limiter = begun()
    for _ in range(2000):
        angles = limiter.next(target)
    np.testing.assert_allclose(angles, np.clip(target, LIMITS.joints.lowest, LIMITS.joints.highest), atol=1e-6)
    np.testing.assert_allclose(limiter.speeds, 0, atol=1e-6)


def test_a_moving_target_is_followed_closely():
    limiter = begun()
    way = [START + 0.3 * np.sin(k * PERIOD) for k in range(2000)]
    pace = [np.full(JOINTS, 0.3 * np.cos(k * PERIOD)) for k in range(2000)]
    followed = [limiter.next(target, speeds) for target, speeds in zip(way, pace, strict=True)]
    assert np.abs(np.array(followed[400:]) - way[400:]).max() < 0.005


def test_what_was_cut_is_counted():
    limiter = begun()
    limiter.next(np.array([0.0, 5.0, -1.0]), np.array([0.0, 0.0, -9.0]))
    limiter.next(np.array([0.0, 5.0, -1.0]))
    assert limiter.clamped == {"position of joint 2": 2, "speed of joint 3": 1}


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_garbage_is_refused_and_changes_nothing(bad):
    limiter = begun()
    before = limiter.next(START + 0.1)
    for arguments in ((START * bad,), (START, START * bad)):
        with pytest.raises(ValueError, match="every number must be finite"):
            limiter.next(*arguments)
    np.testing.assert_array_equal(limiter.angles, before)


def test_it_wants_to_know_where_the_arm_is():
    with pytest.raises(ValueError, match="begin first"):
        SetPointLimiter(LIMITS, PERIOD).next(START)
