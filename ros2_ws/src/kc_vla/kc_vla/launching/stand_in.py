"""What stands in for a Piper that is not there: an emulated arm, alone or with a body in a simulator."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from launch import LaunchContext
from launch_ros.actions import Node

from kc_vla.launching.arguments import Argument, chosen
from kc_vla.launching.endings import end_with
from kc_vla.launching.graph import node, texts
from kc_vla.launching.kinds import Checked, Number

EMULATED, SIMULATED = "emulated", "simulated"
STAND_INS = (EMULATED, SIMULATED)
"""The values of `arm:=` that are no driver."""
START_S = 300.0
"""How long the controller waits for the bus of a stand-in, s; where that cannot start the launch ends anyway."""
_LARGEST_SEED = 2**32 - 1


def stand_in_arguments() -> tuple[Argument, ...]:
    """Return the arguments `fault:=` and `seed:=`."""
    return (
        Argument(
            "fault",
            Checked(check_fault),
            default_value="none",
            description="injected fault of the emulated or simulated arm, e.g. 'loss 0.2'",
        ),
        Argument(
            "seed",
            Number(0, _LARGEST_SEED, whole=True),
            default_value="0",
            description="seed of the episode with arm:=simulated",
        ),
    )


def check_fault(text: str) -> None:
    """See that an emulated arm knows the fault; without python-can, which a launch need not have, the emulator does."""
    if text == "none":
        return
    try:
        from kc_vla.arm.emulator.faults import read_fault
    except ImportError:
        return
    read_fault(text)


def check_stand_in(context: LaunchContext, kind: str) -> None:
    """Check that a stand-in can be started with the arguments.

    Raises:
        RuntimeError: it cannot.
    """
    if chosen(context, "driver"):
        raise RuntimeError(f"driver: an {kind} arm has no options: leave it out, or name the driver with arm:=")
    if kind != SIMULATED:
        return
    if find_spec("kc_vla_sim") is None:
        raise RuntimeError("arm:=simulated needs the package kc_vla_sim: pip install 'kc_vla[sim]'")
    tasks = import_module("kc_vla_sim.choices").PIPER_TASKS
    if (task := chosen(context, "task")) not in tasks:
        raise RuntimeError(f"task:={task}: with arm:=simulated there are {', '.join(tasks)}")


def stand_in(context: LaunchContext, kind: str, bus: str, park_s: str) -> Node:
    """Return the node of a stand-in.

    Args:
        context: of the launch.
        kind: one of `STAND_INS`.
        bus: path of its bus.
        park_s: s that it may take to end.
    """
    given: dict[str, Any] = {"path": bus, **texts(fault="fault", robot="robot")}
    options: dict[str, Any] = {"sigterm_timeout": park_s, "on_exit": end_with}
    if kind == EMULATED:
        return node("piper_emulator", given, **options)
    seed = int(chosen(context, "seed"))
    return node("piper_simulator", {**given, "seed": seed, **texts(task="task")}, package="kc_vla_sim", **options)
