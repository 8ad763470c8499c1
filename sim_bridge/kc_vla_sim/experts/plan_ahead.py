"""How every expert plans: decide one step, think it done, decide the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kc_vla_sim.actions import TOOL_DELTA_SIZE
from kc_vla_sim.experts.grasping import Step
from kc_vla_sim.experts.tool import Vector

State = TypeVar("State")


def plan_ahead(
    horizon: int, state: State, decide: Callable[[State], Step], after: Callable[[State, Vector], State]
) -> tuple[NDArray[np.float32], str]:
    """Return the next `horizon` tool deltas (horizon, 7) from `state`, and the phase that it is in: see `Expert.plan`.

    Args:
        horizon: steps.
        state: the present one.
        decide: the step to take in a state.
        after: the state one step on, if all goes as it should after the action (7,).

    Raises:
        ValueError: `horizon` is below 1.
    """
    if horizon < 1:
        raise ValueError(f"bad horizon {horizon}: at least 1 action must be asked for")
    actions = np.zeros((horizon, TOOL_DELTA_SIZE), np.float32)
    phases = []
    for row in actions:
        phase, action = decide(state)
        phases.append(phase)
        row[:] = action
        state = after(state, action)
    return actions, phases[0]
