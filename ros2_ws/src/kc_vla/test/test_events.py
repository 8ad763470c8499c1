"""Events in what a robot feels and sees, at any rate of the frames."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.keyframes.events import ARM, GRIPPER, SCENE, Ending, EventDetector

DARK, LIT = np.full((48, 64, 3), 60, np.uint8), np.full((48, 64, 3), 60, np.uint8)
LIT[10:14, 20:24] = 240
REACH_END, GRIP_END, LAMP_ON, LAMP_OFF, END = 2.0, 3.3, 5.0, 6.0, 7.0  # s


def place_at(time_s: float) -> np.ndarray:
    """A reach of 30 cm from 1 s to 2 s, with the speed of a bell."""
    share = min(max(time_s - 1.0, 0.0), 1.0)
    return np.array([0.3 * (share - np.sin(2 * np.pi * share) / (2 * np.pi)), 0.0, 0.2])


def opening_at(time_s: float) -> float:
    return 0.08 - 0.04 * min(max((time_s - 3.0) / 0.3, 0.0), 1.0)


def events_at(times_s: np.ndarray) -> list[tuple[str, float]]:
    """The events of an episode whose frames come at these times, and when."""
    detector, found = EventDetector(), []
    for time_s in times_s:
        picture = LIT if LAMP_ON <= time_s < LAMP_OFF else DARK
        ended = detector.update(round(time_s * 1e9), place_at(time_s), opening_at(time_s), lambda shown=picture: shown)
        found += [(kind, float(time_s)) for kind in ended]
    return found


@pytest.mark.parametrize("rate", [10, 15, 20, 30, 60])
def test_a_reach_a_grip_and_a_lamp_are_events_at_any_rate(rate: int) -> None:
    found = events_at(np.arange(0.0, END, 1 / rate))
    assert [kind for kind, _ in found] == [ARM, GRIPPER, SCENE, SCENE]
    wanted = (REACH_END, GRIP_END, LAMP_ON, LAMP_OFF)
    assert [time for _, time in found] == pytest.approx(wanted, abs=0.25)


def test_frames_that_jitter_or_are_lost_change_nothing() -> None:
    chance = np.random.default_rng(1)
    times = np.arange(0.0, END, 0.05) + chance.uniform(-0.01, 0.01, round(END / 0.05))
    found = events_at(times[chance.random(len(times)) > 0.15])
    assert [kind for kind, _ in found] == [ARM, GRIPPER, SCENE, SCENE]


def test_what_the_moving_arm_does_to_the_picture_is_no_event() -> None:
    detector = EventDetector()
    for frame in range(40):
        picture = LIT if frame % 4 < 2 else DARK
        moving = np.array([0.01 * frame, 0.0, 0.2])  # 0.2 m/s
        assert detector.update(frame * 50_000_000, moving, 0.08, lambda shown=picture: shown) == ()


@pytest.mark.nightly
def test_the_noise_of_a_camera_and_a_slow_dusk_are_no_events() -> None:
    chance, detector = np.random.default_rng(2), EventDetector()
    for frame in range(200):
        noisy = np.clip(100.0 - 0.2 * frame + chance.normal(0.0, 5.0, (480, 640, 3)), 0, 255).astype(np.uint8)
        assert detector.update(frame * 33_000_000, np.zeros(3), 0.08, lambda shown=noisy: shown) == ()


def test_a_long_slowing_down_ends_once_and_a_new_rise_ends_again() -> None:
    ending = Ending(0.05, 0.4)
    falls = [0.1, 0.5, 0.3, 0.2, 0.15, 0.1, 0.08, 0.0, 0.04, 0.3, 0.0]
    assert [ending.update(value) for value in falls].count(True) == 2


FRAMES = st.lists(
    st.tuples(st.integers(-50, 400), st.floats(-1, 1), st.floats(0, 0.08), st.integers(0, 255)), max_size=60
)


@given(FRAMES, st.integers(0, 60))
def test_a_frame_is_judged_by_itself_and_those_before_it_alone(frames: list[tuple], cut: int) -> None:
    """Stamps may repeat and go back, cameras may show anything: what comes later changes nothing."""

    def judged(part: list[tuple]) -> list[tuple[str, ...]]:
        detector, stamp = EventDetector(), 0
        found = []
        for step_ms, x, opening, shade in part:
            stamp += step_ms * 1_000_000
            picture = np.full((4, 6, 3), shade, np.uint8)
            found.append(detector.update(stamp, np.array([x, 0, 0]), opening, lambda shown=picture: shown))
        return found

    assert judged(frames)[:cut] == judged(frames[:cut])


def test_a_camera_that_changes_its_size_is_stood() -> None:
    detector = EventDetector()
    sizes = [(4, 4), (480, 640), (1, 1), (33, 31)]
    for frame, size in enumerate(sizes):
        detector.update(frame * 50_000_000, np.zeros(3), 0.08, lambda s=size: np.zeros((*s, 3), np.uint8))
