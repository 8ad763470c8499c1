"""The names of an expert's phases, and what `kc-vla collect` does in each; docs/your_own_task.md has the table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Phase:
    """What may be done to an expert in a phase.

    Attributes:
        meaning: what the hand does.
        bent: its way may be bent, and be faster than the expert's.
        paused: it may pause.
        pushed: the arm may be pushed off its way, with `--plans`: no cube is being gripped, released or pushed. A
            policy that never saw the arm off the place where it waits learns nothing that would bring it back, and
            drifts away.
        unchanged: nothing but that: the tempo is the task's.
    """

    meaning: str
    bent: bool = False
    paused: bool = False
    pushed: bool = False
    unchanged: bool = False


PHASES = {
    "wait": Phase("stays in its place until something happens", pushed=True, unchanged=True),
    "start": Phase("makes the motion with which the task begins", unchanged=True),
    "stop": Phase("makes the motion with which the task ends", unchanged=True),
    "approach": Phase("goes to a thing, high above the table", bent=True, paused=True, pushed=True),
    "go": Phase("goes to a place, high above the table", bent=True, paused=True, pushed=True),
    "carry": Phase("carries a thing, high above the table", bent=True, paused=True, pushed=True),
    "descend": Phase("goes down to a thing, or touches it", paused=True, pushed=True),
    "push": Phase("pushes a thing (`kc-vla collect` lets the hand slide off it at times)", paused=True),
    "close": Phase("closes the fingers (`kc-vla collect` begins this late at times)"),
    "lift": Phase("lifts a thing (right after `close`, `kc-vla collect` lets it slip out at times)"),
    "lower": Phase("lowers a thing"),
    "let go": Phase("opens the fingers"),
    "rise": Phase("rises empty"),
}
"""Known phases by name, in the order of the documentation."""
WAYS = tuple(name for name, phase in PHASES.items() if phase.bent)
INTERRUPTIBLE = tuple(name for name, phase in PHASES.items() if phase.paused)
PUSHED = tuple(name for name, phase in PHASES.items() if phase.pushed)
UNCHANGED = tuple(name for name, phase in PHASES.items() if phase.unchanged)


def unknown_phases(met: Iterable[str]) -> str:
    """Return a remark on the phases among `met` that have no meaning here, in words; empty if there are none."""
    names = sorted(set(met) - set(PHASES))
    if not names:
        return ""
    told = ", ".join(f"'{name}'" for name in names)
    return (
        f"unknown phases {told} of its expert: there the arm neither pauses nor is pushed off its way; "
        f"known are {', '.join(PHASES)}"
    )
