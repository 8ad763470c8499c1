"""Experts: they see the simulator's state and plan the next actions from it, whatever led there."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kc_vla.core.tasks import Task
from kc_vla_sim.errors import BadTaskError
from kc_vla_sim.protocol import Expert


def make_expert(task: Task, world: Any) -> Expert:
    """The expert that the task table names for `task`, which runs in the environment `world`.

    Raises:
        BadTaskError: there is no such class.
    """
    module, _, name = task.expert.partition(":")
    try:
        made: Expert = getattr(import_module(module), name)(world)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadTaskError(f"the expert '{task.expert}' of task '{task.name}' cannot be had: {error}") from error
    return made
