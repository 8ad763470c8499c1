"""Policies whose network is a person: what the arm is told, and that it is told nothing when nothing comes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from piper import PIPER

from kc_vla.core.chunk import Chunk, ChunkLimits, check_chunk
from kc_vla.core.episode import Episode
from kc_vla.nodes.keyboard import AXES, BUTTONS, WORDS, joy, letters
from kc_vla.policy.interface import PolicyError, PolicyInput
from kc_vla.policy.teleop import TELEOP_HORIZON, JoyBackend, JoySettings, LeaderBackend

EPISODE = Episode("counting-1", "counting", "push the cube", start_ns=0, period_ns=50_000_000, running=True)
HERE = np.array([0.1, 1.0, -0.8, 0.0, 0.3, 0.0, 0.03])


class Clock:
    now = 10.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def asked(backend, here=HERE):
    share = here[-1:] / 0.07
    state = here if isinstance(backend, LeaderBackend) else np.concatenate([np.zeros(7), share])
    return backend.infer(PolicyInput(0, {}, [], state, "", np.empty((0, 0), np.float32)))


@pytest.fixture
def leader(clock) -> LeaderBackend:
    backend = LeaderBackend(PIPER, clock)
    backend.reset(EPISODE)
    return backend


def test_a_leader_that_is_elsewhere_is_approached_slowly_and_then_followed(leader):
    far = HERE + np.array([1.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.01])
    here, slowest = HERE.copy(), 0.4 * 0.05 + 1e-6
    for _ in range(100):
        leader.offer(far)
        rows = asked(leader, here)
        assert (np.abs(np.diff(np.vstack([here, rows])[:, :6], axis=0)) <= slowest).all()
        here = rows[0].astype(float)
        if np.abs(here - far)[:6].max() < 0.01:
            break
    leader.offer(far)
    asked(leader, here)
    moved = far + np.array([0.2, 0.0, 0.0, 0.0, 0.0, 0.0, -0.02])
    leader.offer(moved)
    np.testing.assert_allclose(asked(leader, here), np.tile(moved, (TELEOP_HORIZON, 1)), atol=1e-6)
    leader.offer(HERE)  # it jumped by a radian: nobody leads an arm like that
    rows = asked(leader, here)
    assert (np.abs(np.diff(np.vstack([here, rows])[:, :6], axis=0)) <= slowest).all()


def test_a_silent_leader_moves_nothing_and_is_approached_again(leader, clock):
    leader.offer(HERE)
    asked(leader)
    clock.now += 0.3
    with pytest.raises(PolicyError, match="nothing comes from the leader"):
        asked(leader)
    leader.offer(HERE + 0.2)
    assert np.abs(asked(leader)[0] - HERE)[:6].max() <= 0.4 * 0.05 + 1e-6


@pytest.mark.parametrize("lead", [np.full(7, np.nan), np.zeros(6), np.array([np.inf] * 7)])
def test_garbage_of_a_leader_is_as_good_as_nothing(leader, lead):
    leader.offer(lead)
    with pytest.raises(PolicyError):
        asked(leader)


@pytest.fixture
def gamepad(clock) -> JoyBackend:
    backend = JoyBackend(clock=clock)
    backend.reset(EPISODE)
    return backend


def test_sticks_move_the_flange_only_while_the_button_is_held(gamepad):
    axes = [0.0, 1.0, 0.0, 0.0, -0.5, 0.0, 0.0, 0.0]
    gamepad.offer(axes, [0] * 8)
    rows = asked(gamepad)
    assert (rows[:, :6] == 0).all()
    np.testing.assert_allclose(rows[:, 6], 0.03 / 0.07, rtol=1e-5)
    gamepad.offer(axes, [0, 0, 0, 0, 1, 0, 0, 0])
    rows = asked(gamepad)
    np.testing.assert_allclose(rows[0, :6], [0.005, 0.0, -0.0025, 0.0, 0.0, 0.0], atol=1e-7)
    assert (rows[len(rows) // 2 :, :6] == 0).all()  # it stops soon by itself


def test_a_gamepad_that_was_away_moves_nothing_until_its_button_was_let_go_of(gamepad, clock):
    up, held, free = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0, 0, 0, 0, 1, 0, 0, 0], [0] * 8

    def moves(buttons):
        clock.now += 0.05
        gamepad.offer(up, buttons)
        return bool(np.abs(asked(gamepad)[:, :6]).max())

    assert not moves(held)  # who knows for how long
    assert not moves(held)
    assert not moves(free)
    assert moves(held)
    clock.now += 0.9  # the machine was busy
    assert moves(held)
    clock.now += 2.0  # its cable was out
    assert not moves(held)
    assert not moves(free)
    assert moves(held)


def test_the_gripper_opens_and_closes_and_stays_in_its_range(gamepad):
    gamepad.offer([0.0] * 8, [0] * 8)
    for _ in range(60):
        gamepad.offer([0.0] * 8, [0, 1, 0, 0, 1, 0, 0, 0])
        rows = asked(gamepad)
    assert rows[0, 6] == 1.0
    gamepad.offer([0.0] * 8, [1, 0, 0, 0, 1, 0, 0, 0])
    assert asked(gamepad)[0, 6] == pytest.approx(1.0 - 0.7 * 0.05)


def test_a_silent_gamepad_moves_nothing(gamepad, clock):
    with pytest.raises(PolicyError, match="gamepad or keyboard"):
        asked(gamepad)
    gamepad.offer([1.0] * 8, [1] * 8)
    clock.now += 0.3
    with pytest.raises(PolicyError):
        asked(gamepad)


@given(
    st.lists(st.floats(width=32), max_size=12),
    st.lists(st.integers(-3, 3), max_size=12),
)
def test_whatever_a_gamepad_says_the_chunk_may_reach_the_arm(axes, buttons):
    backend = JoyBackend()
    backend.reset(EPISODE)
    backend.offer([], [])
    backend.offer(axes, buttons)
    rows = asked(backend)
    check_chunk(Chunk(0, 0, backend.action_type, backend.names, rows), ChunkLimits())


@pytest.mark.parametrize("key", WORDS)
def test_a_key_that_says_something_moves_nothing(key):
    said = joy([key])
    assert not any(said.axes)
    assert [number for number, pressed in enumerate(said.buttons) if pressed] == [WORDS[key]]


def test_a_key_takes_over_without_a_motion():
    assert joy(["t"]).buttons[JoySettings().enable] == 1
    assert not any(joy(["t"]).axes)


@pytest.mark.parametrize("key", [key for key in (*AXES, *BUTTONS) if key != "t"])
def test_every_key_moves_something_and_holds_the_button(clock, key):
    backend = JoyBackend(clock=clock)
    backend.reset(EPISODE)
    still = joy([])
    backend.offer(list(still.axes), list(still.buttons))
    at_rest = asked(backend)
    pressed = joy([key])
    backend.offer(list(pressed.axes), list(pressed.buttons))
    assert np.abs(asked(backend) - at_rest).max() > 1e-3


@pytest.mark.parametrize(
    "key",
    [
        "\x1b[A",
        "\x1b[D",
        "\x1b[H",
        "\x1b[F",
        "\x1bOP",
        "\x1bOQ",
        "\x1b[3~",
        "\x1b[1;5C",
        "\x1b[15;2~",
        "\x1b[[A",
        "\x1bd",
        "\x1b\x1b[C",
    ],
    ids=repr,
)
def test_an_arrow_or_function_key_is_none_of_the_letters_that_it_is_made_of(key):
    assert letters(key) == ("", "")
    assert letters("w" + key + "S") == ("ws", "")
    for cut in range(1, len(key)):  # it comes in two parts
        first, begun = letters("w" + key[:cut])
        assert first == "w"
        assert letters(begun + key[cut:] + "d") == ("d", "")
