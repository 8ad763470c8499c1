"""The short-term memory: against a simple model over random histories, and what it tells of what it did."""

from __future__ import annotations

import gc
import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kc_vla.memory
from kc_vla.memory.evaluation.requests import household_stream, read_household, requests_of
from kc_vla.memory.replacement.policies import REPLACEMENTS
from kc_vla.memory.short_term.memory import ABSENCE_S, ShortTermMemory, UnitEvent
from kc_vla.memory.short_term.unit import ObjectState, Position, Unit

policies = pytest.mark.parametrize("policy", REPLACEMENTS.names())
names = st.integers(0, 14).map(lambda number: (f"Type{number % 4}", f"object-{number}"))
STEPS = ["see", "see", "see", "use", "confirm", "demote", "gone", "refresh", "other type", "late"]


def unit(object_type: str = "Mug", object_id: str = "mug-1", stamp: float = 0.0, **more: object) -> Unit:
    return replace(Unit(object_type, object_id, Position(1, 2, 3), stamp), **more)  # type: ignore[arg-type]


@policies
@given(st.integers(5, 9), st.lists(st.tuples(st.sampled_from(STEPS), names, st.sampled_from([0.1, 7.0])), max_size=60))
def test_any_history_leaves_the_units_of_a_simple_model(policy: str, capacity: int, history: list) -> None:
    hold_against_model(policy, capacity, history)


@pytest.mark.nightly
@policies
def test_ten_thousand_random_histories_leave_the_units_of_a_simple_model(policy: str) -> None:
    chance = random.Random(0)
    for _ in range(10_000):
        objects = [chance.randrange(15) for _ in range(chance.randrange(60))]
        history = [
            (chance.choice(STEPS), (f"Type{number % 4}", f"object-{number}"), chance.choice([0.1, 7.0]))
            for number in objects
        ]
        hold_against_model(policy, chance.randint(5, 9), history)


def hold_against_model(policy: str, capacity: int, history: list) -> None:
    memory, model, told = ShortTermMemory(capacity, policy), dict[str, Unit](), dict[str, Unit | None]()
    memory.listen(lambda object_id, changed: told.__setitem__(object_id, changed))
    now = 0.0
    for what, (object_type, object_id), later in history:
        now += later
        known = model.get(object_id)
        if what in ("see", "use", "other type", "late"):
            seen = unit("Other" if what == "other type" else object_type, object_id, now - 1e6 * (what == "late"))
            change = memory.observe(seen, used=what == "use")
            assert change.reason
            used_s = now if what == "use" else 0.0 if known is None else known.used
            seen = replace(seen, used=used_s)
            if known is None:
                assert change.happened is UnitEvent.ADDED
                assert (change.evicted is not None) == (len(model) == capacity)
                if change.evicted is not None:
                    assert change.eviction is not None
                    assert change.eviction.reason
                    assert model.pop(change.evicted.object_id) == change.evicted
                model[object_id] = seen
            else:
                late = seen.stamp < known.stamp
                assert change.happened is (UnitEvent.REFUSED if late else UnitEvent.MERGED)
                assert change.evicted is None
                model[object_id] = known if late else seen
        elif what == "refresh":
            memory.refresh()
            model.clear()
        elif known is None:
            with pytest.raises(KeyError):
                memory.confirm(object_id) if what == "confirm" else memory.refute(object_id, gone=what == "gone")
        elif what == "confirm":
            assert memory.confirm(object_id).unit == known
        else:
            assert memory.refute(object_id, gone=what == "gone").unit == known
            if what == "gone":
                del model[object_id]
        assert {each.object_id: each for each in memory} == model
        assert len(memory) == len(model) <= capacity
        listed = [each for ids in memory.segments().values() for each in ids]
        assert sorted(listed) == sorted(model)
        assert {object_id for object_id, changed in told.items() if changed is not None} == set(model)


def full(policy: str = "lru") -> ShortTermMemory:
    memory = ShortTermMemory(5, policy)
    for number in range(5):
        memory.observe(unit(f"Type{number}", f"object-{number}", float(number)))
    return memory


