"""When the messages of a bag are due, whatever a person does to the player."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.bags.errors import BagEmptyError
from kc_vla.bags.playback import MOST_AT_ONCE, Playback
from kc_vla.bags.reader import BagMessage, MessageRef

EPOCH_NS = 1_700_000_000 * 10**9


def bag(*times: float, topics: tuple[str, ...] = ("/a",)) -> list[BagMessage]:
    """Messages at these seconds, their topics in turn."""
    return [
        BagMessage(MessageRef(topics[k % len(topics)], "x/msg/X", EPOCH_NS + round(t * 1e9), Path("b"), 0, k), b"", 0)
        for k, t in enumerate(times)
    ]


def numbers(messages: list[BagMessage]) -> list[int]:
    return [message.ref.position for message in messages]


def test_messages_are_due_at_their_time() -> None:
    play = Playback(lambda: iter(bag(0.0, 0.1, 0.1, 0.5)), 100.0)
    assert numbers(play.due(100.0)) == [0]
    assert numbers(play.due(100.11)) == [1, 2]
    assert numbers(play.due(100.4)) == []
    assert not play.ended
    assert numbers(play.due(100.6)) == [3]
    assert play.ended


def test_twice_as_fast_and_then_half_as_fast() -> None:
    play = Playback(lambda: iter(bag(0.0, 1.0, 2.0)), 0.0, rate=2.0)
    assert numbers(play.due(0.51)) == [0, 1]
    play.set_rate(0.51, 0.5)
    assert numbers(play.due(2.6)) == [2]


def test_a_pause_holds_everything_and_steps_give_one_message_each() -> None:
    play = Playback(lambda: iter(bag(0.0, 1.0, 2.0, 3.0)), 0.0)
    play.due(0.0)
    play.pause(0.5)
    assert numbers(play.due(60.0)) == []
    assert [play.step(60.0).ref.position, play.step(61.0).ref.position] == [1, 2]
    assert play.clock_ns(62.0) == EPOCH_NS + 2 * 10**9
    play.resume(70.0)
    assert numbers(play.due(71.1)) == [3]
    assert play.step(72.0) is None


def test_a_start_within_the_bag_gives_what_was_latched_first() -> None:
    play = Playback(
        lambda: iter(bag(0.0, 0.1, 0.2, 0.3, 0.4, topics=("/state", "/a"))), 0.0, start=0.25, latched=["/state"]
    )
    assert numbers(play.due(0.0)) == [2]
    assert numbers(play.due(1.0)) == [3, 4]


def test_a_loop_begins_again() -> None:
    play = Playback(lambda: iter(bag(0.0, 0.1)), 0.0, loop=True)
    assert numbers(play.due(0.1)) == [0, 1, 0]
    assert numbers(play.due(0.2)) == [1, 0]
    assert play.rounds == 3
    assert not play.ended


def test_a_loop_of_a_single_moment_does_not_hold_the_player_up() -> None:
    play = Playback(lambda: iter(bag(0.0)), 0.0, loop=True)
    assert len(play.due(0.0)) == MOST_AT_ONCE


@pytest.mark.parametrize(("times", "start"), [((), 0.0), ((0.0, 1.0), 5.0)])
def test_nothing_to_play_is_told(times: tuple[float, ...], start: float) -> None:
    with pytest.raises(BagEmptyError):
        Playback(lambda: iter(bag(*times)), 0.0, start=start)


EVENTS = st.one_of(
    st.tuples(st.just("wait"), st.floats(0.0, 2.0)),
    st.tuples(st.just("rate"), st.floats(0.1, 10.0)),
    st.tuples(st.sampled_from(["pause", "resume", "step"]), st.none()),
)


@given(st.lists(st.floats(0.0, 3.0), min_size=1, max_size=40), st.lists(EVENTS, max_size=40))
def test_every_message_comes_once_in_order_and_never_early(times, events) -> None:
    messages = bag(*sorted(times))
    play, now, came = Playback(lambda: iter(messages), 0.0), 0.0, []
    for name, value in [*events, ("resume", None), ("rate", 1.0), ("wait", 10.0)]:
        match name:
            case "wait":
                now += value
                for message in play.due(now):
                    assert message.ref.log_time_ns <= play.clock_ns(now) + 1
                    came.append(message)
            case "rate":
                play.set_rate(now, value)
            case "step":
                if (message := play.step(now)) is not None:
                    came.append(message)
            case "pause":
                play.pause(now)
            case "resume":
                play.resume(now)
    assert numbers(came) == list(range(len(messages)))
    assert play.ended
