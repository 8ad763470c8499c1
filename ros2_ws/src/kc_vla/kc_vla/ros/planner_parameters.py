"""The parameters of `planner`, and the settings of what they choose."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kc_vla.memory.embedding.models import OFFLINE
from kc_vla.memory.robot.robot_memory import BOTH, NAMES
from kc_vla.memory.robot.short_term import MAP_FRAME
from kc_vla.memory.served import ServerSettings
from kc_vla.memory.short_term.memory import LEAST_CAPACITY, MOST_CAPACITY
from kc_vla.planning.choosing import PLANNERS, PlannerSettings
from kc_vla.planning.execution.robot_clock import DAY_CLOCK, SKILLS_CLOCK
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.planner_memory import MemorySettings

_MODEL_TOKENS = 2000


@dataclass(frozen=True)
class PlannerParameters(NodeParameters):
    """Parameters of the node."""

    instruction: str = parameter(
        "", "instruction to carry out at start, after which the node ends; empty: wait for the action"
    )
    planner: str = parameter(
        "grammar", "what makes plans: grammar (offline), or model (a language model)", choices=PLANNERS
    )
    model: str = parameter("", "name of the language model, for planner 'model'")
    server: str = parameter("", "address of its OpenAI-compatible API; empty: OpenAI's own")
    server_timeout: float = parameter(60.0, "s for one answer of the server", low=0.1, high=3600.0)
    offline: bool = parameter(True, "let the grammar plan if the model gives no plan; the result says so")
    cache: str = parameter("", "folder for the model's answers, for runs that can be repeated; empty: none")
    memory: str = parameter(BOTH, "memories of the robot", choices=tuple(NAMES))
    memory_nodes: bool = parameter(
        False,
        "true: the memories run in the nodes long_term_memory and short_term_memory, which other clients can query; "
        "false: in this process",
    )
    memory_timeout: float = parameter(
        60.0, "s to wait for an answer of those nodes, also while one restarts", low=1.0, high=3600.0
    )
    memory_clock: str = parameter(
        SKILLS_CLOCK,
        "time of the memories: skills (the sum of the durations of skills), or day (the time of day, which memory "
        "nodes with detections need)",
        choices=(SKILLS_CLOCK, DAY_CLOCK),
    )
    frame: str = parameter(MAP_FRAME, "frame of positions, the same as in the memory nodes")
    store: str = parameter(
        "runs/memory.db", "file of the long-term memory, which outlives this node; used if memory_nodes is false"
    )
    map_id: str = parameter("home", "map that the long-term memory is in")
    capacity: int = parameter(
        100, "units of the short-term memory; used if memory_nodes is false", low=LEAST_CAPACITY, high=MOST_CAPACITY
    )
    embedding: str = parameter(OFFLINE, "embedding of sentences: offline, a folder with an ONNX model, or hub:...")
    types: str = parameter(
        "",
        "types that the detector can report, separated by commas; if a name in an instruction fits one of them, "
        "it means that type; empty: unknown",
    )
    calls: int = parameter(400, "skills that one instruction may take", low=1, high=100_000)
    skill_timeout: float = parameter(120.0, "s of wall time that one skill may take", low=0.1, high=86400.0)
    startup_timeout: float = parameter(60.0, "s to wait for the robot", low=1.0, high=3600.0)

    def planner_settings(self) -> PlannerSettings:
        """Return who plans, with which server and cache; no server where no model is named."""
        server = None
        if self.model:
            server = ServerSettings(self.model, self.server, self.server_timeout, most_tokens=_MODEL_TOKENS)
        return PlannerSettings(self.planner, server, self.offline, _path(self.cache) if self.cache else None)

    def memory_settings(self) -> MemorySettings:
        """Return what the planner remembers with; no store where the memory nodes have it."""
        store = None if self.memory_nodes else _path(self.store)
        types = tuple(filter(None, map(str.strip, self.types.split(","))))
        return MemorySettings(self.memory, self.map_id, store, self.capacity, self.memory_timeout, self.frame, types)

    def lasting_clock(self) -> Callable[[], float] | None:
        """Return the clock that stamps what else fills the memories; None where nothing else does."""
        return time.time if self.memory_clock == DAY_CLOCK else None


def _path(name: str) -> Path:
    return Path(name).expanduser()
