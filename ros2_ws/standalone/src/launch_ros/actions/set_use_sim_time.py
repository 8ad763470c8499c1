"""Sets `use_sim_time` of the nodes that follow in the same scope."""

from __future__ import annotations

from typing import Any

from launch.condition import Condition

from .set_parameter import SetParameter


class SetUseSimTime(SetParameter):
    """Makes nodes take their time from /clock, or not."""

    def __init__(self, value: Any, *, condition: Condition | None = None) -> None:
        super().__init__("use_sim_time", value, condition=condition)