def test_what_is_known_and_not_seen_now_is_kept() -> None:
    memory = ShortTermMemory()
    memory.observe(
        unit(state=ObjectState.DIRTY, area="kitchen", image="a.jpg", attributes={"colour": "red", "size": "big"})
    )
    memory.observe(unit(stamp=1.0, position=Position(5, 5, 5), attributes={"colour": "blue"}))
    known = memory["mug-1"]
    assert (known.state, known.area, known.image) == (ObjectState.DIRTY, "kitchen", "a.jpg")
    assert known.attributes == {"colour": "blue", "size": "big"}
    assert known.position == Position(5, 5, 5)


def test_a_unit_tells_when_it_was_used_last_and_what_was_done_with_it() -> None:
    memory = ShortTermMemory()
    memory.observe(unit(stamp=1.0, state=ObjectState.DIRTY))
    memory.observe(unit(stamp=2.0, state=ObjectState.CLEANED))
    assert (memory["mug-1"].used, memory["mug-1"].effects) == (0.0, {})
    memory.observe(unit(stamp=3.0, state=ObjectState.CLEANED, attributes={"place": "in Sink_1"}), used=True)
    memory.observe(unit("Plate", "plate-1", 3.0), used=True)
    memory.observe(unit(stamp=9.0, state=ObjectState.CLEANED))
    assert (memory["mug-1"].stamp, memory["mug-1"].used) == (9.0, 3.0)
    assert memory["plate-1"].used > memory["mug-1"].used, "used at the same time, the plate after the mug"
    assert memory["mug-1"].effects == {"cleaned": 2.0, "in Sink_1": 3.0}
    memory.refute("mug-1")
    memory.observe(unit(stamp=10.0))
    assert (memory["mug-1"].used, memory["mug-1"].effects) == (0.0, {}), "it is not the one that was used"


def test_what_came_late_changes_nothing_and_is_told() -> None:
    memory = ShortTermMemory()
    memory.observe(unit(stamp=10.0, state=ObjectState.CLEANED))
    change = memory.observe(unit(stamp=8.0, state=ObjectState.DIRTY))
    assert change.happened is UnitEvent.REFUSED
    assert "2 s before" in change.reason
    assert memory["mug-1"].state is ObjectState.CLEANED


def test_a_use_counts_where_the_object_was_seen_again_before_that_is_told() -> None:
    memory = ShortTermMemory(5)
    memory.observe(unit(stamp=2.0, area="table"))
    change = memory.observe(unit(stamp=1.5, attributes={"place": "in Box_1"}), used=True)
    assert change.happened is UnitEvent.MERGED
    kept = memory["mug-1"]
    assert (kept.stamp, kept.area, kept.used) == (2.0, "table", 1.5)
    assert kept.effects == {"in Box_1": 1.5}


def test_an_object_that_stays_in_view_is_not_used_more_and_more() -> None:
    memory = full("w-tinylfu")
    for tick in range(200):
        memory.observe(unit("Type0", "object-0", 10 + 0.1 * tick))
    assert memory.frequency("object-0") <= 2
    memory.observe(unit("Type0", "object-0", 40 + ABSENCE_S))
    assert memory.frequency("object-0") == 3


@pytest.mark.parametrize("policy", ["lru", "lfu", "w-tinylfu"])
def test_what_proved_right_stays_longer(policy: str) -> None:
    memory = full(policy)
    for _ in range(3):
        memory.confirm("object-0")
    for number in range(5, 8):
        memory.observe(unit("New", f"object-{number}", float(number)))
    assert "object-0" in memory


@pytest.mark.parametrize("policy", ["fifo", "lru", "lfu"])
def test_what_was_not_meant_leaves_next(policy: str) -> None:
    memory = full(policy)
    assert memory.refute("object-3", gone=False).happened is UnitEvent.DEMOTED
    change = memory.observe(unit("New", "object-9", 9.0))
    assert change.evicted is not None
    assert change.evicted.object_id == "object-3"


