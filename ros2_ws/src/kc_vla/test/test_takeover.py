"""A person takes over from a policy and hands back: who drives, and where that one begins."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from piper import PIPER

from kc_vla.core.chunk import ActionType
from kc_vla.core.driver import Driver
from kc_vla.core.episode import Episode
from kc_vla.policy.interface import PolicyError, PolicyInput
from kc_vla.policy.takeover import Marks, TakeOver
from kc_vla.policy.teleop import JoyBackend, JoySettings, LeaderBackend

EPISODE = Episode("counting-1", "counting", "push the cube", start_ns=0, period_ns=50_000_000, running=True)
KEYS = JoySettings()
HERE = np.array([0.1, 1.0, -0.8, 0.0, 0.3, 0.0, 0.03])
STILL = [0.0] * 8


class Clock:
    now = 10.0

    def __call__(self) -> float:
        return self.now


def pressed(*numbers: int) -> list[int]:
    return [int(number in numbers) for number in range(8)]


class Desk:
    """A policy's robot with a person beside it."""

    def __init__(self, backend: Callable[[Clock], JoyBackend | LeaderBackend] = lambda clock: JoyBackend(clock=clock)):
        self.clock, self.frame, self.told = Clock(), 0, list[str]()
        self.person = backend(self.clock)
        self.subject = TakeOver(self.person, PIPER, lambda: self.frame, self.told.append, clock=self.clock)
        self.subject.begin(EPISODE)
        self.subject.asked(0)

    def press(self, *numbers: int, axes: list[float] = STILL) -> Driver:
        self.clock.now += 0.05
        if isinstance(self.person, JoyBackend):
            self.person.offer(axes, pressed(*numbers))
        self.subject.offer(axes, pressed(*numbers))
        return self.subject.driver

    def infer(self, here: np.ndarray = HERE) -> np.ndarray:
        state = here if isinstance(self.person, LeaderBackend) else np.array([*np.zeros(7), here[-1] / 0.07])
        return self.person.infer(PolicyInput(self.frame, {}, [], state, "", np.empty((0, 0), np.float32)))


def test_the_button_that_must_be_held_takes_over_and_another_one_hands_back() -> None:
    desk = Desk()
    assert desk.press() is Driver.POLICY
    assert desk.press(KEYS.hand_back) is Driver.POLICY
    assert desk.press(KEYS.enable) is Driver.PERSON
    assert desk.press() is Driver.PERSON  # it is let go: the arm holds, the policy does not go on
    assert desk.press(KEYS.enable, KEYS.hand_back) is Driver.PERSON  # who holds it means to drive
    assert desk.press(KEYS.hand_back) is Driver.PERSON  # it was pressed before
    assert desk.press() is Driver.PERSON
    assert desk.press(KEYS.hand_back) is Driver.POLICY
    assert desk.press(KEYS.enable) is Driver.PERSON
    assert desk.subject.turn == len(desk.told) == 3


def test_a_gamepad_that_is_gone_never_hands_back_not_even_when_it_comes_again() -> None:
    desk = Desk()
    desk.press(KEYS.enable, axes=[0.0, 1.0, *STILL[2:]])
    desk.clock.now += 30.0
    assert not desk.subject.ready
    assert desk.subject.driver is Driver.PERSON
    with pytest.raises(PolicyError, match="the arm holds"):
        desk.infer()
    assert desk.press(KEYS.hand_back) is Driver.PERSON  # stuck while it was away, who knows
    assert desk.press() is Driver.PERSON
    assert desk.press(KEYS.hand_back) is Driver.POLICY


def test_what_an_episode_ended_with_is_not_what_the_next_one_begins_with() -> None:
    desk = Desk()
    desk.press(KEYS.enable)
    desk.subject.end()
    desk.press()
    assert desk.press(KEYS.hand_back) is Driver.PERSON  # nobody drives by then
    desk.subject.begin(EPISODE)
    assert (desk.subject.driver, desk.subject.turn) == (Driver.POLICY, 0)


def test_one_that_begins_within_an_episode_leaves_it_to_the_person_who_drives() -> None:
    desk = Desk()
    desk.subject.begin(EPISODE)
    desk.subject.asked(17)
    assert (desk.subject.driver, desk.subject.turn) == (Driver.PERSON, 1)
    desk.press()
    assert desk.press(KEYS.hand_back) is Driver.POLICY
    desk.subject.asked(18)
    assert desk.subject.driver is Driver.POLICY


BUTTONS = st.sets(st.sampled_from([KEYS.enable, KEYS.hand_back, KEYS.open, KEYS.success]))


@given(st.lists(st.tuples(BUTTONS, st.sampled_from([0.02, 0.1, 3.0])), max_size=40))
def test_the_policy_goes_on_only_on_a_word_of_a_person_who_was_heard_to_say_it(
    said: list[tuple[set[int], float]],
) -> None:
    desk = Desk()
    before: set[int] | None = None
    for buttons, pause in said:
        desk.clock.now += pause
        drove = desk.subject.driver
        desk.subject.offer(STILL, pressed(*buttons))
        heard = before is not None and pause < 1.0
        if drove is Driver.PERSON and desk.subject.driver is Driver.POLICY:
            assert heard
            assert KEYS.hand_back in buttons
            assert KEYS.hand_back not in (before or set())
        if KEYS.enable in buttons:
            assert desk.subject.driver is Driver.PERSON
        before = buttons


