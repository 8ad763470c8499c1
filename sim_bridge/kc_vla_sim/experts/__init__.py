"""Experts, which plan the next actions from the present state of the simulator alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.tasks import Task
from kc_vla_sim.actions import TOOL_DELTA_SIZE
from kc_vla_sim.errors import BadTaskError
from kc_vla_sim.protocol import Expert

_HOW = "see 'The contract of an expert' in docs/your_own_task.md"


def make_expert(task: Task, world: Any) -> Expert:
    """Return the expert that the task table names for `task`, which runs in the environment `world`.

    It is held to `protocol.Expert`: here, and again with each plan.

    Raises:
        BadTaskError: there is no such class, or it lacks something; the line says what.
    """
    told = f"the expert '{task.expert}' of task '{task.name}'"
    module, _, name = task.expert.partition(":")
    try:
        made = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadTaskError(
            f"{told} cannot be loaded ({error}): name it as module:class, and put its folder into PYTHONPATH"
        ) from error
    if not _takes(made, 1):
        raise BadTaskError(f"{told} cannot be made with the environment alone, as {name}(world): {_HOW}")
    try:
        expert = made(world)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadTaskError(
            f"{told} cannot be loaded ({error}): name it as module:class, and put its folder into PYTHONPATH"
        ) from error
    if not _takes(getattr(expert, "plan", None), 1):
        raise BadTaskError(f"{told} has no method plan(horizon): {_HOW}")
    return _Held(expert, told)


def _takes(called: Any, number: int) -> bool:
    """Return whether something can be called with so many arguments in their order; without a signature it can."""
    if not callable(called):
        return False
    try:
        inspect.signature(called).bind(*[None] * number)
    except TypeError:
        return False
    except ValueError:  # it has no signature, as what is built in
        return True
    return True


class _Held:
    """An expert that is held to what `protocol.Expert` says of its plans."""

    def __init__(self, expert: Expert, told: str) -> None:
        self._plan: Callable[[int], Any] = expert.plan
        self._told = told

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        """Return the expert's plan after checking its form.

        Raises:
            BadTaskError: the expert returns something else than a plan.
        """
        given = self._plan(horizon)
        if not isinstance(given, tuple) or len(given) != 2:
            raise BadTaskError(f"{self._told} planned {_shown(given)}, not actions and the name of a phase: {_HOW}")
        try:
            actions, phase = np.asarray(given[0], np.float32), given[1]
        except (TypeError, ValueError):
            raise BadTaskError(f"{self._told} planned {_shown(given[0])}, not actions: {_HOW}") from None
        if actions.shape != (horizon, TOOL_DELTA_SIZE):
            wanted = f"({horizon}, {TOOL_DELTA_SIZE}), a row for each of {horizon} steps"
            raise BadTaskError(f"{self._told} planned actions of shape {actions.shape}, not {wanted}: {_HOW}")
        if not np.isfinite(actions).all():
            raise BadTaskError(f"{self._told} planned an action that is not finite: {_HOW}")
        if not isinstance(phase, str) or not phase:
            raise BadTaskError(f"{self._told} is in the phase {_shown(phase)}, which must be a name: {_HOW}")
        return actions, phase


def _shown(value: object) -> str:
    return f"{type(value).__name__} {value!r:.40}".replace("\n", " ")
