"""Replacement policies: against simple models over random histories, and against known hit rates."""

from __future__ import annotations

import random
from collections import Counter
from itertools import chain, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import at_night

from kc_vla.memory.evaluation.hit_rate import hits, optimal_hits
from kc_vla.memory.evaluation.requests import read_trace
from kc_vla.memory.replacement.interface import QUEUE, Replacement
from kc_vla.memory.replacement.lfu import Lfu
from kc_vla.memory.replacement.policies import open_replacement, usable_policies
from kc_vla.memory.replacement.queues import Fifo, Lru
from kc_vla.memory.replacement.sketch import FrequencySketch
from kc_vla.memory.replacement.w_tinylfu import PROTECTED_SHARE, Rule, WTinyLfu, window_of

SAMPLE = 20
"""Uses after which counters are halved: within a history of these tests."""
policies = pytest.mark.parametrize("name", usable_policies())
keys = st.integers(0, 12).map(lambda number: f"mug-{number}")
STEPS = ["add", "add", "use", "demote", "remove"]
histories = st.lists(st.tuples(st.sampled_from(STEPS), keys), max_size=80)
capacities = st.integers(1, 9)


class Model:
    """Which keys are there, how often each was used lately, and who leaves where that is told in a line."""

    def __init__(self, policy: Replacement, sample: int = 0) -> None:
        """Args: `sample`, after how many uses a sketch halves its counters; by default later than in any history."""
        self.policy = policy
        self._sample = sample
        self.there: list[str] = []
        """The next to leave first, where the policy has one queue."""
        self.counts = Counter[str]()
        self._uses = 0

    def do(self, what: str, key: str) -> None:
        policy, known = self.policy, key in self.there
        assert (key in policy) == known
        if what == "add":
            full = len(self.there) == policy.capacity and not known
            leaves = self.next_to_leave() if full else None
            counts = {each: policy.frequency(each) for each in self.there}
            self.count(key)
            evicted = policy.add(key)
            assert (evicted is not None) == full
            if evicted is not None:
                assert evicted.key in ([leaves] if leaves is not None else self.there)
                assert evicted.reason
                assert evicted.segment in policy.segments()
                assert evicted.frequency in (counts[str(evicted.key)], counts[str(evicted.key)] // 2)  # halved by now
                self.leave(str(evicted.key))
                if "used least" in evicted.reason and isinstance(policy, WTinyLfu):
                    others = {*policy.segments()["window"], *policy.segments()["probation"]} - {key}
                    assert evicted.frequency <= min(map(policy.frequency, others), default=evicted.frequency)
            if known:
                self.use(key)
            else:
                self.there.append(key)
        elif not known:
            with pytest.raises(KeyError):
                getattr(policy, what)(key)
        else:
            getattr(policy, what)(key)
            if what == "remove":
                self.leave(key)
            elif what == "demote":
                self.there.remove(key)
                self.there.insert(0, key)
                self.counts[key] = 0
            else:
                self.count(key)
                self.use(key)

    def next_to_leave(self) -> str | None:
        if isinstance(self.policy, Fifo):  # and Lru
            return self.there[0]
        return min(self.there, key=lambda key: self.counts[key]) if isinstance(self.policy, Lfu) else None

    def count(self, key: str) -> None:
        self.counts[key] += 1
        self._uses += 1
        if isinstance(self.policy, WTinyLfu) and self._uses == self._sample:
            self.counts = Counter({each: count // 2 for each, count in self.counts.items()})
            self._uses //= 2

    def leave(self, key: str) -> None:
        self.there.remove(key)
        if isinstance(self.policy, Lfu):
            del self.counts[key]

    def use(self, key: str) -> None:
        if isinstance(self.policy, Lru | Lfu):
            self.there.remove(key)
            self.there.append(key)

    def hold(self) -> None:
        """The policy is as the model says."""
        policy = self.policy
        assert set(policy) == set(self.there)
        assert len(policy) == len(self.there) <= policy.capacity
        segments = policy.segments()
        assert sorted(map(str, chain(*segments.values()))) == sorted(self.there)
        assert all(policy.segment(each) == name for name, held in segments.items() for each in held)
        if isinstance(policy, Fifo):  # and Lru
            assert [*policy] == [*segments[QUEUE]] == self.there
            return
        # A sketch never counts less, and with so few keys it has a counter for each.
        assert all(policy.frequency(key) == self.counts[key] for key in self.there)
        if isinstance(policy, WTinyLfu):
            assert len(segments["window"]) <= policy.window_size <= policy.capacity
            main = policy.capacity - policy.window_size
            assert len(segments["protected"]) <= int(PROTECTED_SHARE * main)


@policies
@given(capacities, histories)
def test_any_history_leaves_the_keys_of_a_simple_model(name: str, capacity: int, history: list) -> None:
    hold_against_model(Model(open_replacement(name, capacity)), history)


@pytest.mark.nightly
@policies
def test_ten_thousand_random_histories_leave_the_keys_of_a_simple_model(name: str) -> None:
    chance = random.Random(0)
    for _ in range(10_000):
        steps = [(chance.choice(STEPS), f"mug-{chance.randrange(13)}") for _ in range(chance.randrange(80))]
        hold_against_model(Model(open_replacement(name, chance.randint(1, 9))), steps)


def hold_against_model(model: Model, history: list) -> None:
    for what, key in history:
        model.do(what, key)
        model.hold()


@policies
@given(capacities, histories, keys)
def test_what_has_come_is_there_until_something_else_comes(name: str, capacity: int, history: list, key: str) -> None:
    model = Model(open_replacement(name, capacity))
    for what, each in history:
        model.do(what, each)
    model.policy.add(key)
    assert key in model.policy


@policies
@given(st.integers(2, 9), histories)
def test_what_proved_wrong_leaves_next(name: str, capacity: int, history: list) -> None:
    model = Model(open_replacement(name, capacity))
    for what, key in history:
        model.do(what, key)
    policy = model.policy
    for number in range(capacity):
        policy.add(f"cup-{number}")
    wrong = next(iter(policy))
    policy.demote(wrong)
    evicted = policy.add("something new")
    assert evicted is not None
    assert evicted.key == wrong


@given(st.integers(2, 9), st.integers(1, 8) | st.none(), st.sampled_from(Rule), histories)
def test_no_window_rule_or_halving_of_the_counters_breaks_the_model(
    capacity: int, window: int | None, rule: Rule, history: list
) -> None:
    hold_against_model(
        Model(WTinyLfu(capacity, None if window is None else min(window, capacity), rule, SAMPLE), SAMPLE), history
    )


@given(st.lists(keys, max_size=300), st.integers(5, 60))
def test_a_sketch_counts_no_less_than_was_used_and_halves_in_time(used: list[str], sample: int) -> None:
    sketch, truth, since = FrequencySketch(5, sample), Counter[str](), 0
    for key in used:
        sketch.add(key)
        truth[key] += 1
        since += 1
        if since == sample:
            truth = Counter({each: count // 2 for each, count in truth.items()})
            since //= 2
        assert sketch.count(key) >= truth[key]
    assert all(sketch.count(key) >= count for key, count in truth.items())


def test_a_sketch_seldom_counts_too_much() -> None:
    sketch = FrequencySketch(100, sample=100_000)
    chance = np.random.default_rng(0)
    used = chance.zipf(1.3, 50_000)
    for key in used.tolist():
        sketch.add(key)
    often = [(key, count) for key, count in Counter(used.tolist()).most_common(200) if count <= 255]
    assert all(sketch.count(key) <= count + 10 for key, count in often)


@given(st.integers(1, 4), st.lists(st.integers(0, 5), max_size=9))
def test_no_way_to_choose_finds_more_than_the_optimum(capacity: int, requests: list[int]) -> None:
    best = {frozenset[int](): 0}
    for key in requests:
        after: dict[frozenset[int], int] = {}
        for kept, found in best.items():
            with_it = kept | {key}
            ways = {with_it} if len(with_it) <= capacity else {with_it - {other} for other in with_it}
            for way in ways:
                after[way] = max(after.get(way, 0), found + (key in kept))
        best = after
    assert int(optimal_hits(capacity, requests).sum()) == max(best.values())


def test_what_is_used_often_stays_while_others_pass_by() -> None:
    """A robot that fetches its mug every day does not forget it for the hundred things it passes once."""
    policy = WTinyLfu(10)
    for day, passed in product(range(40), range(12)):
        if passed == 0:
            policy.add("mug")
        policy.add(f"{day}-{passed}")
    assert "mug" in policy
    lru = Lru(10)
    for passed in range(12):
        lru.add("mug") if passed == 0 else lru.add(str(passed))
    assert "mug" not in lru


STREAMS = {
    "the newest again": [begin - back for begin in range(6000) for back in (0, 1, 3, 6, 9, 12)],
    "only the newest again": [begin + ahead for begin in range(4000) for ahead in range(6)],
    "after twenty others": [begin - back for begin in range(8000) for back in (0, 20)],
    "round and round": [number % 15 for number in range(30_000)],
    "a few often": np.random.default_rng(0).zipf(1.3, 40_000).tolist(),
}


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("capacity", [10, *at_night(5, 20, 50)])
def test_a_window_that_adapts_is_no_worse_than_the_better_end(stream: str, capacity: int) -> None:
    """By a point of a hundred, what it takes to find out included."""
    ends = (Lru(capacity), WTinyLfu(capacity, window_of(capacity)))
    better = max(hits(policy, STREAMS[stream]).mean() for policy in ends)
    assert hits(WTinyLfu(capacity), STREAMS[stream]).mean() >= better - 0.01


def test_a_window_that_adapts_finds_more_than_either_end_where_the_two_take_turns() -> None:
    chance = np.random.default_rng(0)
    often = chance.zipf(1.3, (4, 10_000)).tolist()
    newest = [[10**6 * part + number // 2 - 8 * (number % 2) for number in range(10_000)] for part in range(1, 5)]
    stream = [key for pair in zip(often, newest, strict=True) for part in pair for key in part]
    ends = (Lru(20), WTinyLfu(20, window=1))
    assert hits(WTinyLfu(20), stream).mean() > max(hits(policy, stream).mean() for policy in ends) + 0.02


@pytest.mark.parametrize(
    ("trace", "size", "lru", "fifo", "optimum", "w_tinylfu"),
    [
        ("gli", 250, 0.91, 0.91, 17.71, 15.15),
        ("gli", 500, 0.95, 0.95, 34.33, 33.08),
        ("gli", 1000, 11.21, 11.14, 53.15, 50.57),
        ("multi1", 512, 46.66, 41.05, 59.09, 56.11),
    ],
)
def test_public_traces_have_their_published_rates(
    trace: str, size: int, lru: float, fifo: float, optimum: float, w_tinylfu: float
) -> None:
    """Percent: to the digit where there is one way only; the random parts of W-TinyLFU differ from hand to hand."""
    requests = read_trace(Path(__file__).parent / "data" / f"{trace}.trace.gz")
    rates = [100 * hits(policy, requests).mean() for policy in (Lru(size), Fifo(size))]
    assert [round(rate, 2) for rate in rates] == [lru, fifo]
    assert round(100 * optimal_hits(size, requests).mean(), 2) == optimum
    fixed, adapting = (
        100 * hits(policy, requests).mean() for policy in (WTinyLfu(size, window_of(size)), WTinyLfu(size))
    )
    assert fixed == pytest.approx(w_tinylfu, abs=1.7)
    assert adapting >= max(lru, fixed) - 1


def test_the_paper_s_rule_and_caffeine_s_differ() -> None:
    """By the first the least used of all leaves, by the second only one of two is looked at."""
    for rule, leaves in ((Rule.LEAST, "rare"), (Rule.CANDIDATE, "first")):
        policy = WTinyLfu(4, window=1, rule=rule)
        for key, times in (("first", 2), ("rare", 1), ("often", 3), ("last", 3)):
            for _ in range(times):
                policy.add(key)
        evicted = policy.add("new")
        assert evicted is not None
        assert evicted.key == leaves


@pytest.mark.parametrize("window", [0, 6, -1])
def test_a_window_without_room_is_refused(window: int) -> None:
    with pytest.raises(ValueError, match="give it 1 to 5"):
        WTinyLfu(5, window)


@policies
def test_a_memory_without_room_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        open_replacement(name, 0)