def test_what_was_gone_is_forgotten_at_once() -> None:
    memory = full()
    assert memory.refute("object-3").happened is UnitEvent.REMOVED
    assert "object-3" not in memory
    assert memory.observe(unit("New", "object-9", 9.0)).evicted is None


def test_what_was_seen_before_it_was_gone_does_not_bring_it_back() -> None:
    memory = full()
    memory.refute("object-3", stamp=20.0)
    change = memory.observe(unit("Type3", "object-3", 19.9))
    assert (change.happened, change.reason) == (UnitEvent.REFUSED, "it was seen before it was found to be gone")
    assert "object-3" not in memory
    assert memory.observe(unit("Type3", "object-3", 20.1)).happened is UnitEvent.ADDED
    memory.refute("object-3", stamp=20.2)
    memory.refresh()
    assert memory.observe(unit("Type3", "object-3", 1.0)).happened is UnitEvent.ADDED


def test_a_new_id_of_a_type_keeps_what_was_learnt_of_the_type() -> None:
    memory = ShortTermMemory(10, "w-tinylfu")
    memory.observe(unit("Mug", "mug-1"))
    for _ in range(4):
        memory.confirm("mug-1")
    memory.refute("mug-1")
    memory.observe(unit("Mug", "mug-2", 1.0))
    assert memory.frequency("mug-2") == 6


@pytest.mark.parametrize("capacity", [0, 4, 10_001])
def test_a_capacity_out_of_bounds_is_refused(capacity: int) -> None:
    with pytest.raises(ValueError, match="give it 5 to 10,000"):
        ShortTermMemory(capacity)


def test_counting_types_finds_more_than_counting_objects() -> None:
    """Household requests for a type; where none is known the robot finds one, which its tracker has no id of yet."""
    folder = Path(kc_vla.memory.__file__).parent / "evaluation" / "data"
    tasks = read_household(folder / "household.jsonl.gz")

    def hit_rate(seed: int, by_type: bool) -> float:
        memory, requests, hits = ShortTermMemory(10), requests_of(household_stream(tasks, 200, seed)), 0
        for number, asked in enumerate(requests):
            known = next((each.object_id for each in memory if each.attributes["asked"] == asked), None)
            if known is not None:
                memory.confirm(known)
                hits += 1
            else:
                name = asked if by_type else f"{asked}-{number}"
                memory.observe(unit(name, f"object-{number}", float(number), attributes={"asked": asked}))
        return hits / len(requests)

    gains = [hit_rate(seed, True) - hit_rate(seed, False) for seed in range(10)]
    print(f"hit rate by type less by object: {np.mean(gains):.3f}")
    assert np.mean(gains) > 0.03


def test_what_a_whole_observation_lacks_is_so_no_more() -> None:
    memory = ShortTermMemory(5)
    memory.observe(unit(state=ObjectState.FILLED, attributes={"also": "cold"}))
    assert memory.observe(unit(stamp=1.0)).unit.state is ObjectState.FILLED
    seen = memory.observe(unit(stamp=2.0), whole=True).unit
    assert (seen.state, dict(seen.attributes)) == (ObjectState.NONE, {})
    assert memory.observe(unit(stamp=1.0, state=ObjectState.DIRTY), whole=True).happened is UnitEvent.REFUSED


@pytest.mark.nightly
@pytest.mark.parametrize("policy", ["fifo", "lfu", "w-tinylfu-least", "adaptive"])
def test_a_million_observations_cost_no_more_memory_than_a_hundred_thousand(policy: str) -> None:
    memory = ShortTermMemory(100, policy)

    def observe(first: int, last: int) -> int:
        for number in range(first, last):
            name = number * 7919 % (150 if number % 3 else 1_000_003)
            memory.observe(unit(f"Type{name % 300}", f"object-{name}", float(number)))
        gc.collect()
        return sys.getallocatedblocks()

    early = observe(0, 100_000)
    assert observe(100_000, 1_000_000) < early + 2000
