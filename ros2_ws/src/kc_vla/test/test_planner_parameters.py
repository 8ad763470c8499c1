"""What the parameters of the planner and the short-term memory choose: who plans, and what remembers."""

from __future__ import annotations

from pathlib import Path

from kc_vla.ros.planner_parameters import PlannerParameters
from kc_vla.ros.short_term_parameters import ShortTermParameters


def test_a_server_is_asked_only_where_a_model_is_named() -> None:
    assert PlannerParameters(server="http://localhost:1/v1").planner_settings().server is None
    named = PlannerParameters(model="m", server="http://localhost:1/v1", server_timeout=7.0, cache="~/answers")
    settings = named.planner_settings()
    assert settings.server is not None
    assert (settings.server.model, settings.server.base_url) == ("m", "http://localhost:1/v1")
    assert settings.server.timeout_s == 7.0
    assert settings.cache == Path.home() / "answers"


def test_the_store_is_the_nodes_where_they_remember() -> None:
    parameters = PlannerParameters(store="~/memory.db", capacity=7, map_id="attic", memory_timeout=3.0)
    settings = parameters.memory_settings()
    assert (settings.store, settings.capacity, settings.map_id) == (Path.home() / "memory.db", 7, "attic")
    assert settings.patience_s == 3.0
    assert PlannerParameters(memory_nodes=True).memory_settings().store is None


def test_the_types_of_a_detector_are_a_list_with_commas() -> None:
    assert PlannerParameters().memory_settings().types == ()
    assert PlannerParameters(types="orange, salt_shaker,").memory_settings().types == ("orange", "salt_shaker")


def test_a_short_term_memory_is_opened_as_its_parameters_say() -> None:
    live = ShortTermParameters(capacity=7, policy="lfu").opened()
    assert (live.memory.capacity, live.memory.policy, len(live.memory)) == (7, "lfu", 0)
    assert live.sight.reader is None