@pytest.mark.parametrize("kind", list(ActionType))
def test_the_gripper_stays_as_it_was_told_and_not_as_far_as_it_got(kind: ActionType) -> None:
    desk = Desk()
    width = 7
    rows = np.zeros((16, width), np.float32)
    rows[:, -1] = np.linspace(0.9, 0.15, 16) * (0.07 if kind is ActionType.JOINT_POSITION else 1.0)
    desk.subject.gave(100, kind, rows)
    desk.frame = 115
    desk.press()
    desk.press(KEYS.enable, axes=[0.0, 1.0, *STILL[2:]])
    told = desk.infer()  # it grips something that is 3 cm wide
    np.testing.assert_allclose(told[:, -1], 0.15, atol=1e-6)
    assert told[0, 0] == pytest.approx(KEYS.speed * 0.05)


def led(clock: Clock) -> LeaderBackend:
    leader = LeaderBackend(PIPER, clock)
    leader.reset(EPISODE)
    return leader


finite = st.floats(-1.5, 1.5)


@given(st.lists(finite, min_size=7, max_size=7), st.lists(st.floats(-0.3, 0.3), min_size=6, max_size=6))
def test_wherever_a_leader_is_the_arm_stays_where_it_was_taken_over_and_moves_as_it_is_led(
    there: list[float], way: list[float]
) -> None:
    desk = Desk(led)
    lead = np.array(there)
    desk.person.offer(lead)
    desk.subject.gave(0, ActionType.JOINT_POSITION, HERE[None].astype(np.float32))
    desk.press()
    desk.press(KEYS.enable)
    desk.person.offer(lead)
    np.testing.assert_allclose(desk.infer(), np.tile(HERE, (12, 1)), atol=1e-6)
    desk.person.offer(lead + np.array([*way, 0.0]))
    np.testing.assert_allclose(desk.infer()[-1], HERE + np.array([*way, 0.0]), atol=1e-6)
    desk.clock.now += 1.0  # it falls silent, and comes back elsewhere
    with pytest.raises(PolicyError):
        desk.infer()
    desk.person.offer(lead - 0.4)
    np.testing.assert_allclose(desk.infer()[0, :6], HERE[:6], atol=1e-6)


def test_the_gripper_of_an_arm_that_is_led_follows_once_that_of_the_leader_is_moved() -> None:
    desk = Desk(led)
    lead = np.array([*np.zeros(6), 0.07])
    desk.subject.gave(0, ActionType.TOOL_DELTA, np.array([[0, 0, 0, 0, 0, 0, 0.0]], np.float32))  # it grips
    desk.press()
    desk.press(KEYS.enable)
    for opening, told in ((0.07, 0.0), (0.068, 0.0), (0.05, 0.05), (0.068, 0.068)):
        lead[-1] = opening
        desk.person.offer(lead)
        assert desk.infer()[0, -1] == pytest.approx(told)


def test_an_arm_is_led_only_while_the_button_is_held_and_goes_on_from_where_it_stood() -> None:
    desk = Desk(led)
    lead = np.zeros(7)

    def told(way: float, *numbers: int) -> float:
        lead[0] += way
        desk.press(*numbers)
        desk.person.offer(lead)
        return float(desk.infer(here)[0, 0])

    here = HERE.copy()
    desk.subject.begin(EPISODE)
    desk.subject.asked(17)  # as of a policy server that was started again: a person drives
    assert told(0.3) == pytest.approx(here[0])  # no button was pressed
    assert told(0.1, KEYS.enable) == pytest.approx(here[0])
    assert told(0.1, KEYS.enable) == pytest.approx(here[0] + 0.1)
    here[0] += 0.09  # an arm lags behind, and sags
    assert told(0.2) == pytest.approx(HERE[0] + 0.1)  # let go of: the leader is put elsewhere
    assert told(0.0, KEYS.enable) == pytest.approx(HERE[0] + 0.1)
    assert told(-0.05, KEYS.enable) == pytest.approx(HERE[0] + 0.05)
    desk.clock.now += 0.3  # the gamepad's cable is pulled
    desk.person.offer(lead + 0.2)
    assert desk.infer(here)[0, 0] == pytest.approx(HERE[0] + 0.05)


def test_a_mark_is_a_button_that_is_pressed_and_not_one_that_is_held() -> None:
    clock = Clock()
    marks = Marks(clock=clock)
    assert marks.offer(pressed(KEYS.success)) is None  # held when it was first heard
    assert marks.offer(pressed()) is None
    assert marks.offer(pressed(KEYS.success, KEYS.failure)) is None
    assert marks.offer(pressed()) is None
    assert marks.offer(pressed(KEYS.failure)) is False
    assert marks.offer(pressed()) is None
    assert marks.offer(pressed(KEYS.success)) is True
    clock.now += 2.0
    assert marks.offer(pressed(KEYS.failure)) is None
