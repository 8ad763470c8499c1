"""A replacement policy of another package: it does what CLOCK does, and the short-term memory can use it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin import install

from kc_vla.memory.replacement.policies import REPLACEMENTS, open_replacement, usable_policies
from kc_vla.memory.replacement.queues import Fifo

PACKAGE = Path(__file__).parents[1]
KEYS = st.lists(st.integers(0, 8), max_size=60)


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PACKAGE))
    install(tmp_path, monkeypatch, REPLACEMENTS.group, {"clock": "kc_vla_plugins.clock:CLOCK"}, "kc_vla_plugins")


def test_it_is_chosen_by_its_name() -> None:
    assert "clock" in usable_policies()
    policy = open_replacement("clock", 2)
    for key in ("mug", "bowl"):
        assert policy.add(key) is None
    policy.use("mug")  # came first, and was used
    evicted = policy.add("plate")
    assert evicted is not None
    assert (evicted.key, list(policy)) == ("bowl", ["mug", "plate"])
    evicted = policy.add("fork")
    assert evicted is not None
    assert evicted.key == "mug"  # a second chance, not a third
    policy.demote("fork")
    assert policy.segments() == {"queue": ("fork", "plate")}


def test_a_broken_package_hides_no_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "broken", monkeypatch, REPLACEMENTS.group, {"broken": "no_such_module:ROW"}, "broken_package")
    assert "broken" not in usable_policies()
    assert "clock" in usable_policies()
    with pytest.raises(ValueError, match="replacement policy 'broken' of package 'broken_package' cannot be loaded"):
        open_replacement("broken", 2)


@pytest.mark.usefixtures("installed")
@given(KEYS, st.integers(1, 5))
def test_without_uses_it_is_first_in_first_out(keys: list[int], capacity: int) -> None:
    from kc_vla_plugins.clock import Clock

    clock, fifo = Clock(capacity), Fifo(capacity)
    for key in keys:
        if key in fifo:
            continue
        ours, theirs = clock.add(key), fifo.add(key)
        assert (ours and ours.key) == (theirs and theirs.key)
        assert list(clock) == list(fifo)
