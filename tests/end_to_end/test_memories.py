"""The memories beside an episode, as `memory:=both` starts them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from stack import Stack

from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store


@pytest.mark.nightly
def test_what_an_episode_shows_is_in_the_store_of_a_memory_that_was_killed_in_it(
    launch: Callable[..., Stack], tmp_path: Path
) -> None:
    store = tmp_path / "kept" / "memory.db"
    stack = launch(seed=3, memory="both", memory_store=store, map_id="table", mode="realtime")
    stack.wait_for("map 'table' has 0 areas and 0 objects")
    stack.wait_for("keyframe 1 'flash 1 on' committed")
    stack.kill("long_term_memory")
    stack.wait_for("map 'table' has 0 areas and 2 objects")
    assert stack.finish() == 0
    assert "warning: short_term_memory" not in stack.text
    with Store(store, read_only=True) as opened:
        known = LongTermMemory(opened).objects("table")
    assert {each.object_type for each in known} == {"cube", "lamp"}
    assert {each.source_id for each in known} == {"cube", "lamp"}
