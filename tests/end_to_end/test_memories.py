"""The memories beside an episode, as `memory:=both` starts them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from finished_run import FinishedRun
from stack import REPLAY, Stack

from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store


@pytest.mark.nightly
def test_what_an_episode_shows_is_in_the_store_of_a_memory_that_was_killed_in_it(
    launch: Callable[..., Stack], tmp_path: Path
) -> None:
    store = tmp_path / "kept" / "memory.db"
    stack = launch(seed=3, memory="both", memory_store=store, map_id="table", mode="realtime")
    stack.wait_for("map 'table' has 0 areas and 0 objects")
    stack.wait_for("keyframe 1 'flash 1 on' confirmed")
    stack.kill("long_term_memory")
    stack.wait_for("map 'table' has 0 areas and 2 objects")
    assert stack.finish() == 0
    assert "warning: short_term_memory" not in stack.text
    with Store(store, read_only=True) as opened:
        known = LongTermMemory(opened).objects("table")
    assert {each.object_type for each in known} == {"cube", "lamp"}
    assert {each.source_id for each in known} == {"cube", "lamp"}


@pytest.mark.nightly  # its links: test_replay_plan.py, test_nodes_memory.py
def test_a_bag_is_replayed_to_the_memories(toy_run: FinishedRun, tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    asked = {"bag": toy_run.bag, "selector": "oracle", "memory": "both", "memory_store": store, "map_id": "again"}
    with Stack(tmp_path, asked, launch_file=REPLAY) as stack:
        assert stack.finish() == 0, stack.text
    assert "warning: short_term_memory" not in stack.text
    assert "warning: long_term_memory" not in stack.text
    with Store(store, read_only=True) as opened:
        assert {each.source_id for each in LongTermMemory(opened).objects("again")} == {"cube", "lamp"}
